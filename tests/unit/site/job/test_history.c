/* SPDX-License-Identifier: Apache-2.0 */
/* test_history.c: what is put on record of a job's life, event by event: each change
 * once, over restarts, and a refusal once for each reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static struct site_stage stage;

static int open_stage(void **state)
{
    (void)state;
    site_stage_init(&stage);
    stage.told = "";
    return 0;
}

static int close_stage(void **state)
{
    (void)state;
    site_stage_release(&stage);
    return 0;
}

/* What was told since the last time. */
static void assert_told(const char *expected)
{
    assert_string_equal(stage.told, expected);
    stage.told = "";
}

static uint64_t start_own(void)
{
    site_stage_host_up(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "work");
    assert_told("1 submit; 1 dispatch s1=1");
    return id;
}

static void test_plain_life(void **state)
{
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    assert_told("");
    site_stage_running(&stage, "s1", attempt, 7);
    assert_told("1 start s1=1");
    site_stage_running(&stage, "s1", attempt, 7); /* said again */
    assert_told("");
    site_stage_exited(&stage, "s1", attempt, 3);
    assert_told("1 end (exited with code 3)");
}

static void test_end_is_the_first_news(void **state)
{
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_told("1 start s1=1; 1 end");
}

/* Nobody could tell for a while: from when on, and until when. */
static void test_unknown(void **state)
{
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    assert_told("1 start s1=1");
    site_stage_pass(&stage, 60000);
    assert_told("1 unknown (its host does not answer)");
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    site_stage_restart(&stage); /* it is not forgotten */
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_host_synced(&stage, "s1");
    assert_told("1 known");
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_told("1 end");
}

/* Each run has its end on record, also where the job is to wait again. */
static void test_requeued(void **state)
{
    struct peer ana = site_stage_user("ana");
    const char *job = "1";
    struct msg msg = {.kind = MSG_JOB_MOVE, .site = ""};
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    msg.job_move = (struct msg_job_move){
        .request = 5, .move = MOVE_REQUEUE, .queue = "", .jobs = &job, .n_jobs = 1};
    site_stage_message(&stage, &ana, &msg);
    site_stage_exited(&stage, "s1", attempt, 130); /* the first that is heard of it */
    assert_told("1 start s1=1; 1 run_end; 1 requeue (requeued by ana); "
                "1 dispatch s1=1");
}

static void test_nothing_twice_after_a_restart(void **state)
{
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    assert_told("1 start s1=1");
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_host_synced(&stage, "s1");
    assert_told("");
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_told("1 end");
}

static void test_waiting_job_is_stopped_and_killed(void **state)
{
    (void)state;
    site_stage_submit(&stage, "local", "work"); /* there is no host */
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_told("1 submit; 1 suspend (by its user or an administrator); 1 resume; "
                "1 end (killed by ana before it began)");
}

static void test_kill_is_told_before_the_end(void **state)
{
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    (void)state;
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_told("1 start s1=1; 1 kill (killed by ana)");
}

static void test_refusals_are_told_once(void **state)
{
    struct msg_attempt_state refused = {.state = ATTEMPT_REFUSED, .reason = "frozen"};
    uint64_t id;
    (void)state;
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    id = site_stage_submit(&stage, "lease", "work");
    assert_told("1 submit");
    for (int i = 0; i < 2; i++) { /* another contract: at once again */
        site_stage_attempt(&stage, site_stage_attempt_of(&stage, id), &refused);
        assert_told(i == 0 ? "1 requeue (refused by north/spare/south: frozen)" : "");
        site_stage_contract(&stage, (uint64_t)i + 2, LEASE_ACTIVE, 1, true);
    }
    refused.reason = "no slot";
    site_stage_attempt(&stage, site_stage_attempt_of(&stage, id), &refused);
    assert_told("1 requeue (refused by north/spare/south: no slot)");
    site_stage_contract(&stage, 9, LEASE_ACTIVE, 1, true);
    site_stage_attempt_is(&stage, site_stage_attempt_of(&stage, id), ATTEMPT_TAKEN);
    assert_told("1 dispatch n1@north=1; 1 accept");
    site_stage_attempt_is(&stage, site_stage_attempt_of(&stage, id), ATTEMPT_RUNNING);
    assert_told("1 start n1@north=1");
}

/* At a site with preemption, where a suspended job gives its slots away. */
static uint64_t start_one(void)
{
    site_stage_release(&stage);
    site_stage_init_text(&stage, "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                 "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                                 "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 1\n"
                                 "POST_EXEC = x\nEnd Queue\n"
                                 "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 9\n"
                                 "PREEMPTION = PREEMPTIVE\nEnd Queue\n");
    stage.told = "";
    uint64_t id = start_own();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_waiting(&stage, "s1", attempt, 7);
    site_stage_running(&stage, "s1", attempt, 7);
    assert_told("1 start s1=1");
    return id;
}

static uint64_t stop_one(void)
{
    uint64_t id = start_one();
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    struct msg_run_state still = {.phase = RUN_SUSPENDED,
                                  .token = 7,
                                  .start_ms = stage.now_ms,
                                  .control_done = 1};
    site_stage_run_state(&stage, "s1", "south", attempt, &still);
    assert_told("1 suspend (by its user or an administrator)");
    return id;
}

static void test_killed_where_it_stands(void **state)
{
    uint64_t id = stop_one();
    (void)state;
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_told("1 kill (killed by ana)");
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, id), 137);
    assert_told("1 end (killed by ana)");
}

/* Another has its slot: nobody has preempted it. */
static void test_resumed_without_slots(void **state)
{
    (void)state;
    stop_one();
    site_stage_submit(&stage, "local", "other");
    assert_told("2 submit; 2 dispatch s1=1");
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_told("1 suspend (waiting for its slots)");
    assert_non_null(
        strstr(site_stage_job_text(&stage, 1, "reason"), "other jobs use its slots"));
}

/* Its host has not suspended it yet, so that its slots are still its own. */
static void test_resumed_before_it_is_suspended(void **state)
{
    (void)state;
    uint64_t id = start_one();
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_int_equal(site_stage_job_row(&stage, id)->suspension.causes, 0);
    const struct msg *msg = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_non_null(msg);
    assert_int_equal(msg->run_control.control.action, CONTROL_RESUME);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_life),
        TEST(test_end_is_the_first_news),
        TEST(test_unknown),
        TEST(test_requeued),
        TEST(test_nothing_twice_after_a_restart),
        TEST(test_waiting_job_is_stopped_and_killed),
        TEST(test_kill_is_told_before_the_end),
        TEST(test_refusals_are_told_once),
        TEST(test_killed_where_it_stands),
        TEST(test_resumed_without_slots),
        TEST(test_resumed_before_it_is_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
