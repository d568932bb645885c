/* SPDX-License-Identifier: Apache-2.0 */
/* digits.c: see digits.h. */
#include "base/digits.h"

#include <string.h>

size_t digits_write(char text[static DIGITS_SIZE], int64_t number)
{
    char digits[DIGITS_SIZE];
    char *end = digits + sizeof(digits) - 1, *at = end;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *end = '\0';
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (number < 0) {
        *--at = '-';
    }
    memcpy(text, at, (size_t)(end - at) + 1);
    return (size_t)(end - at);
}
