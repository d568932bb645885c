/* SPDX-License-Identifier: Apache-2.0 */
/* test_resend.c: a message is sent again until it is answered, after waits that double
 * up to an upper bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/resend.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 5000};

static void test_waits_double_up_to_a_bound(void **state)
{
    static const int64_t expected_ms[] = {1000, 2000, 4000, 5000, 5000, 5000};
    struct resend resend;
    int64_t now_ms = 70;
    (void)state;
    resend_begin(&resend, now_ms);
    for (size_t i = 0; i < sizeof(expected_ms) / sizeof(expected_ms[0]); i++) {
        assert_int_equal(resend_wake_ms(&resend), now_ms);
        resend_sent(&resend, waits, now_ms);
        assert_int_equal(resend_wake_ms(&resend), now_ms + expected_ms[i]);
        now_ms += expected_ms[i];
    }
}

static void test_waits_stay_where_the_bound_is_the_first(void **state)
{
    static const struct resend_waits same = {.first_ms = 500, .last_ms = 500};
    (void)state;
    assert_int_equal(resend_wait_ms(same, 1), 500);
    assert_int_equal(resend_wait_ms(same, 9), 500);
    assert_int_equal(resend_wait_ms(waits, INT32_MAX), 5000);
}

static void test_an_answer_ends_it(void **state)
{
    struct resend resend = {.next_ms = 3};
    (void)state;
    assert_int_equal(resend_wake_ms(&resend), INT64_MAX); /* nothing was begun */
    resend_begin(&resend, 10);
    resend_end(&resend);
    assert_int_equal(resend_wake_ms(&resend), INT64_MAX);
    resend_begin(&resend, 20); /* another message: the waits begin again */
    resend_sent(&resend, waits, 20);
    assert_int_equal(resend_wake_ms(&resend), 1020);
}

static void test_the_next_send_is_moved_alone(void **state)
{
    struct resend resend;
    (void)state;
    resend_begin(&resend, 0);
    resend_sent(&resend, waits, 0);
    resend_set_next(&resend, 400); /* the receiver is back */
    assert_int_equal(resend_wake_ms(&resend), 400);
    resend_sent(&resend, waits, 400);
    assert_int_equal(resend_wake_ms(&resend), 2400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_double_up_to_a_bound),
        cmocka_unit_test(test_waits_stay_where_the_bound_is_the_first),
        cmocka_unit_test(test_an_answer_ends_it),
        cmocka_unit_test(test_the_next_send_is_moved_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
