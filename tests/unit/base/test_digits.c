/* SPDX-License-Identifier: Apache-2.0 */
/* test_digits.c: integers as printf writes them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/digits.h"

static void expect_as_printf(int64_t number)
{
    char expected[32], text[DIGITS_SIZE];
    snprintf(expected, sizeof(expected), "%" PRId64, number);
    assert_int_equal(digits_write(text, number), strlen(expected));
    assert_string_equal(text, expected);
}

static void numbers_are_as_printf_writes_them(void **state)
{
    (void)state;
    expect_as_printf(0);
    expect_as_printf(INT64_MAX);
    expect_as_printf(INT64_MIN);
    for (int64_t power = 1; power < INT64_MAX / 10; power *= 10) {
        for (int64_t offset = -1; offset <= 1; offset++) {
            expect_as_printf(power + offset);
            expect_as_printf(-power + offset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_printf_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
