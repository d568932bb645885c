/* SPDX-License-Identifier: Apache-2.0 */
/* said.h: messages that a fuzzer's bytes spell: every kind, by the codec's own tables,
 * so that they pass it; and what the machine under test said last, so that it can be
 * answered with its own numbers.
 *
 * A number is one byte: small ones are themselves, others are numbers that the machine
 * said (or one above), bounds, or eight bytes that follow. A text is one byte: a word
 * of the target's list. */
#ifndef SUBLET_TESTS_FUZZ_SAID_H
#define SUBLET_TESTS_FUZZ_SAID_H

#include "base/arena.h"
#include "model/msg.h"
#include "tests/fuzz/input.h"

enum { SAID_HEARD = 32 };

struct said {
    const char *const *words;
    int n_words;
    uint64_t heard[SAID_HEARD]; /* numbers of what the machine sent, a ring */
    unsigned n_heard;
};

/* Hears a message of the machine. */
void said_hear(struct said *said, const struct msg *msg);

uint64_t said_number(const struct said *said, struct input *input);
const char *said_word(const struct said *said, struct input *input);

/* The next message; false where no peer could send it. Lives in the arena. */
bool said_make(const struct said *said, struct input *input, struct arena *arena,
               struct msg *msg);

#endif
