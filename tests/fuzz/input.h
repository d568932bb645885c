/* SPDX-License-Identifier: Apache-2.0 */
/* input.h: a fuzzer's bytes, taken one after the other; spent ones are zeros.
 *
 * Also how a target says that something does not hold. */
#ifndef SUBLET_TESTS_FUZZ_INPUT_H
#define SUBLET_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
    const uint8_t *at;
    size_t left;
};

bool input_is_spent(const struct input *input);
int input_byte(struct input *input);
/* `size` bytes as a number, big endian. */
uint64_t input_number(struct input *input, int size);
/* A length of two bytes, then as much of it as there is. */
const uint8_t *input_piece(struct input *input, size_t *length);

/* What libFuzzer and replay.c call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints the sentence and aborts. */
_Noreturn void input_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
