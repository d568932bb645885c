/* SPDX-License-Identifier: Apache-2.0 */
/* input.h: reads a fuzzer's bytes one after the other; behind the end they are zeros.
 *
 * Also the way in which a target reports a failure. */
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
/* A length of two bytes, then at most that many bytes. */
const uint8_t *input_piece(struct input *input, size_t *length);

/* What libFuzzer and replay.c call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints the sentence and aborts. */
_Noreturn void input_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
