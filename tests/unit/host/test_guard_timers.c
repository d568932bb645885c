/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_timers.c: which deadline of a run comes first, and which are none while
 * it stands still, or has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "host/guard/guard_timers.h"
#include "host/kernel/kernel_clock.h"

/* A job that runs, with an agent, and nothing to wait for. */
static void begin(struct guard_run *life)
{
    guard_run_init(life, "", -1);
    life->course.stage = STAGE_JOB;
    life->record.phase = RUN_RUNNING;
    life->tell_at = GUARD_RUN_NEVER;
    life->link.n_peers = 1;
}

static void test_earliest(void **state)
{
    static const struct {
        const char *why;
        int64_t stage, save, stop, look, expected;
    } rows[] = {
        {"nothing", GUARD_RUN_NEVER, GUARD_RUN_NEVER, GUARD_RUN_NEVER, GUARD_RUN_NEVER,
         GUARD_RUN_NEVER},
        {"a commands' time", 5, GUARD_RUN_NEVER, 9, 7, 5},
        {"a disk that was full", 5, 4, 9, 7, 4},
        {"who does not stop", 5, 4, 3, 7, 3},
        {"a look at its use", 5, 4, 3, 2, 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard_run life;
        begin(&life);
        life.stage_until = rows[i].stage;
        life.save_at = rows[i].save;
        life.stop_at = rows[i].stop;
        life.limits.look_at = rows[i].look;
        if (guard_timers_next_ms(&life) != rows[i].expected) {
            fail_msg("%s", rows[i].why);
        }
    }
}

/* What it ran before a pause counts, the pause does not; who is being ended has no
 * limit any more. */
static void test_run_limit(void **state)
{
    struct guard_run life;
    begin(&life);
    life.spec.run_limit_ms = 1000;
    life.running_since = 5000;
    assert_int_equal(guard_timers_next_ms(&life), 6000);
    life.ran_ms = 400;
    assert_int_equal(guard_timers_next_ms(&life), 5600);
    life.record.phase = RUN_SUSPENDED;
    assert_int_equal(guard_timers_next_ms(&life), GUARD_RUN_NEVER);
    life.record.phase = RUN_RUNNING;
    life.course.stage = STAGE_PRE_EXEC;
    assert_int_equal(guard_timers_next_ms(&life), GUARD_RUN_NEVER);
    life.course.stage = STAGE_JOB;
    escalation_postpone(&life.ladder, 9000);
    assert_int_equal(guard_timers_next_ms(&life), 9000);
}

static void test_standing_still(void **state)
{
    struct guard_run life;
    begin(&life);
    life.limits.look_at = 10;
    life.stage_until = 20;
    life.tell_at = 30;
    life.stop_at = 40;
    life.record.phase = RUN_SUSPENDED;
    assert_int_equal(guard_timers_next_ms(&life), GUARD_RUN_NEVER);
    life.save_at = 50;
    assert_int_equal(guard_timers_next_ms(&life), 50);
    life.course.stage = STAGE_POST_EXEC; /* what cleans up has its time all the same */
    assert_int_equal(guard_timers_next_ms(&life), 10);
}

static void test_ended(void **state)
{
    struct guard_run life;
    begin(&life);
    life.stage_until = life.stop_at = life.listen_at = life.limits.look_at = 10;
    life.record.phase = RUN_ENDED;
    assert_int_equal(guard_timers_next_ms(&life), GUARD_RUN_NEVER);
    life.save_at = 60;
    assert_int_equal(guard_timers_next_ms(&life), 60);
}

static void test_for_poll(void **state)
{
    struct guard_run life;
    begin(&life);
    assert_int_equal(guard_timers_timeout_ms(&life), -1);
    life.save_at = 1; /* long ago */
    assert_int_equal(guard_timers_timeout_ms(&life), 0);
    life.save_at = kernel_clock_now_ms() + 3600000;
    assert_in_range(guard_timers_timeout_ms(&life), 3000000, 3600000);
    life.save_at = GUARD_RUN_NEVER - 1;
    assert_in_range(guard_timers_timeout_ms(&life), 3600000, INT32_MAX);
}

/* What a turn does is done once: its deadline is gone, or later. */
static void test_turn(void **state)
{
    struct guard_run life;
    begin(&life);
    life.tell_at = 1;
    guard_timers_step(&life);
    assert_true(life.tell_at > kernel_clock_now_ms());
    assert_false(life.is_over);
    life.record.phase = RUN_WAITING; /* and its agent goes */
    life.link.n_peers = 0;
    life.listen_at = GUARD_RUN_NEVER - 1;
    life.spec.wait_ms = 3600000;
    guard_timers_step(&life);
    assert_false(life.is_over);
    assert_true(life.wait_until > kernel_clock_now_ms());
    life.link.n_peers = 1; /* and comes back */
    guard_timers_step(&life);
    assert_int_equal(life.wait_until, GUARD_RUN_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earliest),       cmocka_unit_test(test_run_limit),
        cmocka_unit_test(test_standing_still), cmocka_unit_test(test_ended),
        cmocka_unit_test(test_for_poll),       cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
