/* SPDX-License-Identifier: Apache-2.0 */
/* What a journal that is older than others know shows as about to start, may have
 * started and ended since: it is not started again. A journal that was never replaced
 * is as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

enum { TOKEN = 7, OTHER_TOKEN = 8, LATER = 1000 };

#define SITE                                                                           \
    "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\nKEY = "   \
    "k\n"                                                                              \
    "BROKER_KEY = b\nADMINS = root\nEnd Site\n"                                        \
    "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
static const char with_s9[] =
    SITE "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\ns9 1\nEnd Host\n";
static const char without_s9[] =
    SITE "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\nEnd Host\n";

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

/* A new session; the host has heard of so many commits. */
static void hello(const char *host, uint64_t commits)
{
    struct peer from = site_stage_host(host);
    struct msg msg = {.kind = MSG_HOST_HELLO, .session = ++stage.host_session};
    msg.site = "";
    msg.host_hello = (struct msg_host_hello){.name = host,
                                             .boot_id = "boot-1",
                                             .knows_nonces = true,
                                             .mark = {.commits = commits}};
    site_stage_message(&stage, &from, &msg);
}

static void up(const char *host, uint64_t commits)
{
    hello(host, commits);
    site_stage_host_synced(&stage, host);
}

static uint64_t commits(void)
{
    for (int i = 0; i < stage.n_rows; i++) {
        const struct row *row = &stage.rows[i].row;
        if (row->kind == ROW_COUNTER && strcmp(row->counter.name, "commits") == 0) {
            return row->counter.value;
        }
    }
    return 0;
}

/* A job on s1, whose host has not answered RUN_START. */
static uint64_t take(bool is_rerunnable, uint64_t *attempt)
{
    struct job_spec spec = site_stage_spec("local", "work");
    spec.is_rerunnable = is_rerunnable;
    up("s1", 0);
    uint64_t id = site_stage_submit_spec(&stage, "ana", &spec);
    *attempt = site_stage_attempt_of(&stage, id);
    assert_int_not_equal(*attempt, 0);
    return id;
}

static void host_says(uint64_t attempt, enum run_phase phase, uint64_t token)
{
    site_stage_run_state(&stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = phase, .token = token});
}

/* ---------------------------------------------------------------- own hosts */

/* The number of the commit that has the guard travels with RUN_GO: neither less, or a
 * copy from before would not be noticed, nor more, or a whole journal would be. */
static void a_host_knows_the_commit_that_has_its_guard(void **state)
{
    uint64_t attempt;
    (void)state;
    take(false, &attempt);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    const struct msg *go = site_stage_sent(&stage, MSG_RUN_GO, 0);
    assert_non_null(go);
    assert_int_equal(go->run_go.commits, commits());
    uint64_t known = go->run_go.commits;
    site_stage_restart(&stage);
    up("s1", known);
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.commits, commits());
    assert_null(site_stage_effect(&stage, EFFECT_LOG));
}

static void a_whole_journal_sends_the_start_again(void **state)
{
    uint64_t attempt, known;
    (void)state;
    take(false, &attempt);
    known = commits();
    site_stage_restart(&stage);
    up("s1", known);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 1);
}

static void an_old_journal_does_not_send_the_start_again(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(false, &attempt);
    site_stage_restart(&stage);
    up("s2", 0);
    up("s1", LATER);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    site_stage_pass(&stage, 10000);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->token, 0);
    host_says(attempt, RUN_UNKNOWN, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
    assert_non_null(strstr(site_stage_job_text(&stage, id, "reason"),
                           "the journal of its site is older than others know"));
}

static void a_rerunnable_job_is_started_anew(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(true, &attempt);
    site_stage_restart(&stage);
    up("s2", 0);
    up("s1", LATER);
    host_says(attempt, RUN_UNKNOWN, 0);
    site_stage_settle(&stage);
    assert_true(site_stage_attempt_of(&stage, id) > attempt);
}

/* The doubt is on record: it does not end with the next start, which no mark precedes
 * by then. */
static void the_doubt_outlives_a_restart(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(false, &attempt);
    site_stage_restart(&stage);
    hello("s2", LATER);
    site_stage_restart(&stage);
    up("s1", 0);
    assert_int_equal(site_stage_count(&stage, MSG_RUN_START), 0);
    host_says(attempt, RUN_UNKNOWN, 0);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
}

/* A guard that waits has had no RUN_GO. */
static void a_guard_that_waits_is_taken_over(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(false, &attempt);
    site_stage_restart(&stage);
    hello("s1", LATER);
    site_stage_waiting(&stage, "s1", attempt, OTHER_TOKEN);
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_run_row(&stage, "south", attempt)->token, OTHER_TOKEN);
    assert_int_equal(site_stage_sent(&stage, MSG_RUN_GO, 0)->run_go.token, OTHER_TOKEN);
    site_stage_running(&stage, "s1", attempt, OTHER_TOKEN);
    site_stage_exited(&stage, "s1", attempt, 3);
    assert_int_equal(site_stage_job_int(&stage, id, "exit_code"), 3);
}

/* Silence alone does not say that it never ran; another host that has a mark and finds
 * the journal whole does. */
static void a_silent_host_ends_nothing_before_somebody_vouches(void **state)
{
    uint64_t attempt, id, known;
    (void)state;
    id = take(false, &attempt);
    known = commits();
    site_stage_restart(&stage);
    site_stage_pass(&stage, 61000);
    assert_int_equal(site_stage_state(&stage, id), JOB_UNKWN);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
    up("s2", known);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), attempt);
}

static void a_silent_host_is_awaited_by_an_old_journal(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(true, &attempt);
    site_stage_restart(&stage);
    up("s2", LATER);
    site_stage_pass(&stage, 3600 * 1000);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
}

/* Only the first host of a run knows of its slots on other hosts. */
static void nothing_starts_before_all_hosts_have_told(void **state)
{
    int n_said = 0;
    (void)state;
    hello("s1", LATER);
    for (int i = 0; i < stage.effects.count; i++) {
        const struct effect *effect = &stage.effects.items[i];
        n_said += effect->kind == EFFECT_LOG &&
                  strstr(effect->log.text, "before all hosts") != NULL;
    }
    assert_int_equal(n_said, 1);
    site_stage_host_synced(&stage, "s1");
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    up("s2", 0);
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    site_stage_settle(&stage);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
}

/* It has been a host of this site since the copy was made: it may have a run that uses
 * slots of s1 or s2. */
static void a_host_that_is_not_configured_is_awaited(void **state)
{
    struct peer from = site_stage_user("root");
    struct msg msg = {.kind = MSG_ORPHAN, .site = ""};
    (void)state;
    up("s1", LATER);
    up("s2", LATER);
    hello("s8", 0); /* it never was one */
    hello("s9", LATER);
    hello("s9", LATER);
    site_stage_settle(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    msg.orphan = (struct msg_orphan){
        .request = ++stage.request, .order = ORPHAN_ACCEPT_LOSS, .host = ""};
    site_stage_message(&stage, &from, &msg);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
}

/* It is configured after all, and tells its runs. */
static void a_host_that_is_configured_later_is_awaited_like_others(void **state)
{
    (void)state;
    up("s1", LATER);
    up("s2", LATER);
    hello("s9", LATER);
    site_stage_settle(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_true(site_stage_reload(&stage, with_s9));
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    up("s9", LATER);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
}

/* A host that leaves the configuration before it has told its runs is still awaited. */
static void a_host_that_is_removed_is_awaited(void **state)
{
    (void)state;
    assert_true(site_stage_reload(&stage, with_s9));
    up("s1", LATER);
    up("s2", LATER);
    assert_true(site_stage_reload(&stage, without_s9));
    site_stage_settle(&stage);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
    hello("s9", LATER); /* refused, as it is not configured */
    assert_int_equal(site_stage_attempt_of(&stage, id), 0);
}

static void an_accepted_loss_awaits_no_host(void **state)
{
    struct peer from = site_stage_user("root");
    struct msg msg = {.kind = MSG_ORPHAN, .site = ""};
    (void)state;
    up("s1", LATER);
    uint64_t id = site_stage_submit(&stage, "local", "new work");
    msg.orphan = (struct msg_orphan){
        .request = ++stage.request, .order = ORPHAN_ACCEPT_LOSS, .host = ""};
    site_stage_message(&stage, &from, &msg);
    assert_int_not_equal(site_stage_attempt_of(&stage, id), 0);
}

/* ---------------------------------------------------------------- orders */

/* The lost part has suspended it, for a reason that is lost too. */
static void a_job_that_a_lost_order_has_suspended_goes_on(void **state)
{
    uint64_t attempt, id;
    (void)state;
    id = take(false, &attempt);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_restart(&stage);
    hello("s1", LATER);
    site_stage_run_state(&stage, "s1", "south", attempt,
                         &(struct msg_run_state){.phase = RUN_SUSPENDED,
                                                 .token = TOKEN,
                                                 .start_ms = 500,
                                                 .control_done = 3});
    site_stage_host_synced(&stage, "s1");
    assert_int_equal(site_stage_state(&stage, id), JOB_SSUSP);
    up("s2", 0);
    site_stage_settle(&stage);
    const struct row_run *row = site_stage_run_row(&stage, "south", attempt);
    assert_int_equal(row->control.action, CONTROL_RESUME);
    assert_true(row->control.number > 3);
}

/* An order of this site that has a number of a lost one is given again. */
static void a_kill_is_not_taken_for_a_lost_order(void **state)
{
    uint64_t attempt;
    (void)state;
    take(false, &attempt);
    site_stage_waiting(&stage, "s1", attempt, TOKEN);
    site_stage_running(&stage, "s1", attempt, TOKEN);
    site_stage_restart(&stage);
    hello("s1", LATER);
    site_stage_control(&stage, "ana", "1", CONTROL_KILL, 0);
    site_stage_run_state(
        &stage, "s1", "south", attempt,
        &(struct msg_run_state){
            .phase = RUN_RUNNING, .token = TOKEN, .start_ms = 500, .control_done = 3});
    site_stage_host_synced(&stage, "s1");
    const struct row_run *row = site_stage_run_row(&stage, "south", attempt);
    assert_int_equal(row->control.action, CONTROL_KILL);
    assert_int_equal(row->control.number, 4);
}

/* ---------------------------------------------------------------- leases */

static void broker_up(uint64_t known)
{
    struct msg msg = {.kind = MSG_WELCOME};
    site_stage_pass(&stage, 1000);
    stage.session = site_stage_sent(&stage, MSG_HELLO, 0)->session;
    msg.welcome = (struct msg_welcome){
        .is_accepted = true, .text = "", .mark = {.commits = known}};
    site_stage_broker(&stage, &msg);
}

/* A leased job whose provider has not answered START; then the journal is loaded. */
static uint64_t send_leased(uint64_t *attempt, uint64_t later)
{
    broker_up(0);
    site_stage_contract(&stage, 1, LEASE_ACTIVE, 4, true);
    uint64_t id = site_stage_submit(&stage, "lease", "work");
    *attempt = site_stage_attempt_of(&stage, id);
    assert_int_not_equal(*attempt, 0);
    uint64_t known = later != 0 ? later : commits();
    site_stage_restart(&stage);
    broker_up(known);
    return id;
}

static void a_whole_journal_sends_the_leased_start_again(void **state)
{
    uint64_t attempt, id = send_leased(&attempt, 0);
    (void)state;
    assert_int_equal(site_stage_count(&stage, MSG_START), 1);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_REFUSED); /* decided before */
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
}

static void an_old_journal_asks_what_became_of_a_leased_start(void **state)
{
    uint64_t attempt, id = send_leased(&attempt, LATER);
    (void)state;
    assert_int_equal(site_stage_count(&stage, MSG_START), 0);
    const struct msg *ask = site_stage_sent(&stage, MSG_ATTEMPT_ASK, 0);
    assert_non_null(ask);
    assert_false(ask->attempt.is_withdrawn);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_LOST); /* acknowledged long ago */
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
}

static void a_start_that_never_arrived_is_sent_again(void **state)
{
    uint64_t attempt, id = send_leased(&attempt, LATER);
    (void)state;
    site_stage_attempt_is(&stage, attempt, ATTEMPT_ABSENT);
    site_stage_pass(&stage, 1000);
    assert_int_equal(site_stage_count(&stage, MSG_START), 1);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_REFUSED);
    assert_int_equal(site_stage_state(&stage, id), JOB_PEND);
}

/* The loss becomes known after START was sent: "decided before" says nothing. */
static void a_late_mark_makes_a_refusal_doubtful(void **state)
{
    uint64_t attempt, id = send_leased(&attempt, 0);
    (void)state;
    assert_int_equal(site_stage_count(&stage, MSG_START), 1);
    hello("s1", LATER);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_REFUSED);
    assert_int_equal(site_stage_attempt_of(&stage, id), attempt);
    site_stage_pass(&stage, 1000);
    assert_int_equal(site_stage_count(&stage, MSG_START), 0);
    site_stage_attempt_is(&stage, attempt, ATTEMPT_LOST);
    assert_int_equal(site_stage_state(&stage, id), JOB_EXIT);
}

/* ---------------------------------------------------------------- impossible marks */

static uint64_t raised_to(uint64_t told)
{
    struct job_spec spec = site_stage_spec("local", "work");
    up("s1", told);
    site_stage_submit_spec(&stage, "ana", &spec);
    return commits();
}

static void restart_with_commits(uint64_t n)
{
    for (int i = 0; i < stage.n_rows; i++) {
        struct row *row = &stage.rows[i].row;
        if (row->kind == ROW_COUNTER && strcmp(row->counter.name, "commits") == 0) {
            row->counter.value = n;
        }
    }
    site_stage_restart(&stage);
}

/* A peer that lies can neither use up the numbers at once nor by and by. */
static void an_impossible_mark_is_ignored(void **state)
{
    (void)state;
    const uint64_t step = 1000000000, most = (uint64_t)TOLD_NUMBER_MAX;
    uint64_t first = raised_to(0);
    assert_true(raised_to(first + step + 10) < first + step);
    assert_true(raised_to(first + step - 10) > first + step - 10);
    restart_with_commits(most - 10);
    assert_true(raised_to(most + 1) <= most);
    assert_true(raised_to(most) > most); /* and own commits go on */
    assert_true(raised_to(most + 100) < most + 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_host_knows_the_commit_that_has_its_guard),
        TEST(a_whole_journal_sends_the_start_again),
        TEST(an_old_journal_does_not_send_the_start_again),
        TEST(a_rerunnable_job_is_started_anew),
        TEST(the_doubt_outlives_a_restart),
        TEST(a_guard_that_waits_is_taken_over),
        TEST(a_silent_host_ends_nothing_before_somebody_vouches),
        TEST(a_silent_host_is_awaited_by_an_old_journal),
        TEST(nothing_starts_before_all_hosts_have_told),
        TEST(a_host_that_is_not_configured_is_awaited),
        TEST(a_host_that_is_configured_later_is_awaited_like_others),
        TEST(a_host_that_is_removed_is_awaited),
        TEST(an_accepted_loss_awaits_no_host),
        TEST(a_job_that_a_lost_order_has_suspended_goes_on),
        TEST(a_kill_is_not_taken_for_a_lost_order),
        TEST(a_whole_journal_sends_the_leased_start_again),
        TEST(an_old_journal_asks_what_became_of_a_leased_start),
        TEST(a_start_that_never_arrived_is_sent_again),
        TEST(a_late_mark_makes_a_refusal_doubtful),
        TEST(an_impossible_mark_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
