/* SPDX-License-Identifier: Apache-2.0 */
/* Suspended jobs that are to end: the commands after them run in slots of their
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <signal.h>

#include "tests/unit/site/site_stage.h"

enum { TOKEN = 7 };

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nBROKER = tcp://127.0.0.1:1\n"
    "KEY = k\nBROKER_KEY = b\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
    "Begin Parameters\n%s\nEnd Parameters\n"
    "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 90\nPREEMPTION = PREEMPTIVE\n"
    "HOSTS = %s\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 10\n%s\nHOSTS = %s\nEnd Queue\n";

static void init(struct site_stage *stage, const char *parameters, const char *queue,
                 const char *hosts)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, parameters, hosts, queue, hosts);
    site_stage_init_text(stage, text);
}

/* What its host says of the job's run; its orders are carried out. */
static void host_says(struct site_stage *stage, uint64_t id, enum run_phase phase)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    site_stage_run_state(stage, "s1", "south", row->attempt,
                         &(struct msg_run_state){.phase = phase,
                                                 .token = TOKEN,
                                                 .start_ms = 100000,
                                                 .control_done = row->control.number,
                                                 .exit = {.text = ""}});
}

static void begins(struct site_stage *stage, uint64_t id)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    assert_int_not_equal(attempt, 0);
    site_stage_waiting(stage, "s1", attempt, TOKEN);
    site_stage_running(stage, "s1", attempt, TOKEN);
}

static void ends(struct site_stage *stage, uint64_t id, int code)
{
    site_stage_exited(stage, "s1", site_stage_attempt_of(stage, id), code);
}

static void assert_ordered(const struct site_stage *stage, uint64_t id,
                           enum control_action action, int signal)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    assert_int_equal(row->control.action, action);
    assert_int_equal(row->control.signal, signal);
}

/* "low" is suspended for "high", which runs. */
static void preempt(struct site_stage *stage, const char *parameters, const char *queue,
                    uint64_t *low, uint64_t *high)
{
    init(stage, parameters, queue, "all");
    site_stage_host_up(stage, "s1");
    *low = site_stage_submit(stage, "low", "work");
    begins(stage, *low);
    *high = site_stage_submit(stage, "high", "work");
    host_says(stage, *low, RUN_SUSPENDED);
    begins(stage, *high);
    assert_int_equal(site_stage_state(stage, *low), JOB_SSUSP);
}

/* It waits for its slot, goes on in it, and is ended there by the usual signals. */
static void test_waits_for_its_slot(void **state)
{
    struct site_stage stage;
    uint64_t low, high;
    (void)state;
    preempt(&stage, "", "POST_EXEC = after", &low, &high);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    assert_string_equal(site_stage_job_text(&stage, low, "reason"),
                        "killed by ana; ends as soon as it has its slots back, since "
                        "commands run after it");
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0); /* once more: no news */
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    site_stage_control(&stage, "ana", "1", CONTROL_RESUME, 0);
    assert_string_equal(site_stage_reply(&stage)->text,
                        "Job <1>: job is being terminated");
    uint64_t next = site_stage_submit(&stage, "low", "work");
    site_stage_pass(&stage, 3000);
    ends(&stage, high, 0);
    assert_ordered(&stage, low, CONTROL_RESUME, 0);
    assert_int_equal(site_stage_attempt_of(&stage, next), 0);
    host_says(&stage, low, RUN_RUNNING);
    assert_ordered(&stage, low, CONTROL_KILL, 0);
    assert_int_equal(site_stage_attempt_of(&stage, next), 0);
    ends(&stage, low, 130);
    assert_int_equal(site_stage_state(&stage, low), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, low, "reason"), "killed by ana");
    assert_int_not_equal(site_stage_attempt_of(&stage, next), 0);
    site_stage_release(&stage);
}

/* Not for ever: then where it stands, and nothing begins beside its commands. */
static void test_patience(void **state)
{
    static const struct {
        const char *parameters;
        int64_t patience_ms;
    } rows[] = {{"", 600000}, {"JOB_POSTPROC_TIMEOUT = 3", 180000}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        uint64_t low, high;
        preempt(&stage, rows[i].parameters, "POST_EXEC = after", &low, &high);
        site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
        site_stage_pass(&stage, rows[i].patience_ms - 1000);
        assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
        site_stage_pass(&stage, 2000);
        assert_ordered(&stage, low, CONTROL_KILL, SIGKILL);
        uint64_t next = site_stage_submit(&stage, "low", "work");
        ends(&stage, high, 0);
        assert_int_equal(site_stage_attempt_of(&stage, next), 0);
        ends(&stage, low, 137);
        assert_int_not_equal(site_stage_attempt_of(&stage, next), 0);
        site_stage_release(&stage);
    }
}

/* Who says SIGKILL gets it, also after the fact. */
static void test_sigkill_waits_for_nothing(void **state)
{
    (void)state;
    for (int is_second = 0; is_second < 2; is_second++) {
        struct site_stage stage;
        uint64_t low, high;
        preempt(&stage, "", "POST_EXEC = after", &low, &high);
        if (is_second) {
            site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
        }
        site_stage_control(&stage, "ana", "1", CONTROL_SIGNAL, SIGKILL);
        assert_ordered(&stage, low, CONTROL_KILL, SIGKILL);
        site_stage_release(&stage);
    }
}

/* Nothing is to run after it: where it stands, at once. */
static void test_nothing_after_it(void **state)
{
    struct site_stage stage;
    uint64_t low, high;
    (void)state;
    preempt(&stage, "", "", &low, &high);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_ordered(&stage, low, CONTROL_KILL, SIGKILL);
    site_stage_release(&stage);
}

/* Its slots are its own as long as it is not suspended yet. */
static void test_being_stopped(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, "", "POST_EXEC = after", "all");
    site_stage_host_up(&stage, "s1");
    uint64_t low = site_stage_submit(&stage, "low", "work");
    begins(&stage, low);
    uint64_t high = site_stage_submit(&stage, "high", "work");
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_ordered(&stage, low, CONTROL_KILL, SIGKILL);
    assert_int_equal(site_stage_attempt_of(&stage, high), 0);
    ends(&stage, low, 137);
    assert_int_not_equal(site_stage_attempt_of(&stage, high), 0);
    site_stage_release(&stage);
}

/* One that its user has stopped besides: nothing but its slot is missing then. */
static void test_stopped(void **state)
{
    struct site_stage stage;
    uint64_t low, high;
    (void)state;
    preempt(&stage, "", "POST_EXEC = after", &low, &high);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_state(&stage, low), JOB_USUSP);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_state(&stage, low), JOB_SSUSP);
    ends(&stage, high, 0);
    assert_ordered(&stage, low, CONTROL_RESUME, 0);
    site_stage_release(&stage);
}

/* Its run ends in its slot, and it waits again. */
static void test_requeued(void **state)
{
    struct site_stage stage;
    struct peer ana = site_stage_user("ana");
    const char *job = "1";
    struct msg msg = {.kind = MSG_JOB_MOVE, .site = ""};
    uint64_t low, high;
    (void)state;
    preempt(&stage, "", "POST_EXEC = after", &low, &high);
    msg.job_move = (struct msg_job_move){
        .request = 5, .move = MOVE_REQUEUE, .queue = "", .jobs = &job, .n_jobs = 1};
    site_stage_message(&stage, &ana, &msg);
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    ends(&stage, high, 0);
    assert_ordered(&stage, low, CONTROL_RESUME, 0);
    host_says(&stage, low, RUN_RUNNING);
    assert_ordered(&stage, low, CONTROL_KILL, 0);
    uint64_t attempt = site_stage_attempt_of(&stage, low);
    ends(&stage, low, 130);
    assert_int_not_equal(site_stage_attempt_of(&stage, low), attempt);
    assert_false(site_stage_job_row(&stage, low)->is_killed);
    site_stage_release(&stage);
}

/* The wish is on record, and the wait begins anew. */
static void test_restart(void **state)
{
    struct site_stage stage;
    uint64_t low, high;
    (void)state;
    preempt(&stage, "", "POST_EXEC = after", &low, &high);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    host_says(&stage, low, RUN_SUSPENDED);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, high), TOKEN);
    site_stage_host_synced(&stage, "s1");
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    ends(&stage, high, 0);
    assert_ordered(&stage, low, CONTROL_RESUME, 0);
    /* And between its going on and its end. */
    site_stage_restart(&stage);
    site_stage_host_hello(&stage, "s1");
    host_says(&stage, low, RUN_RUNNING);
    site_stage_host_synced(&stage, "s1");
    assert_ordered(&stage, low, CONTROL_KILL, 0);
    site_stage_release(&stage);
}

static void attempt_is(struct site_stage *stage, uint64_t id, enum attempt_state state)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    site_stage_attempt(stage, row->attempt,
                       &(struct msg_attempt_state){.state = state,
                                                   .start_ms = 50,
                                                   .control_done = row->control.number,
                                                   .exit = {.text = ""}});
}

/* The same on a borrowed slot. */
static void test_on_a_lease(void **state)
{
    struct site_stage stage;
    (void)state;
    init(&stage, "", "POST_EXEC = after", "allremote");
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 1, true);
    uint64_t low = site_stage_submit(&stage, "low", "work");
    attempt_is(&stage, low, ATTEMPT_RUNNING);
    uint64_t high = site_stage_submit(&stage, "high", "work");
    attempt_is(&stage, low, ATTEMPT_SUSPENDED);
    attempt_is(&stage, high, ATTEMPT_RUNNING);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_ordered(&stage, low, CONTROL_SUSPEND, 0);
    attempt_is(&stage, high, ATTEMPT_ENDED);
    assert_ordered(&stage, low, CONTROL_RESUME, 0);
    attempt_is(&stage, low, ATTEMPT_RUNNING);
    assert_ordered(&stage, low, CONTROL_KILL, 0);
    attempt_is(&stage, low, ATTEMPT_ENDED);
    assert_int_equal(site_stage_state(&stage, low), JOB_EXIT);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_its_slot),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_sigkill_waits_for_nothing),
        cmocka_unit_test(test_nothing_after_it),
        cmocka_unit_test(test_being_stopped),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_requeued),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_on_a_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
