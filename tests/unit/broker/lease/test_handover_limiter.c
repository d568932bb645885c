/* SPDX-License-Identifier: Apache-2.0 */
/* test_handover_limiter.c: so many begin within HANDOVER_LIMITER_MS, and no more; the
 * next ones after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/lease/handover.h"

enum { START_MS = 1000000 };

static int take_all(struct handover_limiter *pace, bool is_promised, int64_t now_ms)
{
    int count = 0;
    while (handover_limiter_take(pace, is_promised, now_ms)) {
        count++;
    }
    return count;
}

static void as_many_begin_within_one_time(void **state)
{
    (void)state;
    struct handover_limiter pace = {0};
    assert_int_equal(take_all(&pace, false, START_MS), HANDOVER_LIMITER_LEASES);
    assert_int_equal(take_all(&pace, false, START_MS + HANDOVER_LIMITER_MS - 1), 0);
    assert_int_equal(handover_limiter_promise(&pace), START_MS + HANDOVER_LIMITER_MS);
    assert_int_equal(take_all(&pace, true, START_MS + HANDOVER_LIMITER_MS),
                     HANDOVER_LIMITER_LEASES);
}

static void a_quiet_time_gives_no_more_than_one(void **state)
{
    (void)state;
    struct handover_limiter pace = {0};
    assert_true(handover_limiter_take(&pace, false, START_MS));
    assert_int_equal(take_all(&pace, false, START_MS + 3600000),
                     HANDOVER_LIMITER_LEASES);
    assert_int_equal(take_all(&pace, false, START_MS),
                     HANDOVER_LIMITER_LEASES); /* set back */
}

static void who_comes_late_in_it_waits_for_its_end(void **state)
{
    (void)state;
    struct handover_limiter pace = {0};
    assert_true(handover_limiter_take(&pace, false, START_MS));
    assert_int_equal(take_all(&pace, false, START_MS + HANDOVER_LIMITER_MS / 2),
                     HANDOVER_LIMITER_LEASES - 1);
    assert_int_equal(handover_limiter_promise(&pace), START_MS + HANDOVER_LIMITER_MS);
}

/* Each lease has an instant of its own, and no later one takes it. */
static void those_who_wait_have_their_instants(void **state)
{
    (void)state;
    struct handover_limiter pace = {0};
    assert_int_equal(take_all(&pace, false, START_MS), HANDOVER_LIMITER_LEASES);
    for (int i = 0; i < 3 * HANDOVER_LIMITER_LEASES; i++) {
        assert_int_equal(handover_limiter_promise(&pace),
                         START_MS +
                             HANDOVER_LIMITER_MS * (1 + i / HANDOVER_LIMITER_LEASES));
    }
    for (int i = 1; i <= 3; i++) {
        int64_t now_ms = START_MS + i * HANDOVER_LIMITER_MS;
        assert_false(handover_limiter_take(&pace, false, now_ms));
        assert_int_equal(take_all(&pace, true, now_ms), HANDOVER_LIMITER_LEASES);
    }
    assert_int_equal(handover_limiter_promise(&pace),
                     START_MS + 4 * HANDOVER_LIMITER_MS);
    assert_true(handover_limiter_take(&pace, true, START_MS + 4 * HANDOVER_LIMITER_MS));
    assert_true(
        handover_limiter_take(&pace, false, START_MS + 5 * HANDOVER_LIMITER_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_begin_within_one_time),
        cmocka_unit_test(a_quiet_time_gives_no_more_than_one),
        cmocka_unit_test(who_comes_late_in_it_waits_for_its_end),
        cmocka_unit_test(those_who_wait_have_their_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
