/* SPDX-License-Identifier: Apache-2.0 */
/* test_quota.c: slot hours of a calendar month against a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/quota.h"

#define HOUR QUOTA_HOUR_MS
#define DAY (24 * HOUR)
/* 1 February 2024, which has 29 days, and 1 January 2025. */
static const int64_t february = 19754 * DAY, next_year = 20089 * DAY;

static void test_months(void **state)
{
    (void)state;
    assert_int_equal(quota_month_ms(0), 0);
    assert_int_equal(quota_month_ms(february), february);
    assert_int_equal(quota_month_ms(february - 1), february - 31 * DAY);
    assert_int_equal(quota_month_ms(february + 29 * DAY - 1), february);
    assert_int_equal(quota_month_ms(february + 29 * DAY), february + 29 * DAY);
    assert_int_equal(quota_month_ms(next_year - 1), next_year - 31 * DAY);
    assert_int_equal(quota_month_ms(next_year), next_year);
}

static void test_levels(void **state)
{
    struct quota quota = {.n_hours = 10, .booked_ms = february};
    (void)state;
    quota_use(&quota, 4, february);
    assert_int_equal(quota_level(&quota), QUOTA_FREE);
    assert_int_equal(quota_wake_ms(&quota), february + 2 * HOUR);
    quota_use(&quota, 4, february + 2 * HOUR - 1);
    assert_int_equal(quota_level(&quota), QUOTA_FREE);
    quota_use(&quota, 4, february + 2 * HOUR);
    assert_int_equal(quota_level(&quota), QUOTA_LOW);
    assert_int_equal(quota_wake_ms(&quota), february + 5 * HOUR / 2);
    quota_use(&quota, 0, february + 5 * HOUR / 2 - 1);
    assert_int_equal(quota_level(&quota), QUOTA_LOW);
    assert_int_equal(quota_wake_ms(&quota), february + 29 * DAY);
    quota_use(&quota, 3, february + DAY);
    assert_int_equal(quota_wake_ms(&quota), february + DAY + 2); /* 4 of 3 a time */
    quota_use(&quota, 3, february + DAY + 2);
    assert_int_equal(quota_level(&quota), QUOTA_SPENT);
    quota.n_hours = 0;
    assert_int_equal(quota_level(&quota), QUOTA_FREE);
    assert_int_equal(quota_wake_ms(&quota), INT64_MAX);
}

/* Of a time that spans the beginning of a month, only what is in it counts. */
static void test_a_month_begins(void **state)
{
    struct quota quota = {.n_hours = 10, .booked_ms = february - 2 * HOUR};
    char text[QUOTA_TEXT_SIZE];
    (void)state;
    quota_use(&quota, 5, february - 2 * HOUR);
    quota_use(&quota, 5, february - 1);
    assert_int_equal(quota_level(&quota), QUOTA_LOW);
    quota_format(&quota, text);
    assert_string_equal(text, "9.9 of 10 slot hours of 2024-01 (HOURS)");
    assert_int_equal(quota_wake_ms(&quota), february);
    quota_use(&quota, 5, february + HOUR);
    assert_int_equal(quota.used_ms, 5 * HOUR);
    quota_use(&quota, 1, next_year + 7);
    assert_int_equal(quota.used_ms, 5 * 7);
    assert_int_equal(quota.month_ms, next_year);
}

static void test_clocks(void **state)
{
    struct quota quota = {.n_hours = 100, .booked_ms = february + DAY};
    (void)state;
    quota_use(&quota, 2, february + DAY);
    quota_use(&quota, 3, february + DAY - HOUR); /* counts nothing twice */
    assert_int_equal(quota.used_ms, 0);
    quota_use(&quota, 3, february + DAY + 10);
    assert_int_equal(quota.used_ms, 30);
    quota_use(&quota, 3, february + 10); /* it was wrong before */
    assert_int_equal(quota.used_ms, 30);
    quota_use(&quota, 3, february + 20);
    assert_int_equal(quota.used_ms, 60);
}

/* Of simulated worlds. */
static void test_shorter_hours(void **state)
{
    struct quota quota = {.n_hours = 10, .hour_ms = 60000, .used_ms = 479999};
    char text[QUOTA_TEXT_SIZE];
    assert_int_equal(quota_level(&quota), QUOTA_FREE);
    quota.used_ms = 480000;
    assert_int_equal(quota_level(&quota), QUOTA_LOW);
    quota_format(&quota, text);
    assert_string_equal(text, "8.0 of 10 slot hours of 1970-01 (HOURS)");
    quota.used_ms = 600000;
    assert_int_equal(quota_level(&quota), QUOTA_SPENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_months),         cmocka_unit_test(test_levels),
        cmocka_unit_test(test_a_month_begins), cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_shorter_hours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
