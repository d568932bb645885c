/* SPDX-License-Identifier: Apache-2.0 */
/* Run limits of a host or host model (-W 60/OLD, RUNLIMIT): what they are on the hosts
 * of an attempt, which later changes of the configuration do not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

enum { MINUTE = 60000 };

/* Host s1 is four times as fast as s2. */
static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin HostModel\nMODELNAME CPUFACTOR\nOLD 1\nNEW %d\nEnd HostModel\n"
    "Begin Host\nHOST_NAME MXJ MODEL\ns1 1 NEW\ns2 1 OLD\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nREQUEUE_EXIT_VALUES = 9\nRUNLIMIT = 90/OLD\nEnd "
    "Queue\n"
    "Begin Queue\nQUEUE_NAME = fast\nRUNLIMIT = 10/NEW\nEnd Queue\n";

static const char *text_of(int new_factor)
{
    static char text[1024];
    snprintf(text, sizeof(text), site_text, new_factor);
    return text;
}

static void init(struct site_stage *stage)
{
    site_stage_init_text(stage, text_of(4));
    site_stage_host_up(stage, "s1");
    site_stage_host_up(stage, "s2");
}

/* Its id, or 0 with the reply of the site. */
static uint64_t submit(struct site_stage *stage, const char *queue, int minutes,
                       const char *of, const char *const *hosts)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec(queue, "work");
    msg.submit.spec.run_limit_ms = (int64_t)minutes * MINUTE;
    msg.submit.spec.hosts_asked = hosts;
    msg.submit.spec.n_hosts_asked = hosts != NULL;
    msg.submit.terms = (struct job_terms){.depend = "", .run_limit_host = of};
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    return reply->code == 0 ? (uint64_t)value_find(reply->value, "job")->number : 0;
}

static int64_t sent_limit(const struct site_stage *stage)
{
    const struct msg *start = site_stage_sent(stage, MSG_RUN_START, 0);
    assert_non_null(start);
    return start->run_start.spec.run_limit_ms;
}

static const char *const on_s1[] = {"s1"}, *const on_s2[] = {"s2"};

static void test_a_limit_is_that_of_the_host(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = submit(&stage, "local", 60, "OLD", on_s1);
    assert_int_equal(sent_limit(&stage), 15 * MINUTE);
    assert_int_equal(site_stage_job_int(&stage, id, "limits.run_s"), 3600);
    assert_string_equal(site_stage_job_text(&stage, id, "limits.run_host"), "OLD");
    assert_int_equal(site_stage_job_int(&stage, id, "limits.run_effective_s"), 900);
    /* The queue's limit, and a limit without a host beside it. */
    submit(&stage, "fast", 0, "", on_s2);
    assert_int_equal(sent_limit(&stage), 40 * MINUTE);
    site_stage_release(&stage);
}

static void test_a_limit_above_the_queues(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    assert_int_equal(submit(&stage, "fast", 41, "OLD", NULL), 0);
    assert_non_null(
        strstr(site_stage_reply(&stage)->text, "which is 10 minutes of NEW"));
    assert_true(submit(&stage, "fast", 40, "OLD", NULL) != 0);
    assert_int_equal(submit(&stage, "fast", 1, "s9", NULL), 0);
    assert_non_null(strstr(site_stage_reply(&stage)->text,
                           "-W: s9 is no host model, and no host with a configured"));
    site_stage_release(&stage);
}

/* A job keeps the limit that it was started with, whatever the factors are by now. Its
 * next attempt has that of its next host. */
static void test_a_limit_stays(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = submit(&stage, "local", 60, "OLD", NULL);
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    assert_int_equal(sent_limit(&stage), 15 * MINUTE);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_restart_text(&stage, text_of(2));
    site_stage_host_up(&stage, "s2");
    assert_int_equal(site_stage_job_int(&stage, id, "limits.run_effective_s"), 900);
    site_stage_host_up(&stage, "s1");
    site_stage_running(&stage, "s1", attempt, 7);
    assert_int_equal(site_stage_job_int(&stage, id, "limits.run_effective_s"), 900);
    site_stage_exited(&stage, "s1", attempt, 9); /* it is requeued */
    assert_int_equal(site_stage_job_row(&stage, id)->run_limit_ms, 0);
    while (site_stage_attempt_of(&stage, id) == 0) {
        site_stage_pass(&stage, 1000);
    }
    assert_int_equal(sent_limit(&stage), 30 * MINUTE);
    assert_int_equal(site_stage_job_int(&stage, id, "limits.run_effective_s"), 1800);
    site_stage_release(&stage);
}

static void test_a_running_job_gets_another_limit(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage);
    uint64_t id = submit(&stage, "local", 60, "OLD", on_s1);
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    static const struct {
        int minutes;
        const char *of;
        int64_t expected;
    } rows[] = {{80, "OLD", 20 * MINUTE}, {5, "NEW", 5 * MINUTE}, {7, "", 7 * MINUTE}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer from = site_stage_user("ana");
        struct msg msg = {
            .kind = MSG_JOB_MODIFY,
            .site = "",
            .job_modify = {.request = ++stage.request,
                           .job = "1",
                           .fields = UINT64_C(1) << JOB_FIELD_RUN_LIMIT,
                           .to = {.spec = site_stage_spec("", ""),
                                  .terms = {.run_limit_host = rows[i].of}}}};
        msg.job_modify.to.spec.run_limit_ms = (int64_t)rows[i].minutes * MINUTE;
        site_stage_message(&stage, &from, &msg);
        assert_int_equal(site_stage_reply(&stage)->code, 0);
        const struct msg *sent = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
        assert_non_null(sent);
        assert_int_equal(sent->run_control.control.run_limit_ms, rows[i].expected);
    }
    site_stage_release(&stage);
}

/* LSF: without a run limit the CPU limit counts, divided by the slots. The window
 * closes within 23 hours. */
static void test_a_cpu_limit_and_a_run_window(void **state)
{
    struct site_stage stage;
    static const char *const own[] = {"cpu=36000000"}; /* 10 hours */
    static const struct {
        const char *why, *queue;
        int n_slots;
        bool has_own, starts;
    } rows[] = {
        {"the queue's", "cpu", 1, false, false},
        {"of two slots", "cpu", 2, false, true},
        {"the job's own", "cpu", 1, true, true},
        {"if the queue does not ignore it", "liberal", 1, false, true},
    };
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 9\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = cpu\nRUN_WINDOW = 0:00-23:00\n"
                         "CPULIMIT = 24:00\nEnd Queue\n"
                         "Begin Queue\nQUEUE_NAME = liberal\nRUN_WINDOW = 0:00-23:00\n"
                         "CPULIMIT = 24:00\nIGNORE_DEADLINE = Y\nEnd Queue\n");
    site_stage_host_up(&stage, "s1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_spec spec = site_stage_spec(rows[i].queue, "work");
        spec.n_slots = rows[i].n_slots;
        spec.limits = own;
        spec.n_limits = rows[i].has_own;
        uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
        if ((site_stage_attempt_of(&stage, id) != 0) != rows[i].starts) {
            fail_msg("%s", rows[i].why);
        }
        if (!rows[i].starts) {
            assert_string_equal(site_stage_job_text(&stage, id, "pending"), "deadline");
        }
    }
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_limit_is_that_of_the_host),
        cmocka_unit_test(test_a_limit_above_the_queues),
        cmocka_unit_test(test_a_limit_stays),
        cmocka_unit_test(test_a_running_job_gets_another_limit),
        cmocka_unit_test(test_a_cpu_limit_and_a_run_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
