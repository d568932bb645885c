/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing runs twice: a site that is killed at each point of a run's life, hosts that
 * are lost, come back, know more or less than the journal does. A go is the one message
 * that begins a command, so goes are what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/site/site_stage.h"

enum { TOKEN = 7 };

static uint64_t start_job(struct site_stage *stage, bool is_rerunnable, uint64_t *id)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.is_rerunnable = is_rerunnable;
    site_stage_host_up(stage, "s1");
    *id = site_stage_submit_spec(stage, "ana", &spec);
    return site_stage_attempt_of(stage, *id);
}

/* The host comes back in a new session; what it lists is for the caller to say. */
static void hello_again(struct site_stage *stage)
{
    stage->host_session++;
    site_stage_host_hello(stage, "s1");
}

/* Another host has heard of this journal's first commit: it is no copy. */
static void vouch(struct site_stage *stage)
{
    struct peer from = site_stage_host("s2");
    struct msg msg = {.kind = MSG_HOST_HELLO, .session = ++stage->host_session};
    msg.site = "";
    msg.host_hello = (struct msg_host_hello){
        .name = "s2", .boot_id = "boot", .mark = {.commits = 1}};
    site_stage_message(stage, &from, &msg);
}

static void says_unknown(struct site_stage *stage, uint64_t attempt)
{
    site_stage_run_state(stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = RUN_UNKNOWN});
}

/* Killed after the attempt was taken, before anybody answered: asked for again under
 * the same number, whether the host has the guard or not. */
static void test_taken(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    assert_null(
        site_stage_run_row(&stage, "south", attempt)); /* the job's has it all */
    assert_true(site_stage_job_row(&stage, id)->is_taken);
    site_stage_restart(&stage);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
    hello_again(&stage);
    site_stage_host_synced(&stage, "s1"); /* START never arrived */
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_int_equal(start->run_start.run.attempt, attempt);
    assert_string_equal(start->run_start.spec.command, "work"); /* from the journal */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 1);
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);          /* it did */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0); /* not ready yet */
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->token, TOKEN);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, TOKEN);
    site_stage_release(&stage);
}

/* What the job's state alone says of its run ends with the first row of that. */
static void test_taken_and_ordered(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->control.number, 1);
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 1);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    assert_int_equal(
        site_stage_sent(&stage, MSG_RUN_CONTROL, 0)->run_control.run.attempt, attempt);
    assert_false(site_stage_job_row(&stage, id)->is_taken);
    site_stage_release(&stage);
}

/* An end that is on record is one, whatever was taken before. */
static void test_taken_and_killed(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, true, &id);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_null(site_stage_run_row(&stage, "south", attempt));
    assert_false(site_stage_job_row(&stage, id)->is_taken);
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_waiting(&stage, "s1", attempt, TOKEN); /* its guard had come up */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

/* Its host is gone over a restart: the run is lost without a beginning, and the job
 * waits again. */
static void test_taken_and_host_lost(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_restart(&stage);
    vouch(&stage);
    site_stage_pass(&stage, 61000);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    assert_int_equal(site_stage_job_row(&stage, id)->attempt, 0);
    assert_false(site_stage_job_row(&stage, id)->is_taken);
    hello_again(&stage);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt + 1);
    site_stage_release(&stage);
}

/* Killed between the host's word that a guard waits and the commit: the word is said
 * again, and only then there is a go. */
static void test_before_commit(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    struct peer host = site_stage_host("s1");
    struct msg msg = {.kind = MSG_RUN_STATE, .session = stage.host_session, .site = ""};
    msg.run_state = (struct msg_run_state){.run = {"south", attempt},
                                           .phase = RUN_WAITING,
                                           .token = TOKEN,
                                           .exit = {.text = ""}};
    site_stage_lose_message(&stage, &host, &msg);
    assert_null(site_stage_run_row(&stage, "south", attempt));
    assert_true(site_stage_job_row(&stage, id)->is_taken);
    hello_again(&stage);
    site_stage_waiting(&stage, "s1", attempt, TOKEN + 1); /* that guard had given up */
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, TOKEN + 1);
    site_stage_release(&stage);
}

/* Killed after the commit, before the go left: the guard still waits and gets it. */
static void test_before_go(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, TOKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_release(&stage);
}

static void test_running(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_restart(&stage);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN); /* as recorded */
    hello_again(&stage);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_exited(&stage, "s1", attempt, 0); /* it ended while we were away */
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_restart(&stage); /* the end was on record, its forgetting was lost */
    hello_again(&stage);
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

/* The token is on record, and another guard shows up: the first may have begun. */
static void test_other_token(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_waiting(&stage, "s1", attempt, TOKEN + 1);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    assert_true(site_stage_count(&stage, MSG_RUN_FORGET) >= 1);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"),
                        "lost: its guard has died");
    site_stage_release(&stage);
}

/* What becomes of a job whose run no longer exists: by how far it had come,
 * whether the machine was booted, and whether it is rerunnable. */
static void test_lost(void **state)
{
    static const struct {
        const char *why;
        bool has_go, has_run, is_restarted, is_rerunnable;
        enum job_state state;
    } rows[] = {
        {"running, and gone: nobody knows what it did", true, true, false, false,
         JOB_EXIT},
        {"running, rerunnable", true, true, false, true, JOB_PEND},
        {"had its go, and the host has no trace of it in the same boot: it never began",
         true, false, false, false, JOB_PEND},
        {"the same, but a restart has forgotten which boot that was", true, false, true,
         false, JOB_EXIT},
        {"and rerunnable", true, false, true, true, JOB_PEND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        uint64_t id;
        site_stage_init(&stage);
        uint64_t attempt = start_job(&stage, rows[i].is_rerunnable, &id);
        site_stage_waiting(&stage, "s1", attempt, TOKEN);
        if (rows[i].has_run) {
            site_stage_running(&stage, "s1", attempt, TOKEN);
        }
        if (rows[i].is_restarted) {
            site_stage_restart(&stage);
        }
        hello_again(&stage);
        site_stage_host_synced(&stage, "s1"); /* not listed: the host is asked ... */
        assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, TOKEN);
        assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
        says_unknown(&stage, attempt); /* ... and says so itself */
        bool is_again = site_stage_attempt_of(&stage, id) > attempt;
        if (site_stage_state(&stage, id) != rows[i].state ||
            is_again != (rows[i].state == JOB_PEND)) {
            fail_msg("%s: state %d", rows[i].why, (int)site_stage_state(&stage, id));
        }
        assert_null(site_stage_run_row(&stage, "south", attempt));
        site_stage_release(&stage);
    }
}

/* An inventory that lost a message proves nothing. */
static void test_silence_is_no_loss(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, true, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    hello_again(&stage);
    site_stage_host_synced(&stage, "s1");
    site_stage_pass(&stage, 10000);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_pass(&stage, 4000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    site_stage_release(&stage);
}

/* A run whose end is on record, and which its host has forgotten to forget. */
static void test_given_up(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_exited(&stage, "s1", attempt, 0);
    hello_again(&stage);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_int_equal(order->run_control.control.action, CONTROL_KILL);
    uint64_t number = order->run_control.control.number;
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){.phase = RUN_RUNNING, .control_done = number});
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0); /* it is dying */
    site_stage_exited(&stage, "s1", attempt, 1);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    site_stage_release(&stage);
}

/* ---------------------------------------------------------------- hosts that are lost
 */

static void test_host_away_and_back(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_pass(&stage, 14000);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_pass(&stage, 2000);
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    uint64_t other = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, other), 0);
    assert_int_equal(site_stage_control(&stage, "ana", "1", CONTROL_SUSPEND, 0)->code,
                     0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0); /* to nobody */

    site_stage_host_alive(&stage, "s1"); /* the same session goes on */
    assert_int_equal(site_stage_count(&stage, MSG_HOST_PONG), 1);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 1); /* how is it? */
    site_stage_running(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    site_stage_pass(&stage, 2500);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL),
                     1); /* the order waited */
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, other), 0);
    site_stage_release(&stage);
}

/* A run without a go can be given up at once; its guard, should there be one, later. */
static void test_host_away_taken(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_pass(&stage, 10000);
    stage.host_session++;
    site_stage_host_up(&stage, "s2");
    stage.host_session--;
    site_stage_pass(&stage, 6000);
    uint64_t again = site_stage_attempt_of(&stage, id);
    assert_true(again > attempt); /* on s2 now */
    assert_null(site_stage_run_row(&stage, "south", attempt));
    stage.host_session += 2;
    site_stage_host_hello(&stage, "s1");
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    site_stage_release(&stage);
}

static void test_sessions(void **state)
{
    struct site_stage stage;
    struct peer other = {.kind = PEER_HOST, .name = "s1", .link = 77};
    struct msg msg = {.kind = MSG_HOST_HELLO, .session = 5, .site = ""};
    (void)state;
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1"); /* session 1000 */
    msg.host_hello.name = "s1";
    msg.host_hello.boot_id = "b";
    site_stage_message(&stage, &other, &msg);
    const struct msg *answer = site_stage_sent(&stage, MSG_HOST_WELCOME, 0);
    assert_false(answer->welcome.is_accepted);
    assert_int_equal(answer->welcome.min_session, 1000);
    msg.session = 1001;
    site_stage_message(&stage, &other, &msg);
    assert_true(site_stage_sent(&stage, MSG_HOST_WELCOME, 0)->welcome.is_accepted);
    site_stage_host_alive(&stage, "s1"); /* the old one counts for nothing */
    answer = site_stage_sent(&stage, MSG_ERROR, 0);
    assert_int_equal(answer->error.code, ERR_STALE);
    assert_int_equal(answer->session, 1000);
    assert_int_equal(site_stage_count(&stage, MSG_HOST_PONG), 0);
    msg.host_hello.name = "s9";
    site_stage_message(&stage, &other, &msg);
    assert_false(site_stage_sent(&stage, MSG_HOST_WELCOME, 0)->welcome.is_accepted);
    site_stage_release(&stage);
}

/* The kill is on record, the guard has not had its go in this life: it never will. */
static void test_killed_before_go(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND); /* the go is on its way */
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_GO), 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_string_equal(site_stage_job_text(&stage, id, "reason"), "killed by ana");
    site_stage_release(&stage);
}

/* A host that was taken out while the daemon was down: it may come back to tell of its
 * runs. While it does not they are given up or unknown, and a kill ends the latter. */
static void test_host_removed(void **state)
{
    struct site_stage stage;
    uint64_t id, second;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    second = site_stage_submit(&stage, "local", "work"); /* taken on s1 too */
    stage.config.hosts++;
    stage.config.n_hosts--;
    site_stage_restart(&stage);
    vouch(&stage);
    site_stage_pass(&stage, 15000);
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    assert_int_equal(site_stage_state(&stage, second), JOB_PEND);
    assert_int_equal(site_stage_attempt_of(&stage, second), 0);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    site_stage_release(&stage);
}

static void test_host_removed_comes_back_to_tell(void **state)
{
    struct site_stage stage;
    uint64_t id;
    (void)state;
    site_stage_init(&stage);
    uint64_t attempt = start_job(&stage, false, &id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    stage.config.hosts++;
    stage.config.n_hosts--;
    site_stage_restart(&stage);
    hello_again(&stage);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
    uint64_t next = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, next), 0); /* not on that host */
    site_stage_exited(&stage, "s1", attempt, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_DONE);
    site_stage_release(&stage);
}

/* The host does the job's latest order. */
static void expect_suspended(struct site_stage *stage, uint64_t id)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    assert_int_equal(row->control.action, CONTROL_SUSPEND);
    site_stage_run_state(stage, "s1", "south", row->attempt,
                         &(struct msg_run_state){.phase = RUN_SUSPENDED,
                                                 .token = TOKEN,
                                                 .start_ms = 100000,
                                                 .control_done = row->control.number});
}

/* Killed when one job has been told to make room for another. The host lists what
 * is suspended there, and in the next batch that this was all: meanwhile nothing can
 * begin there, and a suspended job is not resumed to be preempted anew. */
static void test_preempted(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage,
                         "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                         "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                         "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 90\nPREEMPTION = "
                         "PREEMPTIVE\nEnd Queue\n"
                         "Begin Queue\nQUEUE_NAME = low\nPRIORITY = 10\nEnd Queue\n");
    site_stage_host_up(&stage, "s1");
    uint64_t low = site_stage_submit(&stage, "low", "work");
    site_stage_waiting(&stage, "s1", site_stage_attempt_of(&stage, low), TOKEN);
    site_stage_running(&stage, "s1", site_stage_attempt_of(&stage, low), TOKEN);
    uint64_t high = site_stage_submit(&stage, "high", "work");

    site_stage_restart(&stage);
    hello_again(&stage);
    expect_suspended(&stage, low);
    assert_int_equal(site_stage_state(&stage, low), JOB_SSUSP);
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_SUSPEND);
    site_stage_host_synced(&stage, "s1");
    assert_int_not_equal(site_stage_attempt_of(&stage, high), 0);
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_SUSPEND);
    assert_int_equal(site_stage_job_int(&stage, low, "preemptions"), 1);
    site_stage_release(&stage);
}

#define SPARE                                                                          \
    "Begin HostExport\nNAME = spare\nPER_HOST = s1\nSLOTS = 1\n"                       \
    "DISTRIBUTION = ([east, 1])\nEnd HostExport\n"
#define SHARED                                                                         \
    "Begin HostExport\nNAME = spare\nPER_HOST = s1\nSLOTS = 1\nTYPE = shared\n"        \
    "DISTRIBUTION = ([east, 1])\nEnd HostExport\n"

/* A suspended job of three of the four slots of s1, the job of one slot that preempted
 * it, and an idle slot that is lent. Then the site gets other hosts, at a restart or
 * while it runs, and that job exits. */
static uint64_t change_with_suspended(struct site_stage *stage, bool is_restarted,
                                      const char *hosts)
{
    static const char site[] =
        "Begin Site\nNAME = south\nSPOOL = /s\nBROKER = tcp://b:1\nKEY = k\n"
        "BROKER_KEY = b\nLEASE_USER = guest\nEnd Site\n"
        "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 90\nPREEMPTION = PREEMPTIVE\n"
        "End Queue\nBegin Queue\nQUEUE_NAME = low\nPRIORITY = 10\nEnd Queue\n"
        "Begin Host\nHOST_NAME MXJ\n";
    struct job_spec spec = site_stage_spec("low", "work");
    char text[2048];
    snprintf(text, sizeof(text), "%ss1 4\nEnd Host\n" SPARE, site);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
    spec.n_slots = 3;
    uint64_t low = site_stage_submit_spec(stage, "ana", &spec);
    site_stage_waiting(stage, "s1", site_stage_attempt_of(stage, low), TOKEN);
    site_stage_running(stage, "s1", site_stage_attempt_of(stage, low), TOKEN);
    uint64_t high = site_stage_submit(stage, "high", "work");
    expect_suspended(stage, low);
    uint64_t attempt = site_stage_attempt_of(stage, high);
    assert_int_not_equal(attempt, 0);
    site_stage_waiting(stage, "s1", attempt, TOKEN);
    site_stage_running(stage, "s1", attempt, TOKEN);
    snprintf(text, sizeof(text), "%s%s", site, hosts);
    if (is_restarted) {
        site_stage_restart_text(stage, text);
        hello_again(stage);
        site_stage_running(stage, "s1", attempt, TOKEN);
        expect_suspended(stage, low);
        site_stage_host_synced(stage, "s1");
    } else {
        assert_true(site_stage_reload(stage, text));
    }
    assert_int_equal(site_stage_job_row(stage, low)->control.action, CONTROL_SUSPEND);
    site_stage_exited(stage, "s1", attempt, 0);
    site_stage_pass(stage, 1000);
    return low;
}

/* A suspended job resumes once nothing runs on its host, although the host is not
 * configured any more, so that nobody knows how many slots it had. */
static void test_resumes_on_a_removed_host(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t low = change_with_suspended(&stage, true, "s2 3\nEnd Host\n");
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_RESUME);
    site_stage_release(&stage);
}

/* So does a job with more slots than its host has by now, although one is lent: that
 * one would not be enough. */
static void test_resumes_on_a_lent_host_that_shrank(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t low = change_with_suspended(&stage, false, "s1 2\nEnd Host\n" SPARE);
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_RESUME);
    site_stage_release(&stage);
}

/* One with as many slots as its host waits for a slot of a shared lease, which returns.
 */
static void test_waits_for_a_lent_slot(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t low = change_with_suspended(&stage, false, "s1 3\nEnd Host\n" SHARED);
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_SUSPEND);
    site_stage_release(&stage);
}

/* A slot of an exclusive lease does not return: the job resumes alone. */
static void test_resumes_beside_a_slot_that_is_lent_for_good(void **state)
{
    struct site_stage stage;
    (void)state;
    uint64_t low = change_with_suspended(&stage, false, "s1 3\nEnd Host\n" SPARE);
    assert_int_equal(site_stage_job_row(&stage, low)->control.action, CONTROL_RESUME);
    site_stage_release(&stage);
}

/* A host that was just given a job rests on (JOB_ACCEPT_INTERVAL). */
static void test_rests(void **state)
{
    static const char text[] =
        "Begin Site\nNAME = south\nBROKER = tcp://b:1\nKEY = k\nBROKER_KEY = b\n"
        "SPOOL = /s\nEnd Site\n"
        "Begin Host\nHOST_NAME MXJ\ns1 4\nEnd Host\n"
        "Begin Queue\nQUEUE_NAME = local\nJOB_ACCEPT_INTERVAL = 60s\nEnd Queue\n";
    struct site_stage stage;
    uint64_t first;
    (void)state;
    site_stage_init_text(&stage, text);
    uint64_t attempt = start_job(&stage, false, &first);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    uint64_t second = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, second), 0);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    assert_string_equal(site_stage_job_text(&stage, second, "pending"), "accept");
    assert_int_equal(site_stage_attempt_of(&stage, second), 0);
    site_stage_restart(&stage);
    stage.now_ms += 60000; /* it was down for so long */
    site_stage_host_up(&stage, "s1");
    assert_int_not_equal(site_stage_attempt_of(&stage, second), 0);
    site_stage_release(&stage);
}

static bool is_on_record(const struct site_stage *stage, uint64_t id)
{
    const struct row_job_state *row = site_stage_job_row(stage, id);
    return row != NULL && !row->is_gone;
}

/* The clock of a restart is far from the journal: nobody can tell whether the site was
 * down or the clock is wrong, so that ended jobs are as old as this run of the daemon.
 */
static void test_a_clock_that_jumps(void **state)
{
    enum { DAY_MS = 24 * 3600 * 1000, CLEAN_MS = 3600 * 1000 };
    static const struct {
        const char *why;
        int64_t jump_ms;
        bool is_kept;
    } rows[] = {
        {"half a day: the site was down", DAY_MS / 2, false},
        {"two days", 2LL * DAY_MS, true},
        {"ten years", 3650LL * DAY_MS, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        uint64_t id;
        site_stage_init(&stage);
        uint64_t attempt = start_job(&stage, false, &id);
        site_stage_waiting(&stage, "s1", attempt, TOKEN);
        site_stage_run_state(&stage, "s1", "south", attempt,
                             &(struct msg_run_state){.phase = RUN_ENDED,
                                                     .exit = {.end = RUN_END_EXITED,
                                                              .start_ms = stage.now_ms,
                                                              .end_ms = stage.now_ms}});
        assert_true(is_on_record(&stage, id));
        stage.now_ms += rows[i].jump_ms;
        site_stage_restart(&stage);
        site_stage_pass(&stage, 1000);
        if (is_on_record(&stage, id) != rows[i].is_kept) {
            fail_msg("%s: %d", rows[i].why, !rows[i].is_kept);
        }
        site_stage_pass(&stage, CLEAN_MS);
        assert_false(is_on_record(&stage, id));
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_that_jumps),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_taken_and_ordered),
        cmocka_unit_test(test_taken_and_killed),
        cmocka_unit_test(test_taken_and_host_lost),
        cmocka_unit_test(test_before_commit),
        cmocka_unit_test(test_before_go),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_other_token),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_silence_is_no_loss),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_host_away_and_back),
        cmocka_unit_test(test_host_away_taken),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_killed_before_go),
        cmocka_unit_test(test_host_removed),
        cmocka_unit_test(test_host_removed_comes_back_to_tell),
        cmocka_unit_test(test_preempted),
        cmocka_unit_test(test_resumes_on_a_removed_host),
        cmocka_unit_test(test_resumes_on_a_lent_host_that_shrank),
        cmocka_unit_test(test_waits_for_a_lent_slot),
        cmocka_unit_test(test_resumes_beside_a_slot_that_is_lent_for_good),
        cmocka_unit_test(test_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
