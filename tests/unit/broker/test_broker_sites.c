/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_sites.c: sites, their sessions and roles: which are heard, what a
 * restarted broker asks for, and that a tick's work is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/broker/lease_stage.h"

static const struct peer ops = {
    .kind = PEER_CLIENT, .name = "ops", .link = 9, .roles = ROLE_ADMIN};

static struct lease_stage on;

static int open_stage(void **state)
{
    lease_stage_open(&on);
    return 0;
}

static int close_stage(void **state)
{
    stage_close(&on.stage);
    return 0;
}

static void hello_is_answered_and_the_rest_asked(void **state)
{
    lease_stage_say(&on, "north", 1);
    stage_hello(&on.stage, "north", 2);
    assert_true(stage_sent(&on.stage, "north", MSG_WELCOME, 0)->welcome.is_accepted);
    assert_int_equal(stage_sent(&on.stage, "north", MSG_WELCOME, 0)->session, 2);
    const struct msg *asked = stage_sent(&on.stage, "north", MSG_STATE_ASK, 0);
    assert_string_equal(asked->state_ask.lease, LEASE_STAGE_ID);
    assert_int_equal(asked->session, 2);
    stage_hello(&on.stage, "south", 2);
    const struct msg *contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->session, 2);
    assert_int_equal(contract->contract.revision, 1); /* counted within the session */
}

static void a_site_that_uses_anothers_name_is_refused(void **state)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello.name = "north";
    msg.hello.roles = ROLE_PROVIDER;
    stage_say(&on.stage, "west", 7, &msg);
    lease_stage_expect_error(&on, "west", ERR_DENIED);
    assert_true(stage_has_log(&on.stage, "of \"west\", not of \"north\""));
    assert_null(stage_sent(&on.stage, "west", MSG_WELCOME, 0));
    on.books.is_made = true;
    lease_stage_say(&on, "north", 1); /* the true one goes on */
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
}

static void an_earlier_session_is_told_what_to_be_above(void **state)
{
    stage_hello(&on.stage, "north", 5);
    stage_hello(&on.stage, "north", 4);
    const struct msg *welcome = stage_sent(&on.stage, "north", MSG_WELCOME, 0);
    assert_false(welcome->welcome.is_accepted);
    assert_int_equal(welcome->welcome.min_session, 5);
    assert_int_equal(welcome->session, 4);
    lease_stage_say(&on, "north", 4);
    lease_stage_expect_error(&on, "north", ERR_STALE);
    assert_int_equal(stage_sent(&on.stage, "north", MSG_ERROR, 0)->session, 4);
    assert_int_equal(broker_count_leases(on.stage.broker), 0);
}

static void a_restarted_broker_asks_for_hello(void **state)
{
    lease_stage_make(&on);
    stage_restart(&on.stage);
    lease_stage_say(&on, "north", 1);
    lease_stage_expect_error(&on, "north", ERR_STALE);
    stage_hello(&on.stage, "north", 1); /* none was seen since the start */
    assert_true(stage_sent(&on.stage, "north", MSG_WELCOME, 0)->welcome.is_accepted);
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
    stage_hello(&on.stage, "south", 1);
    const struct msg *contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->contract.state, LEASE_ACTIVE);
    assert_int_equal(contract->contract.epoch, 1);
}

/* An administrator who has restarted a broker waits for this line: it is logged once.
 */
static void a_restarted_broker_says_when_all_is_confirmed(void **state)
{
    static const char said[] = "all contracts are confirmed";
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    lease_stage_make(&on);
    stage_restart(&on.stage);
    stage_hello(&on.stage, "north", 1);
    stage_hello(&on.stage, "south", 1);
    lease_stage_say(&on, "north", 1);
    assert_false(stage_has_log(&on.stage, said));
    ack.contract_ack.lease = LEASE_STAGE_ID;
    ack.contract_ack.revision = 1;
    stage_say(&on.stage, "south", 1, &ack);
    assert_true(stage_has_log(&on.stage, said));
    stage_say(&on.stage, "south", 1, &ack);
    assert_false(stage_has_log(&on.stage, said));
}

static void each_start_counts(void **state)
{
    uint64_t boots[2] = {0};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < on.stage.n_rows; i++) {
            const struct row *row = &on.stage.rows[i];
            if (row->kind == ROW_COUNTER && strcmp(row->counter.name, "boot") == 0) {
                boots[turn] = row->counter.value;
            }
        }
        stage_restart(&on.stage);
    }
    assert_int_equal(boots[0], 1);
    assert_int_equal(boots[1], 2);
}

static void roles_are_checked(void **state)
{
    struct msg ask = {.kind = MSG_ATTEMPT_ASK, .site = "north"};
    ask.attempt.run = (struct run_id){.site = "south", .attempt = 1};
    on.books.lease = "south/1/west";
    lease_stage_say(&on, "south", 1); /* no provider */
    lease_stage_expect_error(&on, "south", ERR_DENIED);
    stage_hello(&on.stage, "west", 1);
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = LEASE_STAGE_ID;
    stage_say(&on.stage, "west", 1, &ack); /* not its lease: says nothing */
    assert_null(stage_sent(&on.stage, "west", MSG_ERROR, 0));
    stage_say_as(&on.stage, &ops, &ask); /* no site */
    lease_stage_expect_error(&on, "ops", ERR_DENIED);
    struct msg odd = {.kind = MSG_RUN_GO};
    stage_say(&on.stage, "south", 1, &odd);
    lease_stage_expect_error(&on, "south", ERR_STATE);
}

static void usage_is_answered(void **state)
{
    stage_usage(&on.stage, "south", 1, 77);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_PONG, 0)->pong.seq, 77);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_PONG, 0)->session, 1);
}

static uint64_t told_commits(const char *site)
{
    return stage_sent(&on.stage, site, MSG_WELCOME, 0)->welcome.broker_commits;
}

static void say_hello(const char *site, uint64_t session, uint64_t broker_commits)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello.name = site;
    msg.hello.roles = ROLE_CONSUMER;
    msg.hello.broker_commits = broker_commits;
    stage_say(&on.stage, site, session, &msg);
}

/* Sites know how far the broker's store was. If it is older, that is an alarm which
 * says how much is missing, and survives a restart. */
static void a_store_that_is_behind_is_an_alarm(void **state)
{
    say_hello("west", 1, 0);
    uint64_t commits = told_commits("west");
    assert_true(commits > 0);
    lease_stage_make(&on); /* something is stored */
    say_hello("west", 2, commits);
    assert_true(told_commits("west") > commits);
    commits = told_commits("west");
    assert_int_equal(broker_loss_commits(on.stage.broker), 0);

    stage_usage(&on.stage, "south", 1, 1);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_PONG, 0)->pong.broker_commits,
                     commits);
    say_hello("west", 3, commits + 20); /* the store is older than what it knows */
    assert_true(stage_has_log(&on.stage, "site west knows: commits missing: "));
    uint64_t lost = broker_loss_commits(on.stage.broker);
    assert_true(lost > 0 && lost <= 20);
    assert_true(told_commits("west") >= commits + 20);
    say_hello("west", 4, commits + 20); /* known */
    assert_int_equal(broker_loss_commits(on.stage.broker), lost);
    say_hello("west", 5, UINT64_C(1) << 62); /* a lie */
    assert_true(stage_has_log(&on.stage, "impossible"));
    assert_int_equal(broker_loss_commits(on.stage.broker), lost);
    stage_restart(&on.stage);
    assert_int_equal(broker_loss_commits(on.stage.broker), lost);
    say_hello("west", 6, commits + 20);
    assert_int_equal(broker_loss_commits(on.stage.broker), lost);
}

/* A site whose journal was replaced by an older copy hears how far it was. */
static void a_site_hears_its_mark(void **state)
{
    struct msg usage = {.kind = MSG_USAGE, .usage.seq = 1};
    usage.usage.mark = (struct journal_mark){.commits = 50, .attempt = 8, .job = 3};
    stage_say(&on.stage, "south", 1, &usage);
    usage.usage.seq = 2;
    usage.usage.mark = (struct journal_mark){.commits = 60, .attempt = 9, .job = 2};
    stage_say(&on.stage, "south", 1, &usage);
    stage_hello(&on.stage, "south", 2);
    const struct journal_mark *mark =
        &stage_sent(&on.stage, "south", MSG_WELCOME, 0)->welcome.mark;
    assert_int_equal(mark->commits, 60);
    assert_int_equal(mark->attempt, 9);
    assert_int_equal(mark->job, 3); /* never below */
    stage_hello(&on.stage, "north", 2);
    assert_int_equal(
        stage_sent(&on.stage, "north", MSG_WELCOME, 0)->welcome.mark.commits, 0);
    /* The first one of each ten seconds is on record. */
    stage_restart(&on.stage);
    stage_hello(&on.stage, "south", 3);
    assert_int_equal(
        stage_sent(&on.stage, "south", MSG_WELCOME, 0)->welcome.mark.commits, 50);
    stage_say(&on.stage, "south", 3, &usage);
    stage_restart(&on.stage);
    stage_hello(&on.stage, "south", 4);
    assert_int_equal(
        stage_sent(&on.stage, "south", MSG_WELCOME, 0)->welcome.mark.commits, 60);
}

static void an_error_is_not_answered(void **state)
{
    struct msg msg = {.kind = MSG_ERROR};
    msg.error.text = "no";
    stage_say(&on.stage, "south", 1, &msg);
    assert_null(stage_sent(&on.stage, "south", MSG_ERROR, 0));
    stage_say(&on.stage, "south", 99, &msg);
    assert_null(stage_sent(&on.stage, "south", MSG_ERROR, 0));
}

/* More than a tick's share: the rest is due at once, none is forgotten. */
static void a_tick_is_bounded(void **state)
{
    enum { N_LEASES = 600 };
    char id[LEASE_ID_SIZE];
    on.stage.max_leases = N_LEASES;
    stage_reload(&on.stage, NULL);
    for (int i = 0; i < N_LEASES; i++) {
        snprintf(id, sizeof(id), "north/p%03d/south", i);
        on.books.lease = id;
        on.books.is_made = true;
        lease_stage_say(&on, "north", 1);
    }
    stage_hello(&on.stage, "north", 2);
    int n_asked = stage_count_sent(&on.stage, "north", MSG_STATE_ASK);
    assert_in_range(n_asked, 1, N_LEASES / 2);
    assert_true(broker_wake_ms(on.stage.broker) <= on.stage.now_ms);
    for (int i = 0; i < 10 && broker_wake_ms(on.stage.broker) <= on.stage.now_ms; i++) {
        stage_wait_next(&on.stage);
        n_asked += stage_count_sent(&on.stage, "north", MSG_STATE_ASK);
    }
    assert_int_equal(n_asked, N_LEASES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hello_is_answered_and_the_rest_asked),
        TEST(a_site_that_uses_anothers_name_is_refused),
        TEST(an_earlier_session_is_told_what_to_be_above),
        TEST(a_restarted_broker_asks_for_hello),
        TEST(a_restarted_broker_says_when_all_is_confirmed),
        TEST(each_start_counts),
        TEST(roles_are_checked),
        TEST(usage_is_answered),
        TEST(an_error_is_not_answered),
        TEST(a_store_that_is_behind_is_an_alarm),
        TEST(a_site_hears_its_mark),
        TEST(a_tick_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
