/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker.c: stories of whole contracts: registered, made, changed, withdrawn,
 * restarted. Hand-overs have their own stories (test_handover.c), and so have sites and
 * sessions, silence, and instants (test_broker_*.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/broker/lease_stage.h"

static const char *const both[] = {"north", "south", NULL};

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

static void a_lease_is_registered_and_made(void **state)
{
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_PENDING);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->epoch, 1);
    assert_int_equal(stage_history(&on.stage, LEASE_STAGE_ID)->event,
                     HISTORY_REGISTERED);
    assert_int_equal(stage_history(&on.stage, LEASE_STAGE_ID)->consumer_available, 1);
    const struct msg *contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->contract.state, LEASE_PENDING);
    assert_true(contract->contract.is_provider_here);
    on.stage.now_ms += 5000;
    lease_stage_make(&on);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_int_equal(lease_stage_now(&on).made_ms, on.stage.now_ms);
    assert_int_equal(stage_history(&on.stage, LEASE_STAGE_ID)->event, HISTORY_MADE);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->epoch, 1);
}

static void before_it_is_made_nothing_is_judged(void **state)
{
    lease_stage_say(&on, "north", 1);
    stage_wait_with(&on.stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
}

static void an_exclusive_lease_is_never_judged(void **state)
{
    on.books.type = LEASE_EXCLUSIVE;
    on.host.provider = 0;
    on.host.consumer = 4;
    lease_stage_make(&on);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    stage_wait_with(&on.stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
}

static void a_contract_is_told_until_it_is_acknowledged(void **state)
{
    static const int64_t waits[] = {1000, 2000, 4000, 5000};
    lease_stage_say(&on, "north", 1);
    const struct msg *contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
    uint64_t first = contract->contract.revision;
    for (size_t i = 0; i < 4; i++) {
        stage_wait(&on.stage, waits[i] - 1);
        stage_usage(&on.stage, "south", 1, i);
        stage_usage(&on.stage, "north", 1, i);
        assert_null(stage_sent(&on.stage, "south", MSG_CONTRACT, 0));
        stage_wait(&on.stage, 1);
        contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
        assert_int_equal(contract->contract.revision, first);
    }
    lease_stage_make(&on); /* a new content is a new revision */
    contract = stage_sent(&on.stage, "south", MSG_CONTRACT, 0);
    uint64_t second = contract->contract.revision;
    assert_true(second > first);
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = LEASE_STAGE_ID;
    ack.contract_ack.revision = first; /* late: says nothing */
    stage_say(&on.stage, "south", 1, &ack);
    stage_wait(&on.stage, 1000);
    assert_non_null(stage_sent(&on.stage, "south", MSG_CONTRACT, 0));
    ack.contract_ack.revision = second;
    stage_say(&on.stage, "south", 1, &ack);
    stage_wait(&on.stage, 10000);
    assert_int_equal(stage_count_sent(&on.stage, "south", MSG_CONTRACT), 0);
}

static void counts_change_without_a_word_but_a_down_host_is_told(void **state)
{
    lease_stage_make(&on);
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = LEASE_STAGE_ID;
    ack.contract_ack.revision =
        stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.revision;
    stage_say(&on.stage, "south", 1, &ack);
    on.host.consumer_used = 1;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).hosts[0].consumer_used, 1);
    assert_null(stage_sent(&on.stage, "south", MSG_CONTRACT, 0));
    on.host.is_down = true;
    lease_stage_say(&on, "north", 1);
    assert_true(
        stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.hosts[0].is_down);
}

static void a_provider_may_change_its_contract(void **state)
{
    lease_stage_make(&on);
    on.host.n_slots = 2;
    on.host.provider = 1;
    on.books.epoch = 2;
    on.books.reason = "host n1 has 2 slots";
    lease_stage_say(&on, "north", 1);
    const struct row_history *last = stage_history(&on.stage, LEASE_STAGE_ID);
    assert_int_equal(last->event, HISTORY_CHANGED);
    assert_int_equal(last->epoch, 2);
    assert_string_equal(last->reason, "host n1 has 2 slots");
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.epoch,
                     2);
}

/* A broker restored from an old backup heals so. */
static void a_much_higher_epoch_is_taken_over(void **state)
{
    lease_stage_make(&on);
    on.books.epoch = 40;
    on.host.provider = 0;
    on.host.consumer = 4;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->epoch, 40);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->hosts[0].consumer, 4);
}

static void a_lower_epoch_is_told_once(void **state)
{
    on.books.epoch = 5;
    lease_stage_make(&on);
    on.books.epoch = 4;
    on.host.provider = 4;
    on.host.consumer = 0;
    lease_stage_say(&on, "north", 1); /* late? */
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
    assert_null(stage_sent(&on.stage, "north", MSG_ERROR, 0));
    lease_stage_say(&on, "north", 1); /* no, it means it */
    lease_stage_expect_error(&on, "north", ERR_STATE);
    assert_true(stage_has_log(&on.stage, "epoch 4 is behind 5"));
    assert_int_equal(lease_stage_now(&on).epoch, 5);
    assert_int_equal(lease_stage_now(&on).hosts[0].consumer, 1);
    lease_stage_say(&on, "north", 1);
    assert_false(stage_has_log(&on.stage, "behind"));
    assert_null(stage_sent(&on.stage, "north", MSG_ERROR, 0));
}

static void a_late_copy_is_no_alarm(void **state)
{
    on.books.epoch = 5;
    lease_stage_make(&on);
    for (int i = 0; i < 3; i++) {
        on.books.epoch = 4;
        lease_stage_say(&on, "north", 1);
        assert_null(stage_sent(&on.stage, "north", MSG_ERROR, 0));
        on.books.epoch = 5;
        lease_stage_say(&on, "north", 1); /* the answer */
    }
    stage_wait(&on.stage, 5000);
    assert_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
}

/* A provider with an old journal that has come to our epoch by itself. */
static void one_epoch_has_one_split(void **state)
{
    lease_stage_make(&on);
    int consumer = lease_stage_now(&on).hosts[0].consumer;
    on.host.provider = 2;
    on.host.consumer = 2;
    lease_stage_say(&on, "north", 1);
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
    lease_stage_say(&on, "north", 1);
    lease_stage_expect_error(&on, "north", ERR_STATE);
    assert_true(stage_has_log(&on.stage, "another split under epoch 1"));
    assert_int_equal(lease_stage_now(&on).hosts[0].consumer, consumer);
    assert_null(stage_sent(&on.stage, "south", MSG_CONTRACT, 0));
    on.books.epoch = 2; /* recovered */
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).hosts[0].consumer, 2);
    assert_int_equal(
        stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.hosts[0].consumer, 2);
}

/* The provider's journal is an older one, from before our epoch. It has passed the
 * epoch by itself: its commits give it away, or it says what it has lost. */
static void refuse_passed(uint64_t commits, uint64_t lost_from, uint64_t lost_to)
{
    on.books.epoch = 8;
    on.books.commits = commits;
    on.books.lost_from = lost_from;
    on.books.lost_to = lost_to;
    on.host.provider = 2;
    on.host.consumer = 2;
    lease_stage_say(&on, "north", 1);
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0)); /* late? */
    lease_stage_say(&on, "north", 1);
    lease_stage_expect_error(&on, "north", ERR_STATE);
    assert_true(stage_has_log(&on.stage, "epoch 8 does not follow our 5"));
    assert_true(stage_has_log(&on.stage, "has lost the contract of epoch 5"));
    assert_int_equal(lease_stage_now(&on).epoch, 5);
    assert_int_equal(lease_stage_now(&on).hosts[0].consumer, 1);
    assert_null(stage_sent(&on.stage, "south", MSG_CONTRACT, 0));
}

static void an_old_journal_that_passed_by_itself(void **state)
{
    on.books.epoch = 5;
    on.books.commits = 500;
    lease_stage_make(&on);
    refuse_passed(403, 0, 0);
}

static void an_old_journal_that_knows_it(void **state)
{
    on.books.epoch = 5;
    on.books.commits = 500;
    lease_stage_make(&on);
    refuse_passed(601, 400, 600); /* its number of commits was raised */
}

static void an_old_journal_with_our_epoch(void **state)
{
    on.books.epoch = 5;
    on.books.commits = 500;
    lease_stage_make(&on);
    on.books.epoch = 6;
    on.books.commits = 602;
    on.books.lost_from = 500; /* nothing of this lease is lost */
    on.books.lost_to = 600;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).epoch, 6);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->commits, 602);
}

/* A provider of before does not tell of commits; they are noted when it does. */
static void commits_of_an_epoch_that_is_known(void **state)
{
    on.books.epoch = 5;
    lease_stage_make(&on);
    on.books.commits = 500;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(stage_stored(&on.stage, LEASE_STAGE_ID)->commits, 500);
    on.books.commits = 400; /* that epoch again, by another commit */
    lease_stage_say(&on, "north", 1);
    lease_stage_say(&on, "north", 1);
    lease_stage_expect_error(&on, "north", ERR_STATE);
}

static void a_withdrawn_lease_drains_and_ends(void **state)
{
    lease_stage_make(&on);
    on.books.is_withdrawn = true;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_DRAINING);
    assert_true(stage_stored(&on.stage, LEASE_STAGE_ID)->is_withdrawn);
    stage_wait_with(&on.stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
    on.books.is_ended = true;
    on.books.epoch = 2;
    on.books.n_hosts = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    assert_int_equal(stage_history(&on.stage, LEASE_STAGE_ID)->event, HISTORY_ENDED);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.state,
                     LEASE_ENDED);
    stage_restart(&on.stage); /* the ends of its last jobs may still be under way */
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
}

/* East leaves the federation, and is back; north's sessions tell it. */
static void members_come_and_go(void **state)
{
    static const struct broker_member all[] = {
        {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER},
        {.name = "south", .roles = ROLE_CONSUMER},
        {.name = "west", .roles = ROLE_CONSUMER},
    };
    static const struct broker_member without_south[] = {
        {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER},
        {.name = "west", .roles = ROLE_CONSUMER},
    };
    lease_stage_make(&on);
    broker_reload(on.stage.broker,
                  &(struct broker_config){without_south, 2, 15000, NULL, 0},
                  on.stage.now_ms);
    stage_wait_next(&on.stage);
    assert_int_equal(lease_stage_now(&on).state, LEASE_DRAINING);
    assert_true(stage_sent(&on.stage, "north", MSG_DRAIN, 0)->drain.is_drained);
    assert_string_equal(stage_history(&on.stage, LEASE_STAGE_ID)->reason,
                        "south is no longer a consumer");
    stage_usage(&on.stage, "south", 1, 1); /* its session is over */
    assert_int_equal(stage_sent(&on.stage, "south", MSG_ERROR, 0)->error.code,
                     ERR_DENIED);

    broker_reload(on.stage.broker, &(struct broker_config){all, 3, 15000, NULL, 0},
                  on.stage.now_ms);
    stage_wait_next(&on.stage);
    assert_false(stage_sent(&on.stage, "north", MSG_DRAIN, 0)->drain.is_drained);
    stage_usage(&on.stage, "south", 1, 2);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_ERROR, 0)->error.code,
                     ERR_STALE);
    stage_hello(&on.stage, "south", 2);
    assert_non_null(stage_sent(&on.stage, "south", MSG_WELCOME, 0));
}

static void a_provider_that_leaves_takes_its_leases(void **state)
{
    static const struct broker_member members[] = {
        {.name = "north", .roles = ROLE_CONSUMER},
        {.name = "south", .roles = ROLE_CONSUMER}};
    static const struct broker_member before[] = {
        {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER},
        {.name = "south", .roles = ROLE_CONSUMER}};
    lease_stage_make(&on);
    broker_reload(on.stage.broker, &(struct broker_config){members, 2, 15000, NULL, 0},
                  on.stage.now_ms);
    stage_wait_next(&on.stage);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    assert_int_equal(stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.state,
                     LEASE_ENDED);
    broker_reload(on.stage.broker, &(struct broker_config){before, 2, 15000, NULL, 0},
                  on.stage.now_ms);
    stage_hello(&on.stage, "north", 2);
    lease_stage_say(&on, "north", 2); /* as it was: under the same epoch */
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
}

/* The broker dies meanwhile, and its disk does not say why the lease ended. */
static void a_provider_comes_back_behind_a_restart(void **state)
{
    static const struct broker_member members[] = {
        {.name = "north", .roles = ROLE_CONSUMER},
        {.name = "south", .roles = ROLE_CONSUMER}};
    lease_stage_make(&on);
    broker_reload(on.stage.broker,
                  &(struct broker_config){
                      .members = members, .n_members = 2, .lost_after_ms = 15000},
                  on.stage.now_ms);
    stage_wait_next(&on.stage);
    stage_restart(&on.stage);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    stage_hello(&on.stage, "north", 2);
    lease_stage_say(&on, "north", 2);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_int_equal(lease_stage_now(&on).epoch, 1);
}

static void an_export_may_come_back_while_it_drains(void **state)
{
    lease_stage_make(&on);
    on.books.is_withdrawn = true;
    lease_stage_say(&on, "north", 1);
    on.books.is_withdrawn = false;
    lease_stage_say(&on, "north", 1); /* a late copy from before */
    assert_int_equal(lease_stage_now(&on).state, LEASE_DRAINING);
    on.books.epoch = 2;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_false(stage_stored(&on.stage, LEASE_STAGE_ID)->is_withdrawn);
}

static void an_ended_lease_may_begin_anew(void **state)
{
    lease_stage_make(&on);
    int64_t first_ms = lease_stage_now(&on).registered_ms;
    on.books.epoch = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    assert_string_equal(stage_history(&on.stage, LEASE_STAGE_ID)->reason,
                        "its provider no longer knows it");
    on.stage.now_ms += 1000;
    on.books.epoch = 1;
    on.books.is_made = false;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_PENDING);
    assert_int_equal(lease_stage_now(&on).epoch, 1);
    assert_int_equal(lease_stage_now(&on).made_ms, 0);
    assert_int_equal(lease_stage_now(&on).registered_ms, first_ms + 1000);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_REGISTERED),
                     2);
}

/* Its provider was restored to a time before the end. */
static void an_ended_lease_of_an_old_journal_is_behind(void **state)
{
    lease_stage_make(&on);
    on.books.epoch = 5;
    on.books.is_withdrawn = on.books.is_ended = true;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    on.books.epoch = 2;
    on.books.is_withdrawn = on.books.is_ended = false;
    lease_stage_say(&on, "north", 1); /* late? */
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
    lease_stage_say(&on, "north", 1);
    lease_stage_expect_error(&on, "north", ERR_STATE);
    assert_true(stage_has_log(&on.stage, "epoch 2, behind 5"));
    assert_int_equal(lease_stage_now(&on).state, LEASE_ENDED);
    on.books.epoch = 6; /* recovered */
    on.books.is_made = false;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_PENDING);
}

static void what_no_lease_can_be_is_refused(void **state)
{
    static const struct {
        const char *lease;
        int provider;
        int code;
        const char *why;
    } rows[] = {
        {"west/1/south", 3, ERR_DENIED, "another site's name as provider"},
        {"north/1/nobody", 3, ERR_DENIED, "the consumer is no member"},
        {"north/1/ops", 3, ERR_DENIED, "the consumer has no such role"},
        {"north/1/north", 3, ERR_DENIED, "lends to itself"},
        {"north/1", 3, ERR_BOUNDS, "no lease id"},
        {"north/1/south", 4, ERR_BOUNDS, "a slot is held twice"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        on.books.lease = rows[i].lease;
        on.host.provider = rows[i].provider;
        lease_stage_say(&on, "north", 1);
        const struct msg *error = stage_sent(&on.stage, "north", MSG_ERROR, 0);
        if (error == NULL || error->error.code != rows[i].code) {
            fail_msg("%s", rows[i].why);
        }
        assert_int_equal(broker_count_leases(on.stage.broker), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

/* Each session has every lease stated and every consumer told: a flood of them is
 * refused, and one that comes later is not. */
static void test_sessions_are_bounded(void **state)
{
    struct stage stage;
    stage_open(&stage);
    int n_welcome = 0;
    for (uint64_t session = 1; session <= 100; session++) {
        stage_hello(&stage, "north", session);
        n_welcome += stage_count_sent(&stage, "north", MSG_WELCOME);
    }
    assert_in_range(n_welcome, 5, 20);
    const struct msg *msg = stage_sent(&stage, "north", MSG_ERROR, 0);
    assert_int_equal(msg->error.code, ERR_FULL);
    stage_wait(&stage, 2000);
    stage_hello(&stage, "north", 200);
    assert_int_equal(stage_count_sent(&stage, "north", MSG_WELCOME), 1);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lease_is_registered_and_made),
        TEST(before_it_is_made_nothing_is_judged),
        TEST(an_exclusive_lease_is_never_judged),
        TEST(a_contract_is_told_until_it_is_acknowledged),
        TEST(counts_change_without_a_word_but_a_down_host_is_told),
        TEST(a_provider_may_change_its_contract),
        TEST(a_much_higher_epoch_is_taken_over),
        TEST(a_lower_epoch_is_told_once),
        TEST(a_late_copy_is_no_alarm),
        TEST(one_epoch_has_one_split),
        TEST(an_old_journal_that_passed_by_itself),
        TEST(an_old_journal_that_knows_it),
        TEST(an_old_journal_with_our_epoch),
        TEST(commits_of_an_epoch_that_is_known),
        TEST(a_withdrawn_lease_drains_and_ends),
        TEST(members_come_and_go),
        TEST(a_provider_that_leaves_takes_its_leases),
        TEST(a_provider_comes_back_behind_a_restart),
        TEST(an_export_may_come_back_while_it_drains),
        TEST(an_ended_lease_may_begin_anew),
        TEST(an_ended_lease_of_an_old_journal_is_behind),
        TEST(what_no_lease_can_be_is_refused),
        cmocka_unit_test(test_sessions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
