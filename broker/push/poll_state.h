/* SPDX-License-Identifier: Apache-2.0 */
/* poll_state.h: asks a provider for the STATE of a lease, until it answers.
 *
 * After a start, and after each session or silence of its provider, what the broker
 * knows of a lease may be old: nothing is judged until the provider has stated it.
 *
 * Units: milliseconds. Layer: broker (base only). */
#ifndef SUBLET_BROKER_PUSH_POLL_STATE_H
#define SUBLET_BROKER_PUSH_POLL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

struct asking {
    bool is_open; /* the answer is still to come */
    int64_t next_ms, wait_ms;
};

void poll_state_begin(struct lease *lease, int64_t now_ms);
void poll_state_end(struct lease *lease);

void poll_state_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t poll_state_wake_ms(const struct lease *lease);

#endif
