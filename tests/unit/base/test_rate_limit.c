/* SPDX-License-Identifier: Apache-2.0 */
/* test_rate_limit.c: working time, and the growing times of those who are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rate_limit.h"

static const int64_t begin_ms = 1700000000000;

static struct rate_limit made(void)
{
    struct rate_limit rate_limit;
    rate_limit_init(&rate_limit, RATE_LIMIT_WORK_PER_S, RATE_LIMIT_WORK_MOST);
    return rate_limit;
}

/* Ten seconds of messages that take 7 ms each, whenever one is allowed. */
static void test_a_flood_gets_a_quarter_of_the_time(void **state)
{
    struct rate_limit rate_limit = made();
    int64_t used_us = 0;
    for (int ms = 0; ms < 10000; ms++) {
        while (rate_limit_may_work(&rate_limit, begin_ms + ms)) {
            rate_limit_take_work(&rate_limit, 7000);
            used_us += 7000;
        }
    }
    assert_in_range(used_us, 10 * RATE_LIMIT_WORK_PER_S,
                    10 * RATE_LIMIT_WORK_PER_S + RATE_LIMIT_WORK_MOST + 7000);
    assert_int_equal(rate_limit.work_us, used_us);
}

static void test_it_says_when_it_has_time_again(void **state)
{
    struct rate_limit rate_limit = made();
    assert_true(rate_limit_may_work(&rate_limit, begin_ms));
    rate_limit_take_work(&rate_limit,
                         RATE_LIMIT_WORK_MOST + 100000); /* 0.4 s of debt */
    assert_false(rate_limit_may_work(&rate_limit, begin_ms));
    int64_t ready_ms = rate_limit_ready_ms(&rate_limit);
    assert_int_equal(ready_ms, begin_ms + 401);
    assert_false(rate_limit_may_work(&rate_limit, ready_ms - 2));
    assert_true(rate_limit_may_work(&rate_limit, ready_ms));
}

/* What is paid for the messages of ten seconds, and the time that they took. */
static int64_t flood_with(int64_t message_us)
{
    struct rate_limit rate_limit = made();
    int64_t used_us = 0;
    assert_true(rate_limit_may_work(&rate_limit, begin_ms));
    rate_limit_take_work(&rate_limit, RATE_LIMIT_WORK_MOST);
    for (int ms = 0; ms < 10000; ms++) {
        while (rate_limit_may_work(&rate_limit, begin_ms + ms)) {
            rate_limit_take_message(&rate_limit, message_us, 0);
            used_us += message_us;
        }
    }
    assert_int_equal(rate_limit.work_us, RATE_LIMIT_WORK_MOST + used_us);
    return used_us;
}

/* Short messages get a quarter of the time; the longer one is, the less of it. */
static void test_long_messages_cost_more_than_their_time(void **state)
{
    assert_in_range(flood_with(100), 2490000, 2510000);
    assert_in_range(flood_with(499), 2490000, 2510000);
    assert_in_range(flood_with(1000), 1240000, 1260000); /* twice */
    assert_in_range(flood_with(2500), 495000, 505000);   /* five times */
    assert_in_range(flood_with(5000), 245000, 260000);   /* ten times */
    assert_in_range(flood_with(50000), 240000, 310000);  /* and no more */
}

static void test_further_work_costs_its_time(void **state)
{
    struct rate_limit rate_limit = made();
    assert_true(rate_limit_may_work(&rate_limit, begin_ms));
    rate_limit_take_message(&rate_limit, 100, RATE_LIMIT_WORK_MOST - 200);
    assert_true(rate_limit_may_work(&rate_limit, begin_ms));
    rate_limit_take_message(&rate_limit, 0, 200);
    assert_false(rate_limit_may_work(&rate_limit, begin_ms));
    assert_int_equal(rate_limit.work_us, RATE_LIMIT_WORK_MOST + 100);
}

static void test_idle_time_is_free(void **state)
{
    struct rate_limit rate_limit = made();
    rate_limit_take_idle(&rate_limit, 10 * RATE_LIMIT_WORK_MOST);
    assert_true(rate_limit_may_work(&rate_limit, begin_ms));
    assert_int_equal(rate_limit.work_us, 10 * RATE_LIMIT_WORK_MOST);
}

/* Refuses until it is out; returns for how long. */
static int64_t provoke(struct rate_limit *rate_limit, int64_t now_ms)
{
    for (int i = 0; i <= RATE_LIMIT_REFUSED_MOST; i++) {
        if (rate_limit_refuse(rate_limit, now_ms)) {
            return rate_limit->out_until_ms - now_ms;
        }
    }
    return 0;
}

static void test_some_refusals_do_no_harm(void **state)
{
    struct rate_limit rate_limit = made();
    for (int s = 0; s < 3600; s++) {
        for (int i = 0; i < RATE_LIMIT_REFUSED_PER_S; i++) {
            assert_false(rate_limit_refuse(&rate_limit, begin_ms + s * 1000));
        }
    }
    assert_false(rate_limit_is_out(&rate_limit, begin_ms + 3600000));
}

static void test_times_grow_and_are_reset(void **state)
{
    struct rate_limit rate_limit = made();
    int64_t now_ms = begin_ms, expected_ms = RATE_LIMIT_OUT_MS_MIN;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(provoke(&rate_limit, now_ms), expected_ms);
        assert_true(rate_limit_is_out(&rate_limit, now_ms));
        assert_false(rate_limit_refuse(&rate_limit, now_ms)); /* it is out already */
        assert_true(rate_limit_is_out(&rate_limit, now_ms + expected_ms - 1));
        now_ms += expected_ms;
        assert_false(rate_limit_is_out(&rate_limit, now_ms));
        expected_ms = 2 * expected_ms < RATE_LIMIT_OUT_MS_MAX ? 2 * expected_ms
                                                              : RATE_LIMIT_OUT_MS_MAX;
    }
    assert_int_equal(rate_limit.n_out, 12);
    now_ms += 2 * RATE_LIMIT_REFUSED_MOST / RATE_LIMIT_REFUSED_PER_S * 1000;
    assert_int_equal(provoke(&rate_limit, now_ms), RATE_LIMIT_OUT_MS_MIN);
}

/* The time that it was out does not count as good behaviour. */
static void test_it_goes_on_where_it_was(void **state)
{
    struct rate_limit rate_limit = made();
    int64_t now_ms = begin_ms;
    for (int i = 0; i < 9; i++) {
        now_ms += provoke(&rate_limit, now_ms);
    }
    assert_int_equal(rate_limit.out_ms, 256000); /* long enough to fill the bucket */
    assert_false(rate_limit_is_out(&rate_limit, now_ms));
    assert_true(rate_limit_refuse(&rate_limit, now_ms + 1));
    assert_int_equal(rate_limit.out_ms, RATE_LIMIT_OUT_MS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_flood_gets_a_quarter_of_the_time),
        cmocka_unit_test(test_it_says_when_it_has_time_again),
        cmocka_unit_test(test_long_messages_cost_more_than_their_time),
        cmocka_unit_test(test_further_work_costs_its_time),
        cmocka_unit_test(test_idle_time_is_free),
        cmocka_unit_test(test_some_refusals_do_no_harm),
        cmocka_unit_test(test_times_grow_and_are_reset),
        cmocka_unit_test(test_it_goes_on_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
