/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_post.c: jobs that wait for how the commands after another job ended
 * (post_done, post_err), by what its host reports, before and after a restart of the
 * site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /spool\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\nEnd Queue\n";

static uint64_t submit(struct site_stage *stage, const char *depend)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec("local", "work");
    msg.submit.terms = (struct job_terms){.depend = depend};
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    assert_int_equal(reply->code, 0);
    return (uint64_t)value_find(reply->value, "job")->number;
}

enum verdict { RELEASED, WAITS, NEVER };

static void assert_verdict(struct site_stage *stage, uint64_t id, enum verdict verdict,
                           const char *why)
{
    static const char never[] = "Dependency condition invalid or never satisfied";
    bool is_released = site_stage_attempt_of(stage, id) != 0;
    bool is_never = strstr(site_stage_job_text(stage, id, "reason"), never) != NULL;
    if (is_released != (verdict == RELEASED) || is_never != (verdict == NEVER)) {
        fail_msg("%s: job %d: expected %d, is \"%s\"", why, (int)id, (int)verdict,
                 site_stage_job_text(stage, id, "reason"));
    }
}

/* Jobs that wait while it runs, and jobs that are submitted after its end, at a site
 * that has read the end from its journal. */
static void test_verdicts(void **state)
{
    static const struct {
        const char *why;
        struct run_exit exit; /* start_ms 1: it had started */
        enum verdict done, err;
        const char *shown;
    } rows[] = {
        {"succeeded",
         {.end = RUN_END_EXITED, .start_ms = 1, .post = RUN_POST_DONE},
         RELEASED,
         NEVER,
         "POST_DONE"},
        {"the job failed, they succeeded",
         {.end = RUN_END_EXITED, .code = 3, .start_ms = 1, .post = RUN_POST_DONE},
         RELEASED,
         NEVER,
         "POST_DONE"},
        {"failed",
         {.end = RUN_END_EXITED, .start_ms = 1, .post = RUN_POST_ERR},
         NEVER,
         RELEASED,
         "POST_ERR"},
        {"a host that does not say",
         {.end = RUN_END_EXITED, .start_ms = 1},
         NEVER,
         NEVER,
         ""},
        {"lost", {.end = RUN_END_LOST, .start_ms = 1}, NEVER, RELEASED, "POST_ERR"},
        {"lost, but they have run",
         {.end = RUN_END_LOST, .start_ms = 1, .post = RUN_POST_DONE},
         RELEASED,
         NEVER,
         "POST_DONE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        struct msg_run_state ended = {.phase = RUN_ENDED, .exit = rows[i].exit};
        site_stage_init_text(&stage, site_text);
        site_stage_host_up(&stage, "s1");
        uint64_t first = submit(&stage, "");
        uint64_t done = submit(&stage, "post_done(1)");
        uint64_t err = submit(&stage, "post_err(1)");
        uint64_t attempt = site_stage_attempt_of(&stage, first);
        site_stage_waiting(&stage, "s1", attempt, 7);
        site_stage_running(&stage, "s1", attempt, 7);
        assert_verdict(&stage, done, WAITS, rows[i].why);
        assert_verdict(&stage, err, WAITS, rows[i].why);
        ended.exit.start_ms = ended.exit.end_ms = stage.now_ms;
        site_stage_run_state(&stage, "s1", "south", attempt, &ended);
        assert_verdict(&stage, done, rows[i].done, rows[i].why);
        assert_verdict(&stage, err, rows[i].err, rows[i].why);

        site_stage_restart(&stage);
        site_stage_host_up(&stage, "s1");
        assert_string_equal(site_stage_job_text(&stage, first, "post_state"),
                            rows[i].shown);
        assert_verdict(&stage, submit(&stage, "post_done(1)"), rows[i].done,
                       rows[i].why);
        assert_verdict(&stage, submit(&stage, "post_err(1)"), rows[i].err, rows[i].why);
        site_stage_release(&stage);
    }
}

/* Killed before it starts, it has no such commands that could succeed or fail. */
static void test_never_started(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, site_text); /* no host is up */
    submit(&stage, "");
    uint64_t done = submit(&stage, "post_done(1)");
    uint64_t either = submit(&stage, "post_err(1) || ended(1)");
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    site_stage_settle(&stage);
    assert_int_equal(site_stage_state(&stage, 1), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, 1, "post_state"), "");
    site_stage_host_up(&stage, "s1");
    assert_verdict(&stage, done, NEVER, "never started");
    assert_verdict(&stage, either, RELEASED, "never started");
    site_stage_release(&stage);
}

/* Nor if it is killed, and its host says that nothing of it has begun. */
static void test_not_begun(void **state)
{
    struct site_stage stage;
    const struct msg_run_state ended = {
        .phase = RUN_ENDED,
        .exit = {.end = RUN_END_LOST, .cause = RUN_CAUSE_NOT_BEGUN}};
    (void)state;
    site_stage_init_text(&stage, site_text);
    site_stage_host_up(&stage, "s1");
    uint64_t first = submit(&stage, "");
    uint64_t err = submit(&stage, "post_err(1)");
    uint64_t attempt = site_stage_attempt_of(&stage, first);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    site_stage_run_state(&stage, "s1", "south", attempt, &ended);
    assert_int_equal(site_stage_state(&stage, first), JOB_EXIT);
    assert_verdict(&stage, err, NEVER, "not begun");
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_never_started),
        cmocka_unit_test(test_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
