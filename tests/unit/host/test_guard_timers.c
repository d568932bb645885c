/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard_timers.c: which deadline of a run comes first, and which are none while
 * it is suspended, or has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host/guard/guard_run.h"
#include "host/kernel/kernel.h"

/* A job that runs, with an agent, and nothing to wait for. */
static void begin(struct guard_run *run)
{
    guard_run_init(run, "", -1);
    run->exec.stages.stage = STAGE_JOB;
    run->exec.phase = RUN_RUNNING;
    run->report_use_at = GUARD_RUN_NEVER;
    run->link.n_peers = 1;
}

static void test_earliest(void **state)
{
    static const struct {
        const char *why;
        int64_t stage, save, check, expected;
    } rows[] = {
        {"nothing", GUARD_RUN_NEVER, GUARD_RUN_NEVER, GUARD_RUN_NEVER, GUARD_RUN_NEVER},
        {"a deadline of the run", 5, GUARD_RUN_NEVER, 7, 5},
        {"a disk that was full", 5, 4, 7, 4},
        {"a check of its limits", 5, 4, 2, 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard_run run;
        begin(&run);
        run.exec.stage_until_ms = rows[i].stage;
        run.exec.save_ms = rows[i].save;
        run.rlimits.check_at = rows[i].check;
        if (guard_timers_next_ms(&run) != rows[i].expected) {
            fail_msg("%s", rows[i].why);
        }
    }
}

static void test_suspended(void **state)
{
    struct guard_run run;
    begin(&run);
    run.rlimits.check_at = 10;
    run.exec.stage_until_ms = 20;
    run.report_use_at = 30;
    run.exec.phase = RUN_SUSPENDED;
    assert_int_equal(guard_timers_next_ms(&run), GUARD_RUN_NEVER);
    run.exec.save_ms = 50;
    assert_int_equal(guard_timers_next_ms(&run), 50);
    run.exec.stages.stage =
        STAGE_POST_EXEC; /* what cleans up has its time all the same */
    assert_int_equal(guard_timers_next_ms(&run), 10);
}

static void test_ended(void **state)
{
    struct guard_run run;
    begin(&run);
    run.exec.stage_until_ms = run.listen_at = run.rlimits.check_at = 10;
    run.exec.phase = RUN_ENDED;
    assert_int_equal(guard_timers_next_ms(&run), GUARD_RUN_NEVER);
    run.exec.save_ms = 60;
    assert_int_equal(guard_timers_next_ms(&run), 60);
}

static void test_for_poll(void **state)
{
    struct guard_run run;
    begin(&run);
    assert_int_equal(guard_timers_timeout_ms(&run), -1);
    run.exec.save_ms = 1; /* long ago */
    assert_int_equal(guard_timers_timeout_ms(&run), 0);
    run.exec.save_ms = kernel_clock_now_ms() + 3600000;
    assert_in_range(guard_timers_timeout_ms(&run), 3000000, 3600000);
    run.exec.save_ms = GUARD_RUN_NEVER - 1;
    assert_in_range(guard_timers_timeout_ms(&run), 3600000, INT32_MAX);
}

/* What a turn does is done once: its deadline is gone, or later. */
static void test_turn(void **state)
{
    struct guard_run run;
    begin(&run);
    run.report_use_at = 1;
    guard_timers_step(&run);
    assert_true(run.report_use_at > kernel_clock_now_ms());
    assert_false(exec_run_is_over(&run.exec));
    run.exec.phase = RUN_WAITING; /* and its agent goes */
    run.link.n_peers = 0;
    run.listen_at = GUARD_RUN_NEVER - 1;
    run.spec.wait_ms = 3600000;
    guard_timers_step(&run);
    assert_false(exec_run_is_over(&run.exec));
    assert_true(run.exec.give_up_ms > kernel_clock_now_ms());
    run.link.n_peers = 1; /* and comes back */
    guard_timers_step(&run);
    assert_int_equal(run.exec.give_up_ms, GUARD_RUN_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earliest), cmocka_unit_test(test_suspended),
        cmocka_unit_test(test_ended),    cmocka_unit_test(test_for_poll),
        cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
