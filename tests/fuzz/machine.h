/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h: a step machine that a fuzzer drives: its bytes become messages of every
 * peer, time, crashes before and after a commit, and restarts from the rows.
 *
 * For any input must hold: the guarantees of sim/invariant/invariant.h; every message
 * sent can be encoded; a restart restores the state; the ticks at one instant end. */
#ifndef SUBLET_TESTS_FUZZ_MACHINE_H
#define SUBLET_TESTS_FUZZ_MACHINE_H

#include "model/effect.h"
#include "proto/codec_relay.h"
#include "sim/invariant/invariant.h"
#include "tests/fuzz/said.h"

struct machine_role {
    void *(*create)(void);
    void (*destroy)(void *self);
    void (*load)(void *self, const struct row *row);
    void (*start)(void *self, int64_t now_ms, struct effects *effects);
    void (*step)(void *self, const struct event *event, struct effects *effects);
    int64_t (*wake_ms)(const void *self);
    /* The state that sim/invariant/invariant.h checks. */
    void (*view)(void *self, struct invariants_view *view);
    /* The state that a restart must restore, as text. */
    const char *(*describe)(void *self, struct arena *arena);
    codec_relay_fn relays; /* NULL: all bodies are opened */
    /* An honest peer's answer to `heard`; false if there is none. */
    bool (*answer)(const struct msg *heard, const struct peer *to, struct arena *arena,
                   struct peer *from, struct msg *answer);
    const struct peer *peers;
    int n_peers;
    const char *const *words;
    int n_words;
};

int machine_run(const struct machine_role *role, const uint8_t *data, size_t size);

#endif
