/* SPDX-License-Identifier: Apache-2.0 */
/* Time windows of queues and hosts: which jobs are suspended, resumed and started; over
 * restarts, other configurations and a clock that is put forward. 0:01:40 is the first
 * instant of the stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static const char site_text[] = "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                "Begin Host\nHOST_NAME MXJ RUNWINDOW DISPATCH_WINDOW\n"
                                "s1 2 %s %s\nEnd Host\n"
                                "Begin Queue\nQUEUE_NAME = local\n%s\nEnd Queue\n";

static const char *text_of(const char *run, const char *dispatch, const char *keys)
{
    static char text[1024];
    snprintf(text, sizeof(text), site_text, run, dispatch, keys);
    return text;
}

static uint64_t begin(struct site_stage *stage, const char *run, const char *dispatch,
                      const char *keys)
{
    site_stage_init_text(stage, text_of(run, dispatch, keys));
    site_stage_host_up(stage, "s1");
    uint64_t id = site_stage_submit(stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(stage, id);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
    assert_int_equal(site_stage_state(stage, id), JOB_RUN);
    return id;
}

static void pass_until(struct site_stage *stage, int64_t at_ms)
{
    while (stage->now_ms < at_ms) {
        int64_t step_ms = at_ms - stage->now_ms;
        site_stage_pass(stage, step_ms < 10000 ? step_ms : 10000);
        if (stage->now_ms < at_ms) {
            site_stage_host_alive(stage, "s1");
        }
    }
}

/* The host does the latest order. */
static void obey(struct site_stage *stage, uint64_t id, enum control_action action)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    bool is_still = action == CONTROL_SUSPEND;
    assert_int_equal(row->control.action, action);
    struct msg_run_state state = {.phase = is_still ? RUN_SUSPENDED : RUN_RUNNING,
                                  .token = 7,
                                  .start_ms = 100000,
                                  .control_done = row->control.number,
                                  .exit = {.text = ""}};
    site_stage_run_state(stage, "s1", "south", row->attempt, &state);
}

static const int64_t minute_ms = 60000;

static void test_queue(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id = begin(&stage, "-", "-", "RUN_WINDOW = 0:00-0:03 0:05-0:07");
    pass_until(&stage, 3 * minute_ms - 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    pass_until(&stage, 3 * minute_ms);
    obey(&stage, id, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "suspended outside of the run window of its queue or host");
    const struct msg_reply *reply =
        site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_string_equal(
        reply->text,
        "Job <1>: the job was suspended by the system, which also resumes it");

    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    obey(&stage, id, CONTROL_SUSPEND);
    site_stage_host_synced(&stage, "s1");
    pass_until(&stage, 5 * minute_ms - 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    pass_until(&stage, 5 * minute_ms);
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

/* The window closed while the daemon was down; and one that closed before is none any
 * more in the next configuration. */
static void test_restart_and_reload(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id = begin(&stage, "-", "-", "RUN_WINDOW = 0:00-0:02");
    stage.now_ms = 4 * minute_ms;
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, id), 7);
    site_stage_host_synced(&stage, "s1");
    obey(&stage, id, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    assert_true(site_stage_reload(&stage, text_of("-", "-", "")));
    site_stage_host_alive(&stage, "s1");
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

/* The clock on the wall leaps an hour: a window of the day is closed at once. */
static void test_clock_is_put_forward(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id = begin(&stage, "-", "-", "RUN_WINDOW = 0:00-1:00");
    stage.utc_offset_ms = 60 * minute_ms;
    site_stage_host_alive(&stage, "s1");
    obey(&stage, id, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    stage.utc_offset_ms = 0;
    site_stage_host_alive(&stage, "s1");
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

static void test_ended(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id =
        begin(&stage, "-", "-", "RUN_WINDOW = 0:00-0:03\nTERMINATE_WHEN = WINDOW");
    struct job_spec spec = site_stage_spec("local", "work");
    spec.is_rerunnable = true;
    uint64_t again = site_stage_submit_spec(&stage, "ana", &spec);
    uint64_t attempt = site_stage_attempt_of(&stage, again);
    site_stage_waiting(&stage, "s1", attempt, 8);
    site_stage_running(&stage, "s1", attempt, 8);
    pass_until(&stage, 3 * minute_ms);
    assert_int_equal(site_stage_job_row(&stage, id)->control.action, CONTROL_KILL);
    assert_int_equal(site_stage_job_row(&stage, id)->control.signal, 0);
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, id), 130);
    site_stage_exited(&stage, "s1", attempt, 130);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "TERM_WINDOW: job killed after queue run window closed");
    assert_int_equal(site_stage_state(&stage, again), JOB_PEND);
    assert_string_equal(site_stage_job_text(&stage, again, "pending"), "queue_window");
    assert_int_equal(site_stage_job_row(&stage, again)->requeue_cause, REQUEUE_WINDOW);
    site_stage_release(&stage);
}

/* It gave its slots away once, and has them again: it hears its end. */
static void test_ended_after_a_stop(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id = begin(&stage, "-", "-",
                        "RUN_WINDOW = 0:00-0:03\nTERMINATE_WHEN = WINDOW\n"
                        "PREEMPTION = PREEMPTABLE");
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    obey(&stage, id, CONTROL_SUSPEND);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    obey(&stage, id, CONTROL_RESUME);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    pass_until(&stage, 3 * minute_ms);
    assert_int_equal(site_stage_job_row(&stage, id)->control.action, CONTROL_KILL);
    assert_int_equal(site_stage_job_row(&stage, id)->control.signal, 0);
    site_stage_release(&stage);
}

static const char *status_of(struct site_stage *stage)
{
    const struct msg_reply *reply =
        site_stage_query(stage, &(struct msg_query){.kind = QUERY_HOSTS,
                                                    .name = "s1",
                                                    .user = "",
                                                    .queue = "",
                                                    .host = "",
                                                    .provider = "",
                                                    .consumer = "",
                                                    .res_req = "",
                                                    .after = ""});
    return value_find(value_find(reply->value, "hosts")->first, "status")->text;
}

static void test_hosts(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t id = begin(&stage, "0:00-0:03", "(0:00-0:02 0:03-0:09)", "");
    assert_string_equal(status_of(&stage), "ok");
    pass_until(&stage, 2 * minute_ms);
    assert_string_equal(status_of(&stage), "closed_Wind");
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    uint64_t next = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, next), 0);
    assert_string_equal(site_stage_job_text(&stage, next, "pending"), "closed");
    pass_until(&stage, 3 * minute_ms);
    obey(&stage, id, CONTROL_SUSPEND);
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    assert_int_equal(site_stage_attempt_of(&stage, next), 0);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_restart_and_reload),
        cmocka_unit_test(test_clock_is_put_forward),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_ended_after_a_stop),
        cmocka_unit_test(test_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
