/* SPDX-License-Identifier: Apache-2.0 */
/* said.h: makes messages from a fuzzer's bytes: every kind, by the codec's tables, so
 * that they are valid; and records the numbers that the machine under test sent, for
 * use in answers.
 *
 * A number is one byte: small ones are themselves, others are numbers that the machine
 * sent (or one above), bounds, or eight bytes that follow. A text is one byte: a word
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

/* Records the numbers of a message of the machine. */
void said_hear(struct said *said, const struct msg *msg);

uint64_t said_number(const struct said *said, struct input *input);
const char *said_word(const struct said *said, struct input *input);

/* The next message, in the arena; false if no peer could send it. */
bool said_make(const struct said *said, struct input *input, struct arena *arena,
               struct msg *msg);

#endif
