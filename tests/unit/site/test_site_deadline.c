/* SPDX-License-Identifier: Apache-2.0 */
/* When a job ends although it waits or runs on: its termination time (-t), a condition
 * that can never be met (-ti); and when it waits again (-Q). Source: LSF's bsub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "tests/unit/site/site_stage.h"

enum { MINUTE = 60000 };

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\nREQUEUE_EXIT_VALUES = 5\n"
    "End Queue\n";

static void init(struct site_stage *stage)
{
    site_stage_init_text(stage, site_text);
    site_stage_host_up(stage, "s1");
}

/* Its id; 0: it was refused. */
static uint64_t submit(struct site_stage *stage, int64_t run_limit_ms,
                       const struct job_terms *terms)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec("local", "work");
    msg.submit.spec.run_limit_ms = run_limit_ms;
    msg.submit.terms = *terms;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

static void begin(struct site_stage *stage, uint64_t id)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    assert_true(attempt != 0);
    site_stage_waiting(stage, "s1", attempt, 7);
    site_stage_running(stage, "s1", attempt, 7);
}

static void run(struct site_stage *stage, uint64_t id, int code)
{
    begin(stage, id);
    site_stage_exited(stage, "s1", site_stage_attempt_of(stage, id), code);
}

static void assert_ended(struct site_stage *stage, uint64_t id, const char *word)
{
    assert_int_equal(site_stage_state(stage, id), JOB_EXIT);
    const char *reason = site_stage_job_text(stage, id, "reason");
    assert_int_equal(strncmp(reason, word, strlen(word)), 0);
}

/* One slot, so that the second job waits, until its time is over; in a new process of
 * the site as well. */
static void test_pending_job_ends(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    begin(&stage, submit(&stage, 0, &(struct job_terms){.depend = ""}));
    uint64_t late = submit(
        &stage, 0,
        &(struct job_terms){.depend = "", .terminate_ms = stage.now_ms + 10 * MINUTE});
    uint64_t later = submit(
        &stage, 0,
        &(struct job_terms){.depend = "", .terminate_ms = stage.now_ms + 20 * MINUTE});
    site_stage_pass(&stage, 9 * MINUTE);
    assert_int_equal(site_stage_state(&stage, late), JOB_PEND);
    site_stage_restart(&stage);
    site_stage_pass(&stage, 2 * MINUTE);
    assert_ended(&stage, late, "TERM_DEADLINE");
    assert_int_equal(site_stage_state(&stage, later), JOB_PEND);
    site_stage_release(&stage);
}

/* A run that could not reach its run limit before is not begun (bsub -W). A job that is
 * held ends likewise. */
static void test_pending_job_with_run_limit_ends(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    begin(&stage, submit(&stage, 0, &(struct job_terms){.depend = ""}));
    int64_t at_ms = stage.now_ms + 10 * MINUTE;
    uint64_t late = submit(&stage, 4 * MINUTE,
                           &(struct job_terms){.depend = "", .terminate_ms = at_ms});
    site_stage_control(&stage, "ana", "2", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_state(&stage, late), JOB_PSUSP);
    site_stage_pass(&stage, 5 * MINUTE);
    assert_int_equal(site_stage_state(&stage, late), JOB_PSUSP);
    site_stage_pass(&stage, MINUTE + 1000);
    assert_ended(&stage, late, "TERM_DEADLINE");
    site_stage_release(&stage);
}

/* Its host is told how long it may run, whatever its run limit; at the deadline the
 * reason is that, before it the run limit. */
static void test_running_job_ends(void **state)
{
    static const struct {
        int after_min;
        const char *word;
    } rows[] = {{10, "TERM_DEADLINE"}, {9, "TERM_RUNLIMIT"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        init(&stage);
        int64_t at_ms = stage.now_ms + 10 * MINUTE;
        uint64_t id = submit(&stage, 9 * MINUTE,
                             &(struct job_terms){.depend = "", .terminate_ms = at_ms});
        const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
        assert_non_null(start);
        assert_in_range(start->run_start.end_within_ms, 10 * MINUTE - 1000,
                        10 * MINUTE);
        assert_int_equal(start->run_start.spec.run_limit_ms, 9 * MINUTE);
        begin(&stage, id);
        int64_t begun_ms = stage.now_ms;
        for (int k = 0; k < 4 * rows[i].after_min; k++) {
            site_stage_pass(&stage, MINUTE / 4);
            site_stage_host_alive(&stage, "s1");
        }
        struct run_exit exit = {.end = RUN_END_LIMIT,
                                .cause = RUN_CAUSE_RUN_LIMIT,
                                .code = 130,
                                .start_ms = begun_ms,
                                .end_ms = begun_ms + rows[i].after_min * MINUTE,
                                .text = ""};
        site_stage_run_state(
            &stage, "s1", "south", site_stage_attempt_of(&stage, id),
            &(struct msg_run_state){.phase = RUN_ENDED, .token = 7, .exit = exit});
        assert_ended(&stage, id, rows[i].word);
        site_stage_release(&stage);
    }
}

static void test_refused(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    int64_t now_ms = stage.now_ms;
    const struct {
        int64_t run_limit_ms;
        struct job_terms terms;
        const char *says;
    } rows[] = {
        {0, {.depend = "", .terminate_ms = now_ms}, "has passed"},
        {MINUTE, {.depend = "", .terminate_ms = now_ms + MINUTE}, "no room"},
        {0, {.depend = "", .ends_orphan = true}, "expected -w"},
        {0, {.depend = "", .requeue_codes = "300"}, "-Q: \"300\" is not an exit code"},
        {0, {.depend = "", .requeue_codes = "1 EXCLUDE 2"}, "expected EXCLUDE(CODE"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(submit(&stage, rows[i].run_limit_ms, &rows[i].terms), 0);
        assert_non_null(strstr(site_stage_reply(&stage)->text, rows[i].says));
    }
    assert_int_equal(submit(&stage, 0, &(struct job_terms){.depend = ""}), 1);
    site_stage_release(&stage);
}

/* The first job exits, so that done(1) can never be: the one with -ti ends, the other
 * one waits for ever; one whose condition can still be met goes on waiting. */
static void test_orphan_ends(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t first = submit(&stage, 0, &(struct job_terms){.depend = ""});
    uint64_t orphan = submit(
        &stage, 0, &(struct job_terms){.depend = "done(1)", .ends_orphan = true});
    uint64_t stays = submit(&stage, 0, &(struct job_terms){.depend = "done(1)"});
    uint64_t waits = submit(
        &stage, 0,
        &(struct job_terms){.depend = "done(1) || done(3)", .ends_orphan = true});
    assert_int_equal(site_stage_state(&stage, orphan), JOB_PEND);
    run(&stage, first, 1);
    site_stage_pass(&stage, 1);
    assert_ended(&stage, orphan, "TERM_ORPHAN_SYSTEM");
    assert_int_equal(site_stage_state(&stage, stays), JOB_PEND);
    assert_int_equal(site_stage_state(&stage, waits), JOB_PEND);
    site_stage_release(&stage);
}

/* -Q takes the place of the queue's REQUEUE_EXIT_VALUES, which is 5. */
static void test_requeue_codes(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id =
        submit(&stage, 0, &(struct job_terms){.depend = "", .requeue_codes = "9"});
    run(&stage, id, 9);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_pass(&stage, MINUTE);
    site_stage_host_up(&stage, "s1");
    run(&stage, id, 5);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pending_job_ends),
        cmocka_unit_test(test_pending_job_with_run_limit_ends),
        cmocka_unit_test(test_running_job_ends),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_orphan_ends),
        cmocka_unit_test(test_requeue_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
