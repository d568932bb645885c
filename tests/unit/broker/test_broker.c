/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker.c: stories of whole contracts: registered, made, changed, withdrawn,
 * lost, restarted; who may say what. Hand-overs have their own stories
 * (test_handover.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "broker/parts.h"
#include "tests/unit/broker/stage.h"

static const char lease_id[] = "north/1/south";
static const char *const both[] = {"north", "south", NULL};
static const char *const north_only[] = {"north", NULL};

static struct stage stage;
static struct host_split host;
static struct msg_state books;

/* 4 slots, 3 and 1, as a new shared lease has it. */
static int open_stage(void **state)
{
    stage_open(&stage);
    host =
        (struct host_split){.host = "n1", .n_slots = 4, .provider = 3, .consumer = 1};
    books = (struct msg_state){.lease = lease_id,
                               .epoch = 1,
                               .type = LEASE_SHARED,
                               .lease_term_ms = 300000,
                               .hosts = &host,
                               .n_hosts = 1,
                               .reason = ""};
    stage_hello(&stage, "north", 1);
    stage_hello(&stage, "south", 1);
    return 0;
}

static int close_stage(void **state)
{
    stage_close(&stage);
    return 0;
}

static void say_state(const char *site, uint64_t session)
{
    struct msg msg = {.kind = MSG_STATE, .state = books};
    stage_say(&stage, site, session, &msg);
}

static void make_lease(void)
{
    books.is_made = true;
    say_state("north", 1);
}

static struct row_lease lease_now(void)
{
    struct row_lease lease;
    assert_true(broker_find_lease(stage.broker, lease_id, &lease));
    return lease;
}

static void expect_error(const char *site, int code)
{
    const struct msg *msg = stage_sent(&stage, site, MSG_ERROR, 0);
    assert_non_null(msg);
    assert_int_equal(msg->error.code, code);
}

static const struct msg_reply *ask(const struct peer *peer, const struct msg *msg)
{
    stage_say_as(&stage, peer, msg);
    const struct msg *reply = stage_sent(&stage, peer->name, MSG_REPLY, 0);
    assert_non_null(reply);
    return &reply->reply;
}

static const struct peer ops = {
    .kind = PEER_CLIENT, .name = "ops", .link = 9, .roles = ROLE_ADMIN};

static const struct msg_reply *set_reclaim(const struct peer *peer,
                                           enum reclaim_scope scope, const char *name,
                                           int64_t delay_ms)
{
    struct msg msg = {.kind = MSG_SET_RECLAIM, .site = ""};
    msg.set_reclaim = (struct msg_set_reclaim){
        .request = 1, .scope = scope, .name = name, .delay_ms = delay_ms};
    return ask(peer, &msg);
}

/* ---------------------------------------------------------------- contracts */

static void a_lease_is_registered_and_made(void **state)
{
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_PENDING);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 1);
    assert_int_equal(stage_history(&stage, lease_id)->event, HISTORY_REGISTERED);
    assert_int_equal(stage_history(&stage, lease_id)->consumer_available, 1);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->contract.state, LEASE_PENDING);
    assert_true(contract->contract.is_provider_here);
    stage.now_ms += 5000;
    make_lease();
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    assert_int_equal(lease_now().made_ms, stage.now_ms);
    assert_int_equal(stage_history(&stage, lease_id)->event, HISTORY_MADE);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 1);
}

static void before_it_is_made_nothing_is_judged(void **state)
{
    say_state("north", 1);
    stage_wait_with(&stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
}

static void an_exclusive_lease_is_never_judged(void **state)
{
    books.type = LEASE_EXCLUSIVE;
    host.provider = 0;
    host.consumer = 4;
    make_lease();
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    stage_wait_with(&stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
}

static void a_contract_is_told_until_it_is_acknowledged(void **state)
{
    static const int64_t waits[] = {1000, 2000, 4000, 5000};
    say_state("north", 1);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    uint64_t first = contract->contract.revision;
    for (size_t i = 0; i < 4; i++) {
        stage_wait(&stage, waits[i] - 1);
        stage_usage(&stage, "south", 1, i);
        stage_usage(&stage, "north", 1, i);
        assert_null(stage_sent(&stage, "south", MSG_CONTRACT, 0));
        stage_wait(&stage, 1);
        contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
        assert_int_equal(contract->contract.revision, first);
    }
    make_lease(); /* a new content is a new revision */
    contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    uint64_t second = contract->contract.revision;
    assert_true(second > first);
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = lease_id;
    ack.contract_ack.revision = first; /* late: says nothing */
    stage_say(&stage, "south", 1, &ack);
    stage_wait(&stage, 1000);
    assert_non_null(stage_sent(&stage, "south", MSG_CONTRACT, 0));
    ack.contract_ack.revision = second;
    stage_say(&stage, "south", 1, &ack);
    stage_wait(&stage, 10000);
    assert_int_equal(stage_count_sent(&stage, "south", MSG_CONTRACT), 0);
}

static void counts_change_without_a_word_but_a_down_host_is_told(void **state)
{
    make_lease();
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = lease_id;
    ack.contract_ack.revision =
        stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.revision;
    stage_say(&stage, "south", 1, &ack);
    host.consumer_used = 1;
    say_state("north", 1);
    assert_int_equal(lease_now().hosts[0].consumer_used, 1);
    assert_null(stage_sent(&stage, "south", MSG_CONTRACT, 0));
    host.is_down = true;
    say_state("north", 1);
    assert_true(
        stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.hosts[0].is_down);
}

static void a_provider_may_change_its_contract(void **state)
{
    make_lease();
    host.n_slots = 2;
    host.provider = 1;
    books.epoch = 2;
    books.reason = "host n1 has 2 slots";
    say_state("north", 1);
    const struct row_history *last = stage_history(&stage, lease_id);
    assert_int_equal(last->event, HISTORY_CHANGED);
    assert_int_equal(last->epoch, 2);
    assert_string_equal(last->reason, "host n1 has 2 slots");
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    assert_int_equal(stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.epoch, 2);
}

/* A broker restored from an old backup heals so. */
static void a_much_higher_epoch_is_taken_over(void **state)
{
    make_lease();
    books.epoch = 40;
    host.provider = 0;
    host.consumer = 4;
    say_state("north", 1);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 40);
    assert_int_equal(stage_stored(&stage, lease_id)->hosts[0].consumer, 4);
}

static void a_lower_epoch_is_told_once(void **state)
{
    books.epoch = 5;
    make_lease();
    books.epoch = 4;
    host.provider = 4;
    host.consumer = 0;
    say_state("north", 1); /* late? */
    assert_non_null(stage_sent(&stage, "north", MSG_STATE_ASK, 0));
    assert_null(stage_sent(&stage, "north", MSG_ERROR, 0));
    say_state("north", 1); /* no, it means it */
    expect_error("north", ERR_STATE);
    assert_true(stage_has_log(&stage, "epoch 4 is behind 5"));
    assert_int_equal(lease_now().epoch, 5);
    assert_int_equal(lease_now().hosts[0].consumer, 1);
    say_state("north", 1);
    assert_false(stage_has_log(&stage, "behind"));
    assert_null(stage_sent(&stage, "north", MSG_ERROR, 0));
}

static void a_late_copy_is_no_alarm(void **state)
{
    books.epoch = 5;
    make_lease();
    for (int i = 0; i < 3; i++) {
        books.epoch = 4;
        say_state("north", 1);
        assert_null(stage_sent(&stage, "north", MSG_ERROR, 0));
        books.epoch = 5;
        say_state("north", 1); /* the answer */
    }
    stage_wait(&stage, 5000);
    assert_null(stage_sent(&stage, "north", MSG_STATE_ASK, 0));
}

static void one_epoch_with_two_splits_is_the_providers_fault(void **state)
{
    make_lease();
    host.provider = 2;
    host.consumer = 2;
    say_state("north", 1);
    assert_true(stage_has_log(&stage, "another split under epoch 1"));
    assert_int_equal(stage_stored(&stage, lease_id)->hosts[0].consumer, 2);
    assert_int_equal(
        stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.hosts[0].consumer, 2);
}

static void a_withdrawn_lease_drains_and_ends(void **state)
{
    make_lease();
    books.is_withdrawn = true;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_DRAINING);
    assert_true(stage_stored(&stage, lease_id)->is_withdrawn);
    stage_wait_with(&stage, 3 * STAGE_DELAY_MS, both, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
    books.is_ended = true;
    books.epoch = 2;
    books.n_hosts = 0;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_ENDED);
    assert_int_equal(stage_history(&stage, lease_id)->event, HISTORY_ENDED);
    assert_int_equal(stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.state,
                     LEASE_ENDED);
    stage_restart(&stage); /* the ends of its last jobs may still be under way */
    assert_int_equal(lease_now().state, LEASE_ENDED);
}

/* East leaves the federation, and is back; north's sessions tell it. */
static void members_come_and_go(void **state)
{
    static const struct broker_member all[] = {
        {"north", ROLE_PROVIDER | ROLE_CONSUMER},
        {"south", ROLE_CONSUMER},
        {"west", ROLE_CONSUMER},
    };
    static const struct broker_member without_south[] = {
        {"north", ROLE_PROVIDER | ROLE_CONSUMER},
        {"west", ROLE_CONSUMER},
    };
    make_lease();
    broker_reload(stage.broker, &(struct broker_config){without_south, 2, 15000, NULL},
                  stage.now_ms);
    stage_wait_next(&stage);
    assert_int_equal(lease_now().state, LEASE_DRAINING);
    assert_true(stage_sent(&stage, "north", MSG_DRAIN, 0)->drain.is_drained);
    assert_string_equal(stage_history(&stage, lease_id)->reason,
                        "south is no consumer any more");
    stage_usage(&stage, "south", 1, 1); /* its session is over */
    assert_int_equal(stage_sent(&stage, "south", MSG_ERROR, 0)->error.code, ERR_DENIED);

    broker_reload(stage.broker, &(struct broker_config){all, 3, 15000, NULL},
                  stage.now_ms);
    stage_wait_next(&stage);
    assert_false(stage_sent(&stage, "north", MSG_DRAIN, 0)->drain.is_drained);
    stage_usage(&stage, "south", 1, 2);
    assert_int_equal(stage_sent(&stage, "south", MSG_ERROR, 0)->error.code, ERR_STALE);
    stage_hello(&stage, "south", 2);
    assert_non_null(stage_sent(&stage, "south", MSG_WELCOME, 0));
}

static void a_provider_that_leaves_takes_its_leases(void **state)
{
    static const struct broker_member members[] = {{"north", ROLE_CONSUMER},
                                                   {"south", ROLE_CONSUMER}};
    static const struct broker_member before[] = {
        {"north", ROLE_PROVIDER | ROLE_CONSUMER}, {"south", ROLE_CONSUMER}};
    make_lease();
    broker_reload(stage.broker, &(struct broker_config){members, 2, 15000, NULL},
                  stage.now_ms);
    stage_wait_next(&stage);
    assert_int_equal(lease_now().state, LEASE_ENDED);
    assert_int_equal(stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.state,
                     LEASE_ENDED);
    broker_reload(stage.broker, &(struct broker_config){before, 2, 15000, NULL},
                  stage.now_ms);
    stage_hello(&stage, "north", 2);
    say_state("north", 2); /* as it was: under the same epoch */
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
}

/* The broker dies meanwhile, and its disk does not say why the lease ended. */
static void a_provider_comes_back_behind_a_restart(void **state)
{
    static const struct broker_member members[] = {{"north", ROLE_CONSUMER},
                                                   {"south", ROLE_CONSUMER}};
    make_lease();
    broker_reload(stage.broker,
                  &(struct broker_config){
                      .members = members, .n_members = 2, .lost_after_ms = 15000},
                  stage.now_ms);
    stage_wait_next(&stage);
    stage_restart(&stage);
    assert_int_equal(lease_now().state, LEASE_ENDED);
    stage_hello(&stage, "north", 2);
    say_state("north", 2);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    assert_int_equal(lease_now().epoch, 1);
}

static int take_evict(uint64_t *attempt)
{
    const struct msg *evict = stage_sent(&stage, "north", MSG_EVICT, 0);
    if (evict != NULL) {
        assert_string_equal(evict->evict.lease, lease_id);
        *attempt = evict->evict.attempt;
    }
    return evict != NULL;
}

/* Counts orders of `ms`, in which only north speaks. */
static int count_evicts(int64_t ms, uint64_t *attempt)
{
    int64_t until_ms = stage.now_ms + ms, beat_ms = stage.now_ms;
    int count = 0;
    while (stage.now_ms < until_ms) {
        if (stage.now_ms >= beat_ms) {
            stage_usage(&stage, "north", 1, 0);
            beat_ms = stage.now_ms + 5000;
            count += take_evict(attempt);
        }
        int64_t next_ms = broker_wake_ms(stage.broker);
        next_ms = next_ms < beat_ms ? next_ms : beat_ms;
        next_ms = next_ms < until_ms ? next_ms : until_ms;
        stage_wait(&stage, next_ms - stage.now_ms);
        count += take_evict(attempt);
    }
    return count;
}

/* ON_LOST=kill: when the term is over, until nothing runs; never where it says keep. */
static void what_a_lost_consumer_runs_is_ended(void **state)
{
    uint64_t attempt = 0;
    host.consumer_used = 1;
    books.ends_lost = true;
    books.last_attempt = 77;
    make_lease();
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 299000, &attempt), 0);
    assert_int_equal(count_evicts(11000, &attempt), 3);
    assert_int_equal(attempt, 77);
    books.ends_lost = false; /* its administrator thinks better of it */
    say_state("north", 1);
    assert_int_equal(count_evicts(10000, &attempt), 0);
    books.ends_lost = true;
    host.consumer_used = 0;
    say_state("north", 1);
    assert_int_equal(count_evicts(10000, &attempt), 0);
}

static void nothing_of_a_consumer_that_is_here_is_ended(void **state)
{
    uint64_t attempt = 0;
    host.consumer_used = 1;
    books.ends_lost = true;
    make_lease();
    assert_true(count_evicts(STAGE_LOST_AFTER_MS + 310000, &attempt) > 0);
    stage_hello(&stage, "south", 2);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS, &attempt), 0);
}

/* The broker is killed, and north is back at once; no reason to begin the term anew. */
static void restart_with_north(void)
{
    stage_restart(&stage);
    stage_hello(&stage, "north", 1);
    say_state("north", 1);
}

static void a_restart_does_not_begin_the_term_anew(void **state)
{
    uint64_t attempt = 0;
    host.consumer_used = 1;
    books.ends_lost = true;
    make_lease();
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 200000, &attempt), 0);
    restart_with_north();
    assert_int_equal(count_evicts(99000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
    /* Over while it was down: the consumer has LOST_AFTER to come back. */
    stage.now_ms += 600000;
    restart_with_north();
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS - 1000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
    restart_with_north();
    stage_hello(&stage, "south", 2);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS - 1000, &attempt), 0);
}

/* A broker that dies again and again, sooner than anybody can be lost. */
static void restarts_do_not_hide_a_silence(void **state)
{
    uint64_t attempt = 0;
    host.consumer_used = 1;
    books.ends_lost = true;
    make_lease();
    for (int i = 0; i < 30; i++) {
        restart_with_north();
        assert_int_equal(count_evicts(10000, &attempt), 0);
    }
    restart_with_north();
    assert_true(count_evicts(STAGE_LOST_AFTER_MS + 1000, &attempt) > 0);
}

static void a_clock_that_is_set_back_begins_the_term_anew(void **state)
{
    uint64_t attempt = 0;
    host.consumer_used = 1;
    books.ends_lost = true;
    make_lease();
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 200000, &attempt), 0);
    stage.now_ms -= 1000000;
    restart_with_north();
    assert_int_equal(count_evicts(299000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
}

static void an_export_may_come_back_while_it_drains(void **state)
{
    make_lease();
    books.is_withdrawn = true;
    say_state("north", 1);
    books.is_withdrawn = false;
    say_state("north", 1); /* a late copy from before */
    assert_int_equal(lease_now().state, LEASE_DRAINING);
    books.epoch = 2;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    assert_false(stage_stored(&stage, lease_id)->is_withdrawn);
}

static void an_ended_lease_may_begin_anew(void **state)
{
    make_lease();
    int64_t first_ms = lease_now().registered_ms;
    books.epoch = 0;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_ENDED);
    assert_string_equal(stage_history(&stage, lease_id)->reason,
                        "its provider no longer knows it");
    stage.now_ms += 1000;
    books.epoch = 1;
    books.is_made = false;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_PENDING);
    assert_int_equal(lease_now().epoch, 1);
    assert_int_equal(lease_now().made_ms, 0);
    assert_int_equal(lease_now().registered_ms, first_ms + 1000);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_REGISTERED), 2);
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
        books.lease = rows[i].lease;
        host.provider = rows[i].provider;
        say_state("north", 1);
        const struct msg *error = stage_sent(&stage, "north", MSG_ERROR, 0);
        if (error == NULL || error->error.code != rows[i].code) {
            fail_msg("%s", rows[i].why);
        }
        assert_int_equal(broker_count_leases(stage.broker), 0);
    }
}

/* ---------------------------------------------------------------- sites and sessions
 */

static void hello_is_answered_and_the_rest_asked(void **state)
{
    say_state("north", 1);
    stage_hello(&stage, "north", 2);
    assert_true(stage_sent(&stage, "north", MSG_WELCOME, 0)->welcome.is_accepted);
    assert_int_equal(stage_sent(&stage, "north", MSG_WELCOME, 0)->session, 2);
    const struct msg *asked = stage_sent(&stage, "north", MSG_STATE_ASK, 0);
    assert_string_equal(asked->state_ask.lease, lease_id);
    assert_int_equal(asked->session, 2);
    stage_hello(&stage, "south", 2);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->session, 2);
    assert_int_equal(contract->contract.revision, 1); /* counted within the session */
}

static void a_site_that_uses_anothers_name_is_refused(void **state)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello.name = "north";
    msg.hello.roles = ROLE_PROVIDER;
    stage_say(&stage, "west", 7, &msg);
    expect_error("west", ERR_DENIED);
    assert_true(stage_has_log(&stage, "of \"west\", not of \"north\""));
    assert_null(stage_sent(&stage, "west", MSG_WELCOME, 0));
    books.is_made = true;
    say_state("north", 1); /* the true one goes on */
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
}

static void an_earlier_session_is_told_what_to_be_above(void **state)
{
    stage_hello(&stage, "north", 5);
    stage_hello(&stage, "north", 4);
    const struct msg *welcome = stage_sent(&stage, "north", MSG_WELCOME, 0);
    assert_false(welcome->welcome.is_accepted);
    assert_int_equal(welcome->welcome.min_session, 5);
    assert_int_equal(welcome->session, 4);
    say_state("north", 4);
    expect_error("north", ERR_STALE);
    assert_int_equal(stage_sent(&stage, "north", MSG_ERROR, 0)->session, 4);
    assert_int_equal(broker_count_leases(stage.broker), 0);
}

static void a_restarted_broker_asks_for_hello(void **state)
{
    make_lease();
    stage_restart(&stage);
    say_state("north", 1);
    expect_error("north", ERR_STALE);
    stage_hello(&stage, "north", 1); /* none was seen since the start */
    assert_true(stage_sent(&stage, "north", MSG_WELCOME, 0)->welcome.is_accepted);
    assert_non_null(stage_sent(&stage, "north", MSG_STATE_ASK, 0));
    stage_hello(&stage, "south", 1);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->contract.state, LEASE_ACTIVE);
    assert_int_equal(contract->contract.epoch, 1);
}

/* What an administrator waits for who has restarted a broker: said once. */
static void a_restarted_broker_says_when_all_is_confirmed(void **state)
{
    static const char said[] = "all contracts are confirmed";
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    make_lease();
    stage_restart(&stage);
    stage_hello(&stage, "north", 1);
    stage_hello(&stage, "south", 1);
    say_state("north", 1);
    assert_false(stage_has_log(&stage, said));
    ack.contract_ack.lease = lease_id;
    ack.contract_ack.revision = 1;
    stage_say(&stage, "south", 1, &ack);
    assert_true(stage_has_log(&stage, said));
    stage_say(&stage, "south", 1, &ack);
    assert_false(stage_has_log(&stage, said));
}

static void each_start_counts(void **state)
{
    uint64_t boots[2] = {0};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < stage.n_rows; i++) {
            if (stage.rows[i].kind == ROW_COUNTER) {
                boots[turn] = stage.rows[i].counter.value;
            }
        }
        stage_restart(&stage);
    }
    assert_int_equal(boots[0], 1);
    assert_int_equal(boots[1], 2);
}

static void roles_are_checked(void **state)
{
    struct msg start = {.kind = MSG_START, .site = "north"};
    books.lease = "south/1/west";
    say_state("south", 1); /* no provider */
    expect_error("south", ERR_DENIED);
    stage_hello(&stage, "west", 1);
    struct msg ack = {.kind = MSG_CONTRACT_ACK};
    ack.contract_ack.lease = lease_id;
    stage_say(&stage, "west", 1, &ack); /* not its lease: says nothing */
    assert_null(stage_sent(&stage, "west", MSG_ERROR, 0));
    stage_say_as(&stage, &ops, &start); /* no site */
    expect_error("ops", ERR_DENIED);
    struct msg odd = {.kind = MSG_RUN_GO};
    stage_say(&stage, "south", 1, &odd);
    expect_error("south", ERR_STATE);
}

static void usage_is_answered(void **state)
{
    stage_usage(&stage, "south", 1, 77);
    assert_int_equal(stage_sent(&stage, "south", MSG_PONG, 0)->pong.seq, 77);
    assert_int_equal(stage_sent(&stage, "south", MSG_PONG, 0)->session, 1);
}

static void an_error_is_not_answered(void **state)
{
    struct msg msg = {.kind = MSG_ERROR};
    msg.error.text = "no";
    stage_say(&stage, "south", 1, &msg);
    assert_null(stage_sent(&stage, "south", MSG_ERROR, 0));
    stage_say(&stage, "south", 99, &msg);
    assert_null(stage_sent(&stage, "south", MSG_ERROR, 0));
}

/* ---------------------------------------------------------------- silence */

static void nothing_moves_while_the_consumer_is_away(void **state)
{
    make_lease();
    stage_wait_with(&stage, 4 * STAGE_DELAY_MS, north_only, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
}

static void after_the_term_idle_slots_go_home(void **state)
{
    make_lease();
    host.provider = 0;
    host.consumer = 4;
    host.consumer_used = 1;
    books.epoch = 2;
    say_state("north", 1);
    /* Lost 15 s after its last word, then LEASE_TERM; not before. */
    stage_wait_with(&stage, STAGE_LOST_AFTER_MS + 300000 - 1, north_only, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
    stage_wait(&stage, 1);
    const struct msg *freeze = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    books.is_frozen = true;
    books.freeze = freeze->freeze.freeze;
    say_state("north", 1);
    const struct msg *propose = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_int_equal(propose->propose.hosts[0].provider, 3);
    assert_int_equal(propose->propose.hosts[0].consumer, 1);
    books.is_frozen = false;
    books.epoch = 3;
    host.provider = 3;
    host.consumer = 1;
    say_state("north", 1);
    assert_string_equal(
        stage_history(&stage, lease_id)->reason,
        "the consumer is away beyond LEASE_TERM; its 3 idle slots go home");
}

/* The provider plays its part of a hand-over; returns the consumer's slots after it. */
static int hand_over(void)
{
    const struct msg *freeze = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    books.is_frozen = true;
    books.freeze = freeze->freeze.freeze;
    say_state("north", 1);
    const struct msg *propose = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(propose);
    host.provider = propose->propose.hosts[0].provider;
    host.consumer = propose->propose.hosts[0].consumer;
    books.is_frozen = false;
    books.epoch++;
    say_state("north", 1);
    return host.consumer;
}

/* Idle slots go home when the term is over, and later as they fall idle; they return,
 * as they fall idle at the provider, when the consumer does. */
static void an_exclusive_lease_goes_home_and_returns(void **state)
{
    books.type = LEASE_EXCLUSIVE;
    host.provider = 0;
    host.consumer = 4;
    host.consumer_used = 2;
    make_lease();
    stage_wait_with(&stage, STAGE_LOST_AFTER_MS + 300000 - 1, north_only, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
    stage_wait(&stage, 1);
    assert_int_equal(hand_over(), 2);
    host.consumer_used = 1;
    say_state("north", 1);
    assert_int_equal(hand_over(), 1);
    host.provider_used = 2;
    say_state("north", 1);
    stage_hello(&stage, "south", 2);
    assert_int_equal(hand_over(), 2); /* the others are in use at home */
    host.provider_used = 0;
    say_state("north", 1);
    assert_int_equal(hand_over(), 4);
    stage_wait(&stage, 10000);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 4);
}

/* With so many leases each has instants of its own; with one less, all the same ones.
 */
static void many_leases_are_spread(void **state)
{
    for (int n_leases = 99; n_leases <= 100; n_leases++) {
        char id[LEASE_ID_SIZE];
        int64_t least = INT64_MAX, most = 0;
        for (int i = 0; i < n_leases; i++) {
            snprintf(id, sizeof(id), "north/p%d/south", i);
            books.lease = id;
            books.epoch = 1;
            books.is_made = false;
            say_state("north", 1);
        }
        for (int i = 0; i < n_leases; i++) {
            snprintf(id, sizeof(id), "north/p%d/south", i);
            books.is_made = true;
            struct msg msg = {.kind = MSG_STATE, .state = books};
            struct event event = {.kind = EVENT_MESSAGE, .now_ms = stage.now_ms};
            event.from = (struct peer){.kind = PEER_SITE, .name = "north", .link = 1};
            msg.session = 1;
            msg.site = "";
            event.msg = &msg;
            broker_step(stage.broker, &event, &stage.effects);
            int64_t due_ms = leases_find(&stage.broker->leases, id)->judging.due_ms;
            least = due_ms < least ? due_ms : least;
            most = due_ms > most ? due_ms : most;
        }
        if (n_leases < 100) {
            assert_int_equal(least, most);
        } else {
            assert_in_range(most - least, STAGE_DELAY_MS / 2, STAGE_DELAY_MS);
        }
        stage_close(&stage);
        open_stage(state);
    }
}

/* Who is away for longer than the broker has been up was not away before, as far as it
 * knows; and it must not go by a term of 0 that nobody has stated yet. */
static void the_term_counts_from_the_brokers_start(void **state)
{
    make_lease();
    host.provider = 0;
    host.consumer = 4;
    books.epoch = 2;
    say_state("north", 1);
    stage_restart(&stage);
    stage_hello(&stage, "north", 2);
    say_state("north", 2);
    stage_wait_with(&stage, 300000 - 1, north_only, 2);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
    stage_wait(&stage, 1);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 1);
}

static void the_consumer_is_told_that_its_provider_is_lost(void **state)
{
    static const char *const south_only[] = {"south", NULL};
    make_lease();
    stage_wait_with(&stage, STAGE_LOST_AFTER_MS - 1, south_only, 1);
    stage_wait(&stage, 1);
    assert_true(stage_has_log(&stage, "north is lost"));
    assert_false(
        stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.is_provider_here);
    stage_usage(&stage, "north", 1, 1); /* any word of its session brings it back */
    assert_true(
        stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.is_provider_here);
    assert_non_null(stage_sent(&stage, "north", MSG_STATE_ASK, 0));
}

/* ---------------------------------------------------------------- instants */

/* The instants at which hand-overs begin, from when the lease was made, in ms; the
 * provider answers nothing, so each begins but once: only the first is seen. */
static int64_t first_judgement(int64_t limit_ms)
{
    int64_t made_ms = lease_now().made_ms;
    while (stage.now_ms <= made_ms + limit_ms) {
        if (lease_now().state == LEASE_INACTIVE) {
            return stage.now_ms - made_ms;
        }
        stage_wait_next(&stage);
        for (int i = 0; both[i] != NULL; i++) {
            stage_usage(&stage, both[i], 1, 0);
        }
    }
    return -1;
}

static void it_is_judged_at_made_plus_delay(void **state)
{
    make_lease();
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), STAGE_DELAY_MS);
}

static void an_instant_without_reason_is_left_out(void **state)
{
    host.provider_used = 2; /* 1 idle against 1 */
    make_lease();
    stage_wait_with(&stage, STAGE_DELAY_MS + 10000, both, 1);
    host.provider_used = 0;
    say_state("north", 1);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 2 * STAGE_DELAY_MS);
}

static void what_is_reported_within_the_instant_counts(void **state)
{
    host.provider_used = 2; /* 1 idle against 1 */
    make_lease();
    stage_wait_with(&stage, STAGE_DELAY_MS, both, 1);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    host.provider_used = 0; /* a job ends in this very millisecond */
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_INACTIVE);
}

static void a_millisecond_later_is_too_late(void **state)
{
    host.provider_used = 2;
    make_lease();
    stage_wait_with(&stage, STAGE_DELAY_MS + 1, both, 1);
    host.provider_used = 0;
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
}

/* Hand-overs may take no time: else all idle slots would go to and fro in it. */
static void an_instant_begins_one_handover(void **state)
{
    make_lease();
    stage_wait_with(&stage, STAGE_DELAY_MS, both, 1);
    assert_int_equal(lease_now().state, LEASE_INACTIVE);
    books.epoch = 2;
    host.provider = 0;
    host.consumer = 4;
    say_state("north", 1);
    say_state("north", 1);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 1);
}

static void a_shorter_delay_counts_from_the_last_instant(void **state)
{
    make_lease();
    stage_wait_with(&stage, 20000, both, 1);
    assert_int_equal(set_reclaim(&ops, RECLAIM_LEASE, lease_id, 30000)->code, 0);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 30000);
}

static void a_delay_that_is_over_already_is_judged_now(void **state)
{
    make_lease();
    stage_wait_with(&stage, 20000, both, 1);
    set_reclaim(&ops, RECLAIM_ALL, "",
                3000); /* not at 21 s, as made + k x 3 s would be */
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 20000);
}

static void a_restart_keeps_the_instants(void **state)
{
    make_lease();
    stage_wait(&stage, 10000);
    stage_restart(&stage);
    stage_wait(&stage, 2 * STAGE_DELAY_MS);
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    say_state("north", 1);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 3 * STAGE_DELAY_MS);
}

static void min_hold_keeps_slots_after_a_move(void **state)
{
    books.min_hold_ms = 100000;
    make_lease();
    assert_int_equal(first_judgement(2 * STAGE_DELAY_MS), STAGE_DELAY_MS);
    books.epoch = 2;
    host.provider = 0;
    host.consumer = 4;
    say_state("north", 1); /* moved at 60 s: not at 120 s, but at 180 s */
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 3 * STAGE_DELAY_MS);
}

/* stage_usage's later USAGEs have number 0: they keep the site here, and are late. */
static void say_demand(uint64_t session, uint64_t seq, int n_demands)
{
    struct lease_demand demand = {.lease = lease_id, .n_waiting = 2};
    struct msg msg = {.kind = MSG_USAGE};
    msg.usage.seq = seq;
    msg.usage.demands = &demand;
    msg.usage.n_demands = n_demands;
    stage_say(&stage, "south", session, &msg);
}

static void idle_slots_follow_demand(void **state)
{
    books.reclaim_policy = RECLAIM_DEMAND;
    make_lease();
    say_demand(1, 100, 1);
    assert_int_equal(first_judgement(2 * STAGE_DELAY_MS), STAGE_DELAY_MS);
    assert_string_equal(
        stage_history(&stage, lease_id)->reason,
        "only the consumer has waiting jobs (2 slots); idle slots go to it");
}

static void without_demand_nothing_moves(void **state)
{
    books.reclaim_policy = RECLAIM_DEMAND;
    make_lease();
    say_demand(1, 100, 1);
    say_demand(1, 101, 0); /* what the latest does not name waits for nothing */
    say_demand(1, 99, 1);  /* late */
    assert_int_equal(first_judgement(3 * STAGE_DELAY_MS), -1);
}

static void a_new_session_forgets_demand(void **state)
{
    books.reclaim_policy = RECLAIM_DEMAND;
    make_lease();
    stage_wait_with(&stage, STAGE_DELAY_MS - 1000, both, 1);
    say_demand(1, 100, 1);
    stage_hello(&stage, "south", 2);
    stage_wait(&stage, 1000);
    assert_int_equal(lease_now().state, LEASE_ACTIVE);
}

/* ---------------------------------------------------------------- reclaim delay */

static void who_may_set_the_reclaim_delay(void **state)
{
    static const struct peer north = {
        .kind = PEER_SITE, .name = "north", .link = 1, .roles = ROLE_PROVIDER};
    static const struct peer south = {
        .kind = PEER_SITE, .name = "south", .link = 1, .roles = ROLE_CONSUMER};
    static const struct {
        const struct peer *peer;
        enum reclaim_scope scope;
        const char *name;
        int64_t delay_ms;
        int code;
        const char *why;
    } rows[] = {
        {&ops, RECLAIM_ALL, "", 1000, 0, "an administrator, for all"},
        {&ops, RECLAIM_PROVIDER, "north", 1000, 0, "for a provider"},
        {&ops, RECLAIM_LEASE, "north/1/south", 1000, 0, "for a lease"},
        {&ops, RECLAIM_LEASE, "north/1/south", -1, 0, "and takes it back"},
        {&ops, RECLAIM_PROVIDER, "nobody", 1000, ERR_NOT_FOUND, "no such provider"},
        {&ops, RECLAIM_PROVIDER, "south", 1000, ERR_NOT_FOUND, "a consumer only"},
        {&ops, RECLAIM_LEASE, "north/9/south", 1000, ERR_NOT_FOUND, "no such lease"},
        {&ops, RECLAIM_ALL, "", 0, ERR_BOUNDS, "not above 0"},
        {&ops, RECLAIM_ALL, "", INT64_C(31536000001), ERR_BOUNDS, "above a year"},
        {&ops, RECLAIM_ALL, "", -2, ERR_BOUNDS, "negative"},
        {&north, RECLAIM_PROVIDER, "north", 1000, 0, "a provider, for itself"},
        {&north, RECLAIM_LEASE, "north/1/south", 1000, 0, "for its lease"},
        {&north, RECLAIM_ALL, "", 1000, ERR_DENIED, "but not for all"},
        {&south, RECLAIM_LEASE, "north/1/south", 1000, ERR_DENIED, "nor its consumer"},
        {&south, RECLAIM_PROVIDER, "north", 1000, ERR_DENIED, "nor for another site"},
    };
    say_state("north", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct msg_reply *reply =
            set_reclaim(rows[i].peer, rows[i].scope, rows[i].name, rows[i].delay_ms);
        if (reply->code != rows[i].code || reply->text[0] == '\0') {
            fail_msg("%s: %d %s", rows[i].why, reply->code, reply->text);
        }
    }
}

static void an_override_outlives_the_broker(void **state)
{
    make_lease();
    set_reclaim(&ops, RECLAIM_PROVIDER, "north", 20000);
    stage_restart(&stage);
    stage_hello(&stage, "south", 1);
    stage_hello(&stage, "north", 1);
    say_state("north", 1);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 20000);
}

/* ---------------------------------------------------------------- many */

/* More than a tick's share: the rest is due at once, none is forgotten. */
static void a_tick_is_bounded(void **state)
{
    enum { N_LEASES = 600 };
    char id[LEASE_ID_SIZE];
    for (int i = 0; i < N_LEASES; i++) {
        snprintf(id, sizeof(id), "north/p%03d/south", i);
        books.lease = id;
        books.is_made = true;
        say_state("north", 1);
    }
    stage_hello(&stage, "north", 2);
    int n_asked = stage_count_sent(&stage, "north", MSG_STATE_ASK);
    assert_in_range(n_asked, 1, N_LEASES / 2);
    assert_true(broker_wake_ms(stage.broker) <= stage.now_ms);
    for (int i = 0; i < 10 && broker_wake_ms(stage.broker) <= stage.now_ms; i++) {
        stage_wait_next(&stage);
        n_asked += stage_count_sent(&stage, "north", MSG_STATE_ASK);
    }
    assert_int_equal(n_asked, N_LEASES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

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
        TEST(one_epoch_with_two_splits_is_the_providers_fault),
        TEST(a_withdrawn_lease_drains_and_ends),
        TEST(members_come_and_go),
        TEST(a_provider_that_leaves_takes_its_leases),
        TEST(a_provider_comes_back_behind_a_restart),
        TEST(what_a_lost_consumer_runs_is_ended),
        TEST(nothing_of_a_consumer_that_is_here_is_ended),
        TEST(a_restart_does_not_begin_the_term_anew),
        TEST(restarts_do_not_hide_a_silence),
        TEST(a_clock_that_is_set_back_begins_the_term_anew),
        TEST(an_export_may_come_back_while_it_drains),
        TEST(an_ended_lease_may_begin_anew),
        TEST(what_no_lease_can_be_is_refused),
        TEST(hello_is_answered_and_the_rest_asked),
        TEST(a_site_that_uses_anothers_name_is_refused),
        TEST(an_earlier_session_is_told_what_to_be_above),
        TEST(a_restarted_broker_asks_for_hello),
        TEST(a_restarted_broker_says_when_all_is_confirmed),
        TEST(each_start_counts),
        TEST(roles_are_checked),
        TEST(usage_is_answered),
        TEST(an_error_is_not_answered),
        TEST(nothing_moves_while_the_consumer_is_away),
        TEST(after_the_term_idle_slots_go_home),
        TEST(an_exclusive_lease_goes_home_and_returns),
        TEST(many_leases_are_spread),
        TEST(the_term_counts_from_the_brokers_start),
        TEST(the_consumer_is_told_that_its_provider_is_lost),
        TEST(it_is_judged_at_made_plus_delay),
        TEST(an_instant_without_reason_is_left_out),
        TEST(what_is_reported_within_the_instant_counts),
        TEST(a_millisecond_later_is_too_late),
        TEST(an_instant_begins_one_handover),
        TEST(a_shorter_delay_counts_from_the_last_instant),
        TEST(a_delay_that_is_over_already_is_judged_now),
        TEST(a_restart_keeps_the_instants),
        TEST(min_hold_keeps_slots_after_a_move),
        TEST(idle_slots_follow_demand),
        TEST(without_demand_nothing_moves),
        TEST(a_new_session_forgets_demand),
        TEST(who_may_set_the_reclaim_delay),
        TEST(an_override_outlives_the_broker),
        TEST(a_tick_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
