/* SPDX-License-Identifier: Apache-2.0 */
/* test_pace.c: so many begin within PACE_MS, and no more; the next ones after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/pace.h"

enum { START_MS = 1000000 };

static int take_all(struct pace *pace, int64_t now_ms)
{
    int count = 0;
    while (pace_take(pace, now_ms)) {
        count++;
    }
    return count;
}

static void as_many_begin_within_one_time(void **state)
{
    (void)state;
    struct pace pace = {0};
    assert_int_equal(take_all(&pace, START_MS), PACE_LEASES);
    assert_int_equal(take_all(&pace, START_MS + PACE_MS - 1), 0);
    assert_int_equal(pace_next_ms(&pace), START_MS + PACE_MS);
    assert_int_equal(take_all(&pace, pace_next_ms(&pace)), PACE_LEASES);
}

static void a_quiet_time_gives_no_more_than_one(void **state)
{
    (void)state;
    struct pace pace = {0};
    assert_true(pace_take(&pace, START_MS));
    assert_int_equal(take_all(&pace, START_MS + 3600000), PACE_LEASES);
}

static void who_comes_late_in_it_waits_for_its_end(void **state)
{
    (void)state;
    struct pace pace = {0};
    assert_true(pace_take(&pace, START_MS));
    assert_int_equal(take_all(&pace, START_MS + PACE_MS / 2), PACE_LEASES - 1);
    assert_int_equal(pace_next_ms(&pace), START_MS + PACE_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_begin_within_one_time),
        cmocka_unit_test(a_quiet_time_gives_no_more_than_one),
        cmocka_unit_test(who_comes_late_in_it_waits_for_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
