/* SPDX-License-Identifier: Apache-2.0 */
/* input.c: see input.h. */
#include "tests/fuzz/input.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool input_is_spent(const struct input *input)
{
    return input->left == 0;
}

int input_byte(struct input *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->at++;
}

uint64_t input_number(struct input *input, int size)
{
    uint64_t number = 0;
    for (int i = 0; i < size; i++) {
        number = number << 8 | (uint64_t)input_byte(input);
    }
    return number;
}

const uint8_t *input_piece(struct input *input, size_t *length)
{
    size_t wanted = (size_t)input_number(input, 2);
    *length = wanted < input->left ? wanted : input->left;
    const uint8_t *piece = input->at;
    input->at += *length;
    input->left -= *length;
    return piece;
}

void input_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("does not hold: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
