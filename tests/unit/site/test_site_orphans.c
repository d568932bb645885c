/* SPDX-License-Identifier: Apache-2.0 */
/* A journal that is older than what others know: no number is used again, runs that it
 * does not have are kept until an administrator decides, and no run is taken for that
 * of another job. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "tests/unit/site/site_stage.h"

enum { TOKEN = 7, LOST = 900, FRESH = 901 };

static struct site_stage stage;

static int set_up(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof(stage));
    site_stage_init(&stage);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    site_stage_release(&stage);
    return 0;
}

/* ---------------------------------------------------------------- what others say */

static void host_message(const char *host, struct msg *msg)
{
    struct peer from = site_stage_host(host);
    msg->session = stage.host_session;
    msg->site = "";
    site_stage_message(&stage, &from, msg);
}

static void hello(uint64_t commits, uint64_t attempt, uint64_t job)
{
    struct msg msg = {.kind = MSG_HOST_HELLO};
    stage.host_session++;
    msg.host_hello = (struct msg_host_hello){
        .name = "s1",
        .boot_id = "boot-1",
        .knows_nonces = true,
        .mark = {.commits = commits, .attempt = attempt, .job = job}};
    host_message("s1", &msg);
}

/* RUN_FOUND, and RUN_STATE with the phase. */
static void found(uint64_t attempt, const char *job, enum run_phase phase)
{
    const struct host_slots slots = {"s1", 1};
    struct msg msg = {.kind = MSG_RUN_FOUND};
    msg.run_start = (struct msg_run_start){.run = {"south", attempt, LOST},
                                           .job = job,
                                           .lease = "",
                                           .hosts = &slots,
                                           .n_hosts = 1,
                                           .spec = site_stage_spec("local", "old work"),
                                           .account = ""};
    msg.run_start.spec.user = "eva";
    host_message("s1", &msg);
    stage.nonce = LOST;
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){.phase = phase, .token = TOKEN, .start_ms = 500});
}

static void synced(void)
{
    site_stage_host_synced(&stage, "s1");
    stage.nonce = FRESH;
}

static const struct msg_reply *decide(const char *user, enum orphan_order order,
                                      uint64_t attempt)
{
    struct peer from = site_stage_user(user);
    struct msg msg = {.kind = MSG_ORPHAN, .site = ""};
    msg.orphan = (struct msg_orphan){
        .request = ++stage.request, .order = order, .attempt = attempt, .host = ""};
    site_stage_message(&stage, &from, &msg);
    return site_stage_reply(&stage);
}

static const struct value *runs(void)
{
    struct msg_query query = {.kind = QUERY_RUNS};
    return value_find(site_stage_query(&stage, &query)->value, "runs");
}

/* A suspended run is not resumed to end: others may use its slots. */
static void a_suspended_orphan_is_ended_at_once(void **state)
{
    static const struct {
        enum run_phase phase;
        int signal;
    } rows[] = {{RUN_SUSPENDED, SIGKILL}, {RUN_RUNNING, 0}};
    (void)state;
    hello(50, 8, 30);
    for (int i = 0; i < 2; i++) {
        found((uint64_t)i + 3, i == 0 ? "7" : "8", rows[i].phase);
    }
    synced();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(decide("root", ORPHAN_END, (uint64_t)i + 3)->code, 0);
        const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
        assert_non_null(order);
        assert_int_equal(order->run_control.control.action, CONTROL_KILL);
        assert_int_equal(order->run_control.control.signal, rows[i].signal);
    }
}

/* ---------------------------------------------------------------- known runs */

/* The run of a job that is on record has grown since the copy of the journal was made:
 * its host tells of slots on another host, and nothing else starts on them. */
static void slots_of_a_run_that_has_grown_count(void **state)
{
    const struct host_slots slots[] = {{"s1", 1}, {"s2", 2}};
    struct msg msg = {.kind = MSG_RUN_FOUND};
    (void)state;
    site_stage_host_up(&stage, "s1");
    stage.nonce = FRESH;
    uint64_t id = site_stage_submit(&stage, "local", "work");
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_restart(&stage);
    hello(50, attempt, id);
    msg.run_start = (struct msg_run_start){.run = {"south", attempt, FRESH},
                                           .job = "1",
                                           .lease = "",
                                           .hosts = slots,
                                           .n_hosts = 2,
                                           .spec = site_stage_spec("local", "work"),
                                           .account = ""};
    host_message("s1", &msg);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->n_hosts, 2);
    synced();
    site_stage_host_up(&stage, "s2");
    const struct row_job_state *job = site_stage_job_row(&stage, id);
    assert_int_equal(job->n_hosts, 2);
    assert_string_equal(job->hosts[1].host, "s2");
    assert_int_equal(job->hosts[1].n_slots, 2);
    host_message("s1", &msg); /* once more: nothing is added */
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->hosts[1].n_slots, 2);
}

/* ---------------------------------------------------------------- numbers */

static void numbers_go_on_above_all_marks(void **state)
{
    (void)state;
    hello(50, 8, 30);
    synced();
    site_stage_host_up(&stage, "s2");
    site_stage_settle(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(id, 31);
    assert_int_equal(site_stage_attempt_of(&stage, id), 9);
    /* The counters are on record, and commits are counted on from there. */
    site_stage_restart(&stage);
    hello(50, 8, 30);
    synced();
    assert_int_equal(site_stage_submit(&stage, "local", "new work"), 32);
}

static void a_mark_of_the_broker_counts(void **state)
{
    (void)state;
    struct msg msg = {.kind = MSG_WELCOME};
    site_stage_pass(&stage, 1000);
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    msg.welcome = (struct msg_welcome){
        .is_accepted = true, .text = "", .mark = {.attempt = 4, .job = 5}};
    site_stage_broker(&stage, &msg);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    site_stage_settle(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(id, 6);
    assert_int_equal(site_stage_attempt_of(&stage, id), 5);
}

static void an_impossible_mark_is_ignored(void **state)
{
    (void)state;
    hello(0, INT64_MAX, 0);
    synced();
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 1);
}

static int64_t lost_attempts(void)
{
    site_stage_pass(&stage, 2500);
    const struct msg *usage = site_stage_sent(&stage, MSG_USAGE, 0);
    assert_non_null(usage);
    return (int64_t)usage->usage.lost.attempt;
}

static void the_loss_is_told_until_it_is_accepted(void **state)
{
    (void)state;
    site_stage_broker_up(&stage);
    hello(50, 8, 30);
    synced();
    assert_int_equal(lost_attempts(), 8);
    site_stage_restart(&stage);
    site_stage_broker_up(&stage);
    assert_int_equal(lost_attempts(), 8); /* a restart does not end it */
    assert_int_equal(decide("ana", ORPHAN_ACCEPT_LOSS, 0)->code, ERR_DENIED);
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, 0);
    assert_int_equal(lost_attempts(), 0);
}

/* ---------------------------------------------------------------- own hosts */

static void an_orphan_is_kept_and_uses_its_slot(void **state)
{
    (void)state;
    hello(0, 0, 0);
    found(3, "7", RUN_RUNNING);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    synced();
    assert_int_equal(site_stage_count(&stage, MSG_RUN_CONTROL), 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 0);
    assert_int_equal(runs()->count, 1);
    assert_string_equal(value_find(runs()->first, "job")->text, "7");
    assert_string_equal(value_find(runs()->first, "user")->text, "eva");
    /* s1 has two slots; those of s2 are taken. */
    struct job_spec two = site_stage_spec("local", "all of s2");
    two.n_slots = 2;
    stage.nonce = 0;
    site_stage_host_up(&stage, "s2");
    site_stage_settle(&stage);
    stage.nonce = FRESH;
    assert_int_equal(site_stage_submit_spec(&stage, "ana", &two), 8);
    uint64_t first = site_stage_submit(&stage, "local", "new work"),
             second = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(first, 9);
    assert_int_equal(site_stage_attempt_of(&stage, first), 5);
    assert_int_equal(site_stage_attempt_of(&stage, second), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_RUN), 0);
    /* It ends by itself: its slot is free, its end is kept. */
    stage.nonce = LOST;
    site_stage_exited(&stage, "s1", 3, 5);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, second), 0);
    assert_int_equal(runs()->count, 1);
}

static void an_adopted_run_is_a_job(void **state)
{
    (void)state;
    hello(0, 0, 0);
    found(3, "7", RUN_RUNNING);
    synced();
    assert_int_equal(decide("ana", ORPHAN_ADOPT, 3)->code, ERR_DENIED);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 4)->code, ERR_NOT_FOUND);
    assert_int_equal(site_stage_submit(&stage, "lease", "new work"), 8);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 3)->code, 0); /* below that one */
    assert_int_equal(site_stage_state(&stage, 8), JOB_PEND);
    assert_int_equal(runs()->count, 0);
    assert_int_equal(site_stage_state(&stage, 7), JOB_RUN);
    assert_string_equal(site_stage_job_text(&stage, 7, "user"), "eva");
    assert_string_equal(site_stage_run_row(&stage, "south", 3)->spec->command,
                        "old work");
    /* On record: it is the same run after a restart. */
    site_stage_restart(&stage);
    hello(0, 0, 0);
    found(3, "7", RUN_RUNNING);
    synced();
    assert_int_equal(runs()->count, 0);
    stage.nonce = LOST;
    site_stage_exited(&stage, "s1", 3, 5);
    assert_int_equal(site_stage_state(&stage, 7), JOB_EXIT);
    assert_int_equal(site_stage_job_int(&stage, 7, "exit_code"), 5);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
}

static void an_orphan_that_has_ended_is_adopted_with_its_end(void **state)
{
    (void)state;
    hello(0, 0, 0);
    found(3, "7[2]", RUN_RUNNING);
    site_stage_exited(&stage, "s1", 3, 5);
    synced();
    assert_int_equal(decide("root", ORPHAN_ADOPT, 3)->code, 0);
    assert_int_equal(site_stage_state(&stage, 7), JOB_EXIT);
    assert_int_equal(site_stage_job_int(&stage, 7, "exit_code"), 5);
}

static void an_orphan_is_ended_by_order_alone(void **state)
{
    (void)state;
    hello(0, 0, 0);
    found(3, "7", RUN_RUNNING);
    synced();
    assert_int_equal(decide("root", ORPHAN_END, 3)->code, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_RUN_CONTROL, 0);
    assert_non_null(order);
    assert_int_equal(order->run_control.control.action, CONTROL_KILL);
    assert_int_equal(order->run_control.run.nonce, LOST);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 3)->code, ERR_STATE);
    stage.nonce = LOST;
    site_stage_exited(&stage, "s1", 3, 137);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_FORGET), 1);
    assert_int_equal(runs()->count, 0);
}

/* Its host had not yet forgotten it when the site ended. */
static void an_orphan_that_was_ended_does_not_come_back(void **state)
{
    const struct msg_run_state end = {.phase = RUN_ENDED,
                                      .token = TOKEN,
                                      .start_ms = 500,
                                      .control_done = RUN_CONTROL_LAST,
                                      .exit = {.end = RUN_END_SIGNALLED, .code = 9}};
    (void)state;
    hello(50, 8, 30);
    found(3, "7", RUN_RUNNING);
    synced();
    assert_int_equal(decide("root", ORPHAN_END, 3)->code, 0);
    stage.nonce = LOST;
    site_stage_run_state(&stage, "s1", "south", 3, &end);
    assert_int_equal(runs()->count, 0);
    site_stage_restart(&stage);
    hello(50, 8, 30);
    found(3, "7", RUN_RUNNING);
    assert_int_equal(runs()->count, 1);
    site_stage_run_state(&stage, "s1", "south", 3, &end);
    assert_non_null(site_stage_sent(&stage, MSG_RUN_FORGET, 0));
    assert_int_equal(runs()->count, 0);
    synced();
}

/* The old run has the number of a new one: found on the same host, whose list of runs
 * came before the start. */
static void a_refused_start_gets_another_number(void **state)
{
    (void)state;
    hello(0, 0, 0);
    synced();
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 1);
    /* Running, as it seems, but with the nonce of another submission. */
    stage.nonce = LOST;
    site_stage_running(&stage, "s1", 1, TOKEN);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    stage.nonce = FRESH;
    site_stage_run_state(&stage, "s1", "south", 1,
                         &(struct msg_run_state){.is_refused = true});
    assert_int_equal(site_stage_attempt_of(&stage, id), 2);
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_non_null(start);
    assert_int_equal(start->run_start.run.nonce, FRESH);
}

/* A sublet-host of an earlier version has no nonces: its runs are as before. */
static void a_host_without_nonces_runs_jobs(void **state)
{
    (void)state;
    stage.nonce = FRESH;
    site_stage_host_up(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    const struct msg *start = site_stage_sent(&stage, MSG_RUN_START, 0);
    assert_int_equal(start->run_start.run.nonce, 0);
    stage.nonce = 0;
    site_stage_waiting(&stage, "s1", 1, TOKEN);
    site_stage_running(&stage, "s1", 1, TOKEN);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
}

/* ---------------------------------------------------------------- jobs that wait */

/* Jobs 1 and 2 (rerunnable) wait by the journal, which lacks the attempts up to 5. */
static void wait_by_an_older_journal(void)
{
    struct job_spec spec = site_stage_spec("local", "old work");
    stage.nonce = LOST;
    site_stage_submit_spec(&stage, "ana", &spec);
    spec.is_rerunnable = true;
    site_stage_submit_spec(&stage, "ana", &spec);
    site_stage_restart(&stage);
    hello(50, 5, 2);
}

/* It may have started, and ended, in what is lost. */
static void a_job_that_may_have_started_is_not_started_again(void **state)
{
    (void)state;
    wait_by_an_older_journal();
    synced();
    site_stage_host_up(&stage, "s2");
    site_stage_settle(&stage);
    assert_int_equal(site_stage_attempt_of(&stage, 1), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, 2), 0);
    uint64_t fresh = site_stage_submit(&stage, "local", "new work");
    assert_int_not_equal(site_stage_attempt_of(&stage, fresh), 0);
    assert_non_null(strstr(site_stage_job_text(&stage, 1, "reason"),
                           "the job may have started before"));
    site_stage_restart(&stage); /* nor after a restart, though all marks are known */
    hello(50, 5, 2);
    synced();
    assert_int_equal(site_stage_attempt_of(&stage, 1), 0);
    site_stage_host_up(&stage, "s2");
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, 1), 0);
}

/* Its run is found: the administrator decides which of the two it is. */
static void a_run_of_a_job_that_waits_is_adopted_by_it(void **state)
{
    (void)state;
    wait_by_an_older_journal();
    found(4, "1", RUN_RUNNING);
    synced();
    assert_int_equal(site_stage_attempt_of(&stage, 1), 0);
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, ERR_STATE);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 4)->code, 0);
    assert_int_equal(site_stage_attempt_of(&stage, 1), 4);
    assert_int_equal(site_stage_state(&stage, 1), JOB_RUN);
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, 0);
    site_stage_restart(&stage);
    hello(50, 5, 2);
    found(4, "1", RUN_RUNNING);
    synced();
    assert_int_equal(site_stage_attempt_of(&stage, 1), 4);
    stage.nonce = LOST;
    site_stage_exited(&stage, "s1", 4, 0);
    assert_int_equal(site_stage_state(&stage, 1), JOB_DONE);
}

/* The administrator ends the run: the job starts once the loss is accepted. */
static void a_run_of_a_job_that_waits_is_ended(void **state)
{
    (void)state;
    wait_by_an_older_journal();
    found(4, "1", RUN_RUNNING);
    synced();
    assert_int_equal(decide("root", ORPHAN_END, 4)->code, 0);
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, ERR_STATE);
    stage.nonce = LOST;
    site_stage_exited(&stage, "s1", 4, 137);
    assert_int_equal(site_stage_attempt_of(&stage, 1), 0);
    assert_int_equal(decide("root", ORPHAN_ACCEPT_LOSS, 0)->code, 0);
    assert_true(site_stage_attempt_of(&stage, 1) > 5);
}

/* ---------------------------------------------------------------- providers */

static void provider_says(enum msg_kind kind, struct msg *msg)
{
    msg->kind = kind;
    msg->site = "north";
    site_stage_broker(&stage, msg);
}

static void attempt_found(uint64_t attempt)
{
    const struct host_slots slots = {"n1", 1};
    struct msg msg = {.start = {.run = {"south", attempt, LOST},
                                .lease = "north/spare/south",
                                .job = "7",
                                .hosts = &slots,
                                .n_hosts = 1,
                                .spec = site_stage_spec("lease", "old work")}};
    msg.start.spec.user = "eva";
    msg.start.spec.uid = 1002;
    provider_says(MSG_ATTEMPT_FOUND, &msg);
}

static void state_is(uint64_t attempt, uint64_t nonce, enum attempt_state what)
{
    struct msg msg = {.attempt_state = {.run = {"south", attempt, nonce},
                                        .state = what,
                                        .reason = "",
                                        .exit = {.text = ""},
                                        .mark = {.attempt = 6, .job = 9}}};
    if (what == ATTEMPT_ENDED) {
        msg.attempt_state.exit =
            (struct run_exit){.end = RUN_END_EXITED, .code = 3, .text = ""};
    }
    provider_says(MSG_ATTEMPT_STATE, &msg);
}

static void borrow(void)
{
    site_stage_broker_up(&stage);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 4, true);
    stage.nonce = FRESH;
}

/* The attack: the provider has an attempt with this number, of a lost job. */
static void a_run_of_another_job_is_not_taken(void **state)
{
    (void)state;
    borrow();
    uint64_t id = site_stage_submit(&stage, "lease", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 1);
    state_is(1, LOST, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    state_is(1, LOST, ATTEMPT_ENDED);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
    state_is(1, FRESH, ATTEMPT_REFUSED);
    site_stage_pass(&stage, 5000);
    assert_int_equal(site_stage_attempt_of(&stage, id), 7); /* above all it knows */
    assert_int_equal(site_stage_submit(&stage, "lease", "new work"), 10);
    state_is(7, FRESH, ATTEMPT_RUNNING);
    assert_int_equal(site_stage_state(&stage, id), JOB_RUN);
}

static void a_provider_is_asked_for_lost_runs(void **state)
{
    (void)state;
    borrow();
    state_is(6, LOST, ATTEMPT_RUNNING);
    const struct msg *ask = site_stage_sent(&stage, MSG_ATTEMPT_ASK, 0);
    assert_non_null(ask);
    assert_true(ask->attempt.lists);
    assert_int_equal(ask->attempt.run.attempt, 1);
    assert_int_equal(ask->attempt.list_to, 6);
    attempt_found(4);
    state_is(4, LOST, ATTEMPT_RUNNING);
    assert_int_equal(runs()->count, 1);
    assert_string_equal(value_find(runs()->first, "at")->text, "north");
    attempt_found(12); /* this journal will give that number: nothing is lost */
    assert_int_equal(runs()->count, 1);
}

static void a_leased_orphan_is_not_acknowledged_and_adopted(void **state)
{
    (void)state;
    borrow();
    state_is(6, LOST, ATTEMPT_RUNNING);
    attempt_found(4);
    state_is(4, LOST, ATTEMPT_ENDED);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 0);
    state_is(5, LOST, ATTEMPT_ENDED); /* it was not described yet */
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 0);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 4)->code, 0);
    site_stage_pass(&stage, 1000);
    state_is(4, LOST, ATTEMPT_ENDED);
    assert_int_equal(site_stage_state(&stage, 7), JOB_EXIT);
    assert_int_equal(site_stage_job_int(&stage, 7, "exit_code"), 3);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 1);
}

static void a_leased_orphan_is_ended(void **state)
{
    (void)state;
    borrow();
    state_is(6, LOST, ATTEMPT_RUNNING);
    attempt_found(4);
    state_is(4, LOST, ATTEMPT_RUNNING);
    assert_int_equal(decide("root", ORPHAN_END, 4)->code, 0);
    const struct msg *order = site_stage_sent(&stage, MSG_ATTEMPT_CONTROL, 0);
    assert_non_null(order);
    assert_int_equal(order->lifecycle_control.control.action, CONTROL_KILL);
    assert_int_equal(order->lifecycle_control.run.nonce, LOST);
    state_is(4, LOST, ATTEMPT_ENDED);
    assert_int_equal(site_stage_count(&stage, MSG_ATTEMPT_ACK), 1);
    assert_int_equal(runs()->count, 0);
}

/* A provider may lie about whose run it is; output is written as that user. */
static void a_leased_run_of_root_is_adopted_by_root_alone(void **state)
{
    (void)state;
    const struct host_slots slots = {"n1", 1};
    struct msg msg = {.start = {.run = {"south", 4, LOST},
                                .lease = "north/spare/south",
                                .job = "7",
                                .hosts = &slots,
                                .n_hosts = 1,
                                .spec = site_stage_spec("lease", "old work")}};
    borrow();
    state_is(6, LOST, ATTEMPT_RUNNING);
    msg.start.spec.uid = 0;
    provider_says(MSG_ATTEMPT_FOUND, &msg);
    struct peer from = site_stage_user("ana");
    struct msg adopt = {.kind = MSG_ORPHAN, .site = ""};
    from.roles = ROLE_ADMIN;
    adopt.orphan = (struct msg_orphan){
        .request = ++stage.request, .order = ORPHAN_ADOPT, .attempt = 4, .host = ""};
    site_stage_message(&stage, &from, &adopt);
    assert_int_equal(site_stage_reply(&stage)->code, ERR_DENIED);
    assert_int_equal(runs()->count, 1);
    assert_int_equal(decide("root", ORPHAN_ADOPT, 4)->code, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slots_of_a_run_that_has_grown_count),
        TEST(a_suspended_orphan_is_ended_at_once),
        TEST(numbers_go_on_above_all_marks),
        TEST(a_mark_of_the_broker_counts),
        TEST(an_impossible_mark_is_ignored),
        TEST(the_loss_is_told_until_it_is_accepted),
        TEST(an_orphan_is_kept_and_uses_its_slot),
        TEST(an_adopted_run_is_a_job),
        TEST(an_orphan_that_has_ended_is_adopted_with_its_end),
        TEST(an_orphan_is_ended_by_order_alone),
        TEST(an_orphan_that_was_ended_does_not_come_back),
        TEST(a_refused_start_gets_another_number),
        TEST(a_host_without_nonces_runs_jobs),
        TEST(a_job_that_may_have_started_is_not_started_again),
        TEST(a_run_of_a_job_that_waits_is_adopted_by_it),
        TEST(a_run_of_a_job_that_waits_is_ended),
        TEST(a_run_of_another_job_is_not_taken),
        TEST(a_provider_is_asked_for_lost_runs),
        TEST(a_leased_orphan_is_not_acknowledged_and_adopted),
        TEST(a_leased_orphan_is_ended),
        TEST(a_leased_run_of_root_is_adopted_by_root_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
