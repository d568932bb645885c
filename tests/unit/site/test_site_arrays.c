/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_arrays.c: one submission, many jobs: what is written, and that each element
 * has a life of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

static struct job_spec named(const char *name)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.name = name;
    return spec;
}

static uint64_t submit(struct site_stage *stage, const char *name)
{
    struct job_spec spec = named(name);
    return site_stage_submit_spec(stage, "ana", &spec);
}

/* The state that `jobs ID` shows, "" where it shows nothing. */
static const char *shown(struct site_stage *stage, const char *id)
{
    struct msg_query query = {.kind = QUERY_JOBS, .name = id};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *jobs =
        reply->code == 0 ? value_find(reply->value, "jobs") : NULL;
    return jobs == NULL || jobs->first == NULL ? ""
                                               : value_find(jobs->first, "state")->text;
}

static int count_shown(struct site_stage *stage, const char *name)
{
    struct msg_query query = {.kind = QUERY_JOBS, .name = name, .with_ended = true};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    return reply->code != 0 ? 0 : value_find(reply->value, "jobs")->count;
}

static void test_submission(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    assert_int_equal(submit(&stage, "lisa[1-10:3,2]"), 1);
    const struct msg_reply *reply = site_stage_reply(&stage);
    assert_int_equal(value_find(reply->value, "elements")->number, 5);
    /* One row whatever its size: a state is written when there is news. */
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 1);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB_STATE), 0);
    assert_int_equal(site_count_jobs(stage.site), 5);
    site_stage_restart(&stage);
    assert_int_equal(site_count_jobs(stage.site), 5);
    assert_int_equal(count_shown(&stage, "1"), 5);
    assert_int_equal(count_shown(&stage, "1[1-4]"), 3);
    assert_int_equal(count_shown(&stage, "lisa"), 5);
    assert_int_equal(count_shown(&stage, "lisa[7]"), 1);
    assert_int_equal(count_shown(&stage, "lis"), 0);
    assert_string_equal(shown(&stage, "1[3]"), ""); /* not in the list */
    assert_int_equal(submit(&stage, "next"), 2);
    site_stage_release(&stage);
}

static void test_bounds(void **state)
{
    static const char *const bad[] = {"a[1-1001]", "a[0]", "a[1-3]%0", "a[", "a[2-1]"};
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(submit(&stage, bad[i]), 0);
    }
    assert_int_equal(submit(&stage, "a[1001]"), 0);
    assert_non_null(strstr(site_stage_reply(&stage)->text, "MAX_JOB_ARRAY_SIZE"));
    assert_int_equal(site_count_jobs(stage.site), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 0);
    assert_int_equal(submit(&stage, "a[1-1000]"), 1);
    site_stage_release(&stage);
}

/* Starts what fits and tells each RUN_START's job apart. */
static void test_elements_run(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1"); /* two slots */
    submit(&stage, "lisa[4-6]");
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 2);
    assert_string_equal(site_stage_sent(&stage, MSG_RUN_START, 0)->run_start.job,
                        "1[4]");
    assert_string_equal(site_stage_sent(&stage, MSG_RUN_START, 1)->run_start.job,
                        "1[5]");
    site_stage_restart(&stage); /* asked for again, by what the array's row says */
    stage.host_session++;
    site_stage_host_up(&stage, "s1");
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 2);
    assert_string_equal(
        site_stage_sent(&stage, MSG_RUN_START, 1)->run_start.spec.command, "work");
    site_stage_waiting(&stage, "s1", 1, 11);
    site_stage_running(&stage, "s1", 1, 11);
    site_stage_waiting(&stage, "s1", 2, 12);
    site_stage_running(&stage, "s1", 2, 12);
    assert_string_equal(shown(&stage, "1[4]"), "RUN");
    assert_string_equal(shown(&stage, "1[6]"), "PEND");
    site_stage_restart(&stage);
    assert_string_equal(shown(&stage, "1[6]"), "PEND");
    stage.host_session++;
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", 1, 11);
    site_stage_running(&stage, "s1", 2, 12);
    site_stage_host_synced(&stage, "s1");
    assert_string_equal(shown(&stage, "1[5]"), "RUN");
    site_stage_exited(&stage, "s1", 1, 3);
    assert_string_equal(shown(&stage, "1[4]"), "EXIT");
    assert_string_equal(shown(&stage, "1[5]"), "RUN");
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 1);
    site_stage_release(&stage);
}

static void test_orders(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    submit(&stage, "lisa[1-10]");
    assert_int_equal(
        site_stage_control(&stage, "ana", "1[2-4,9]", CONTROL_SUSPEND, 0)->code, 0);
    assert_string_equal(shown(&stage, "1[3]"), "PSUSP");
    assert_string_equal(shown(&stage, "1[5]"), "PEND");
    assert_int_equal(site_stage_control(&stage, "bob", "1", CONTROL_KILL, 0)->code,
                     ERR_DENIED);
    assert_int_equal(site_stage_control(&stage, "ana", "1[3]", CONTROL_KILL, 0)->code,
                     0);
    assert_string_equal(shown(&stage, "1[3]"), "EXIT");
    /* All but the one that is over; then nothing is left to kill. */
    assert_int_equal(site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0)->code, 0);
    assert_string_equal(shown(&stage, "1[10]"), "EXIT");
    assert_int_equal(site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0)->code,
                     ERR_STATE);
    assert_int_equal(
        site_stage_control(&stage, "ana", "1[11-20]", CONTROL_KILL, 0)->code,
        ERR_NOT_FOUND);
    assert_int_equal(site_stage_control(&stage, "ana", "2", CONTROL_KILL, 0)->code,
                     ERR_NOT_FOUND);
    site_stage_restart(&stage);
    assert_string_equal(shown(&stage, "1[10]"), "EXIT");
    site_stage_release(&stage);
}

static void test_wait(void **state)
{
    struct site_stage stage;
    struct msg wait = {
        .kind = MSG_WAIT, .site = "", .wait = {.request = 7, .job = "1"}};
    struct peer ana = site_stage_user("ana");
    (void)state;
    site_stage_init(&stage);
    submit(&stage, "lisa[1-3]");
    site_stage_message(&stage, &ana, &wait);
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 0);
    site_stage_control(&stage, "ana", "1[1-2]", CONTROL_KILL, 0);
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 1); /* only the order's */
    site_stage_control(&stage, "ana", "1[3]", CONTROL_KILL, 0);
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 2);
    site_stage_restart(&stage);
    site_stage_message(&stage, &ana, &wait); /* it is over: answered at once */
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 1);
    site_stage_release(&stage);
}

/* Elements are forgotten one by one, the array with the last of them. */
static void test_clean(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init(&stage);
    submit(&stage, "lisa[1-3]");
    site_stage_control(&stage, "ana", "1[2]", CONTROL_KILL, 0);
    site_stage_pass(&stage, 3700 * 1000);
    assert_int_equal(site_count_jobs(stage.site), 2);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 1);
    site_stage_restart(&stage);
    assert_int_equal(site_count_jobs(stage.site), 2);
    assert_string_equal(shown(&stage, "1[2]"), "");
    assert_string_equal(shown(&stage, "1[3]"), "PEND");
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    struct msg wait = {
        .kind = MSG_WAIT, .site = "", .wait = {.request = 7, .job = "1"}};
    struct peer ana = site_stage_user("ana");
    site_stage_message(&stage, &ana, &wait);
    assert_int_equal(site_stage_count(&stage, MSG_REPLY), 1); /* all that is left */
    site_stage_pass(&stage, 3700 * 1000);
    assert_int_equal(site_count_jobs(stage.site), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_JOB_STATE), 0);
    site_stage_release(&stage);
}

/* A pass takes several ticks: a slot that falls free meanwhile is for the first in the
 * queue, not for whom the pass has come to. */
static void test_order_of_a_long_queue(void **state)
{
    static const char text[] = "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                               "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                               "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
                               "Begin Parameters\nMAX_JOB_ARRAY_SIZE = 9000\n"
                               "End Parameters\n";
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    assert_int_equal(submit(&stage, "lisa[1-9000]"), 1);
    site_stage_pass(&stage, 100);
    for (uint64_t attempt = 1; attempt <= 20; attempt++) {
        char job[24];
        site_stage_waiting(&stage, "s1", attempt, attempt);
        site_stage_running(&stage, "s1", attempt, attempt);
        snprintf(job, sizeof(job), "1[%d]", (int)attempt);
        assert_string_equal(shown(&stage, job), "RUN");
        submit(&stage, "another"); /* a pass begins, and comes to 2000 */
        site_stage_exited(&stage, "s1", attempt, 0);
        site_stage_pass(&stage, 10);
    }
    site_stage_release(&stage);
}

static void test_peek(void **state)
{
    struct site_stage stage;
    struct msg peek = {
        .kind = MSG_JOB_PEEK, .site = "", .peek = {.request = 7, .job = "1"}};
    struct peer ana = site_stage_user("ana");
    (void)state;
    site_stage_init(&stage);
    struct job_spec spec = named("lisa[1-3]");
    spec.out_file = "/tmp/out.%J.%I.%%";
    site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_message(&stage, &ana, &peek);
    assert_int_equal(site_stage_sent(&stage, MSG_REPLY, 0)->reply.code, ERR_STATE);
    site_stage_host_up(&stage, "s1");
    site_stage_waiting(&stage, "s1", 2, 12);
    site_stage_running(&stage, "s1", 2, 12);
    peek.peek.job = "1[2]";
    site_stage_message(&stage, &ana, &peek);
    assert_non_null(
        strstr(site_stage_sent(&stage, MSG_REPLY, 0)->reply.text, "/tmp/out.1.2.%,"));
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submission),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_elements_run),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_order_of_a_long_queue),
        cmocka_unit_test(test_peek),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
