/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts a running job would free, in one pass after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /s\nEnd Site\n"
    "Begin Parameters\nRESUME_RESERVE_TIME = 600\nEnd Parameters\n"
    "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 40\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 50\nPREEMPTION = PREEMPTIVE[low]\n"
    "End Queue\n"
    "Begin Queue\nQUEUE_NAME = top\nPRIORITY = 60\nEnd Queue\n"
    "Begin Limit\nNAME = few\nUSERS = bob\nPER_HOST = all\nSLOTS = 2\nEnd Limit\n";

/* A parallel job is preempted for a job that asks for its second host, also after a
 * pass in which it was not. */
static void test_second_host(void **state)
{
    static const char *const second[] = {"s2"};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("low", "work");
    (void)state;
    site_stage_init_text(&stage, site_text);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    spec.n_slots = 4;
    uint64_t low = site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, low), 7);
    spec.queue = "high";
    spec.n_slots = 5;
    uint64_t large = site_stage_submit_spec(&stage, "ana", &spec);
    assert_string_not_equal(site_stage_job_text(&stage, large, "pending"),
                            "preempting");
    spec.n_slots = 2;
    spec.hosts_asked = second;
    spec.n_hosts_asked = 1;
    uint64_t high = site_stage_submit_spec(&stage, "ana", &spec);
    assert_string_equal(site_stage_job_text(&stage, high, "pending"), "preempting");
    site_stage_release(&stage);
}

static const char *shown(struct site_stage *stage, const char *id, const char *field)
{
    struct msg_query query = {.kind = QUERY_JOBS, .name = id};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *value =
        value_find(value_find(reply->value, "jobs")->first, field);
    return value->text != NULL ? value->text : "";
}

/* One element of an array may run at a time. An element for which another job is being
 * suspended does not start once another element has started. */
static void test_array_limit(void **state)
{
    static const char *const second[] = {"2[2]"};
    struct site_stage stage;
    struct peer from = site_stage_user("ana");
    struct msg move = {.kind = MSG_JOB_MOVE, .site = ""};
    struct job_spec spec = site_stage_spec("low", "work");
    (void)state;
    site_stage_init_text(&stage, site_text);
    site_stage_host_up(&stage, "s1");
    spec.n_slots = 2;
    uint64_t low =
        site_stage_attempt_of(&stage, site_stage_submit_spec(&stage, "ana", &spec));
    site_stage_running(&stage, "s1", low, 7);
    spec.queue = "high";
    spec.name = "a[1-2]%1";
    site_stage_submit_spec(&stage, "ana", &spec);
    assert_string_equal(shown(&stage, "2[1]", "pending"), "preempting");
    move.job_move = (struct msg_job_move){
        .request = ++stage.request, .move = MOVE_TOP, .jobs = second, .n_jobs = 1};
    site_stage_message(&stage, &from, &move);
    site_stage_host_up(&stage, "s2");
    site_stage_pass(&stage, 1000);
    assert_string_equal(shown(&stage, "2[2]", "reason"), "starting on s2");
    site_stage_exited(&stage, "s1", low, 0);
    site_stage_pass(&stage, 1000);
    assert_string_equal(shown(&stage, "2[1]", "pending"), "array_limit");
    site_stage_release(&stage);
}

/* The slots of a preempted job go to the job that preempted it, also if that reaches a
 * limit of the host with them; a job of a higher queue gets others. */
static void test_limit_that_is_reached(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("low", "work");
    (void)state;
    site_stage_init_text(&stage, site_text);
    site_stage_host_up(&stage, "s1");
    spec.n_slots = 2;
    uint64_t low =
        site_stage_attempt_of(&stage, site_stage_submit_spec(&stage, "ana", &spec));
    site_stage_running(&stage, "s1", low, 7);
    spec.queue = "high";
    uint64_t high = site_stage_submit_spec(&stage, "bob", &spec);
    assert_string_equal(site_stage_job_text(&stage, high, "pending"), "preempting");
    spec.queue = "top";
    uint64_t top = site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_exited(&stage, "s1", low, 0);
    assert_int_equal(site_stage_attempt_of(&stage, top), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, high), 0);
    site_stage_release(&stage);
}

/* PREEMPTION_WAIT_TIME after a job was preempted, its slots are for others as well. */
static void test_a_claim_ends(void **state)
{
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("low", "work");
    (void)state;
    for (int is_over = 0; is_over <= 1; is_over++) {
        site_stage_init_text(&stage, site_text);
        site_stage_host_up(&stage, "s1");
        spec.queue = "low";
        spec.n_slots = 2;
        uint64_t low =
            site_stage_attempt_of(&stage, site_stage_submit_spec(&stage, "ana", &spec));
        site_stage_running(&stage, "s1", low, 7);
        spec.queue = "high";
        uint64_t high = site_stage_submit_spec(&stage, "bob", &spec);
        int64_t end_ms = stage.now_ms + 300000;
        assert_string_equal(site_stage_job_text(&stage, high, "pending"), "preempting");
        spec.queue = "top";
        uint64_t top = site_stage_submit_spec(&stage, "ana", &spec);
        for (int i = 0; i < 29; i++) {
            site_stage_host_alive(&stage, "s1");
            site_stage_pass(&stage, 10000);
        }
        site_stage_host_alive(&stage, "s1");
        site_stage_pass(&stage,
                        end_ms - 1 - !is_over - stage.now_ms); /* the exit takes 1 ms */
        site_stage_exited(&stage, "s1", low, 0);
        assert_int_equal(site_stage_attempt_of(&stage, high) != 0, !is_over);
        assert_int_equal(site_stage_attempt_of(&stage, top) != 0, is_over);
        site_stage_release(&stage);
    }
}

/* A slot that a suspended job cannot use alone is kept from the jobs of its queue for
 * RESUME_RESERVE_TIME, and their reason says so. */
static void test_slots_are_kept_for_a_time(void **state)
{
    static const char *const first[] = {"s1"};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("low", "work");
    (void)state;
    site_stage_init_text(&stage, site_text);
    site_stage_host_up(&stage, "s1");
    spec.n_slots = 2;
    spec.hosts_asked = first;
    spec.n_hosts_asked = 1;
    uint64_t low = site_stage_submit_spec(&stage, "ana", &spec);
    uint64_t attempt = site_stage_attempt_of(&stage, low);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    spec.queue = "high";
    spec.n_slots = 1;
    uint64_t high = site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_run_state(&stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = RUN_SUSPENDED,
                                                 .token = 7,
                                                 .start_ms = 5,
                                                 .control_done = 1,
                                                 .exit = {.text = ""}});
    assert_int_equal(site_stage_state(&stage, low), JOB_SSUSP);
    assert_int_not_equal(site_stage_attempt_of(&stage, high), 0);
    spec.queue = "low";
    uint64_t next = site_stage_submit_spec(&stage, "ana", &spec);
    assert_non_null(strstr(site_stage_job_text(&stage, next, "reason"),
                           "; slots are kept: 1 for suspended job <1> until about "));
    for (int i = 0; i < 60; i++) {
        assert_int_equal(site_stage_attempt_of(&stage, next), 0);
        site_stage_pass(&stage, 10000);
        site_stage_host_alive(&stage, "s1");
    }
    assert_int_not_equal(site_stage_attempt_of(&stage, next), 0);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_host), cmocka_unit_test(test_array_limit),
        cmocka_unit_test(test_limit_that_is_reached),
        cmocka_unit_test(test_a_claim_ends),
        cmocka_unit_test(test_slots_are_kept_for_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
