/* SPDX-License-Identifier: Apache-2.0 */
/* test_token_bucket.c: rate, debt, and clocks that jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/token_bucket.h"

enum { PER_S = 1000, MOST = 100 };

static const int64_t begin_ms = 1795300000000; /* wall clock */

static void test_what_is_left(void **state)
{
    struct token_bucket bucket;
    (void)state;
    token_bucket_init(&bucket, PER_S, MOST);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms), MOST);
    token_bucket_take(&bucket, 60);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms), 40);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms + 10), 50);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms + 1000000), MOST);
}

static void test_a_debt(void **state)
{
    struct token_bucket bucket;
    (void)state;
    token_bucket_init(&bucket, PER_S, MOST);
    token_bucket_refill(&bucket, begin_ms);
    token_bucket_take(&bucket, 300);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms + 1), -199);
    int64_t wake_ms = token_bucket_ready_ms(&bucket);
    assert_true(token_bucket_refill(&bucket, wake_ms - 1) <= 0);
    assert_true(token_bucket_refill(&bucket, wake_ms) > 0);
}

static void test_a_clock_that_is_set_back(void **state)
{
    struct token_bucket bucket;
    (void)state;
    token_bucket_init(&bucket, PER_S, MOST);
    token_bucket_refill(&bucket, begin_ms);
    token_bucket_take(&bucket, MOST);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms - 3600000), 0);
    assert_int_equal(token_bucket_refill(&bucket, begin_ms - 3600000 + 20), 20);
}

/* The bytes of a minute are within the rate, for short and long intervals. */
static void test_the_rate(void **state)
{
    static const int steps_ms[] = {1, 7, 100};
    (void)state;
    for (size_t i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
        struct token_bucket bucket;
        int64_t passed = 0;
        token_bucket_init(&bucket, PER_S, MOST);
        for (int64_t ms = 0; ms < 60000; ms += steps_ms[i]) {
            while (token_bucket_refill(&bucket, begin_ms + ms) > 0) {
                token_bucket_take(&bucket, 16);
                passed += 16;
            }
        }
        assert_in_range(passed, 58000, 60000 + MOST + 16);
    }
}

/* Ten a second, asked for every millisecond: nothing is lost to rounding. */
static void test_a_slow_rate_is_kept(void **state)
{
    struct token_bucket bucket;
    token_bucket_init(&bucket, 10, 100);
    token_bucket_refill(&bucket, begin_ms);
    token_bucket_take(&bucket, 100);
    for (int ms = 1; ms <= 5000; ms++) {
        token_bucket_refill(&bucket, begin_ms + ms);
    }
    assert_int_equal(token_bucket_refill(&bucket, begin_ms + 5000), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left),
        cmocka_unit_test(test_a_debt),
        cmocka_unit_test(test_a_clock_that_is_set_back),
        cmocka_unit_test(test_the_rate),
        cmocka_unit_test(test_a_slow_rate_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
