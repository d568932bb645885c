/* SPDX-License-Identifier: Apache-2.0 */
/* test_handover.c: the broker's half of a hand-over, against a provider that judges as
 * docs/design/safety.md says: the order of its steps, and that it comes to an end
 * whatever is lost and whoever is killed in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/broker/stage.h"

static const char lease_id[] = "north/1/south";
static const char *const both[] = {"north", "south", NULL};

/* The provider's books of one lease on one host [Contract 2, 4]. */
struct ledger {
    struct host_split host;
    uint64_t epoch;
    bool is_made, is_frozen;
    uint64_t freeze;
    int n_proposals;
};

static struct stage stage;
static struct ledger books;
static uint64_t session;

static void state_books(void)
{
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = lease_id,
                                   .epoch = books.epoch,
                                   .type = LEASE_SHARED,
                                   .is_made = books.is_made,
                                   .is_frozen = books.is_frozen,
                                   .freeze = books.freeze,
                                   .lease_term_ms = 300000,
                                   .hosts = &books.host,
                                   .n_hosts = 1,
                                   .reason = ""};
    stage_say(&stage, "north", session, &msg);
}

static void judge_proposal(const struct msg_propose *propose)
{
    const struct host_split *split = &propose->hosts[0];
    bool is_good = propose->base == books.epoch && propose->n_hosts == 1 &&
                   split->provider + split->consumer == books.host.n_slots &&
                   split->provider >= books.host.provider_used &&
                   split->consumer >= books.host.consumer_used;
    if (!is_good) {
        return;
    }
    books.n_proposals++;
    books.is_frozen = false;
    if (split->provider != books.host.provider) {
        books.host.provider = split->provider;
        books.host.consumer = split->consumer;
        books.epoch++;
    }
}

/* One message from the broker; true where it is answered with STATE. */
static bool hear(const struct msg *msg)
{
    if (msg->kind == MSG_FREEZE && msg->freeze.base == books.epoch &&
        msg->freeze.freeze > books.freeze) {
        books.is_frozen = true;
        books.freeze = msg->freeze.freeze;
    } else if (msg->kind == MSG_PROPOSE) {
        judge_proposal(&msg->propose);
    }
    return msg->kind == MSG_FREEZE || msg->kind == MSG_PROPOSE ||
           msg->kind == MSG_STATE_ASK;
}

/* The first message of the latest batch that the provider must answer, or NULL. */
static const struct msg *waiting(void)
{
    static const enum msg_kind kinds[] = {MSG_STATE_ASK, MSG_FREEZE, MSG_PROPOSE};
    for (size_t i = 0; i < 3; i++) {
        const struct msg *msg = stage_sent(&stage, "north", kinds[i], 0);
        if (msg != NULL) {
            return msg;
        }
    }
    return NULL;
}

static void answer_all(void)
{
    for (int i = 0; i < 20 && waiting() != NULL; i++) {
        if (hear(waiting())) {
            state_books();
        }
    }
}

static void greet(uint64_t number)
{
    session = number;
    stage_hello(&stage, "south", number);
    stage_hello(&stage, "north", number);
    state_books();
    answer_all();
}

/* 10 slots, held 9 and 1, nothing used, made: the next judgement is due in a minute. */
static int open_lease(void **state)
{
    stage_open(&stage);
    books = (struct ledger){.epoch = 1, .is_made = true};
    books.host =
        (struct host_split){.host = "n1", .n_slots = 10, .provider = 9, .consumer = 1};
    greet(1);
    return 0;
}

static int close_lease(void **state)
{
    stage_close(&stage);
    return 0;
}

static enum lease_state state_now(void)
{
    struct row_lease lease;
    assert_true(broker_find_lease(stage.broker, lease_id, &lease));
    return lease.state;
}

static void wait_for_judgement(void)
{
    stage_wait_with(&stage, STAGE_DELAY_MS, both, session);
}

static void slots_move_in_three_steps(void **state)
{
    stage_wait_with(&stage, STAGE_DELAY_MS - 1, both, session);
    assert_null(waiting());
    assert_int_equal(state_now(), LEASE_ACTIVE);
    stage_wait(&stage, 1);

    /* 1: on disk as inactive before FREEZE leaves; the consumer must not start in vain
     */
    assert_int_equal(stage_stored(&stage, lease_id)->state, LEASE_INACTIVE);
    assert_int_equal(stage_history(&stage, lease_id)->event, HISTORY_INACTIVE);
    assert_string_equal(stage_history(&stage, lease_id)->reason,
                        "idle: provider 9, consumer 1; idle slots go to the consumer");
    const struct msg *freeze = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    assert_int_equal(freeze->session, 1);
    assert_int_equal(freeze->freeze.base, 1);
    const struct msg *contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_non_null(contract);
    assert_int_equal(contract->contract.state, LEASE_INACTIVE);

    /* 2: between report and freeze the provider's own jobs took 6 slots */
    books.host.provider_used = 6;
    assert_true(hear(freeze));
    state_books();
    const struct msg *propose = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(propose);
    assert_int_equal(propose->propose.base, 1);
    assert_int_equal(propose->propose.hosts[0].provider, 6);
    assert_int_equal(propose->propose.hosts[0].consumer, 4);

    /* 3: taken over on disk, then told */
    assert_true(hear(propose));
    state_books();
    const struct row_lease *stored = stage_stored(&stage, lease_id);
    assert_int_equal(stored->state, LEASE_ACTIVE);
    assert_int_equal(stored->epoch, 2);
    assert_int_equal(stored->hosts[0].consumer, 4);
    assert_string_equal(stored->reason,
                        "idle: provider 3, consumer 1; idle slots go to the consumer");
    contract = stage_sent(&stage, "south", MSG_CONTRACT, 0);
    assert_int_equal(contract->contract.epoch, 2);
    assert_int_equal(contract->contract.state, LEASE_ACTIVE);
    assert_int_equal(contract->contract.hosts[0].consumer, 4);
}

static void slots_come_home(void **state)
{
    wait_for_judgement();
    answer_all();
    assert_int_equal(books.host.consumer, 10);
    books.host.consumer_used = 3;
    state_books();
    wait_for_judgement();
    answer_all();
    assert_int_equal(books.host.provider, 7);
    assert_int_equal(books.host.consumer, 3);
    assert_int_equal(books.epoch, 3);
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 3);
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

static void equal_reports_begin_nothing(void **state)
{
    books.host.provider_used = 8;
    state_books();
    wait_for_judgement();
    assert_null(waiting());
    assert_int_equal(stage_count_history(&stage, lease_id, HISTORY_INACTIVE), 0);
}

static void counts_that_call_for_nothing_thaw_under_the_old_epoch(void **state)
{
    wait_for_judgement();
    books.host.provider_used = 8; /* now 1 idle against 1 */
    answer_all();
    const struct row_history *last = stage_history(&stage, lease_id);
    assert_int_equal(last->event, HISTORY_ACTIVE);
    assert_int_equal(last->epoch, 1);
    assert_string_equal(last->reason, "idle: provider 1, consumer 1; nothing moves");
    assert_int_equal(books.epoch, 1);
    assert_false(books.is_frozen);
    assert_int_equal(stage_sent(&stage, "south", MSG_CONTRACT, 0)->contract.state,
                     LEASE_ACTIVE);
}

static void what_is_not_answered_is_sent_again(void **state)
{
    wait_for_judgement();
    uint64_t number = stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze;
    for (int i = 0; i < 3; i++) {
        stage_wait(&stage, 499);
        assert_null(stage_sent(&stage, "north", MSG_FREEZE, 0));
        stage_wait(&stage, 1);
        assert_int_equal(stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze,
                         number);
    }
    hear(stage_sent(&stage, "north", MSG_FREEZE, 0));
    state_books();
    assert_non_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    stage_wait(&stage, 500);
    assert_non_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    answer_all();
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

static void a_freeze_that_lapsed_is_begun_anew_above_its_number(void **state)
{
    wait_for_judgement();
    hear(waiting());
    state_books(); /* frozen; the proposal is lost */
    books.is_frozen = false;
    state_books();
    assert_null(stage_sent(&stage, "north", MSG_FREEZE, 0));
    stage_wait(&stage, 500);
    const struct msg *freeze = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    assert_true(freeze->freeze.freeze > books.freeze);
    answer_all();
    assert_int_equal(books.host.consumer, 10);
}

/* The provider froze and thawed before its first answer arrived. */
static void a_freeze_that_lapsed_unseen_is_begun_anew(void **state)
{
    wait_for_judgement();
    uint64_t ours = waiting()->freeze.freeze;
    hear(waiting());
    books.is_frozen = false;
    state_books();
    stage_wait(&stage, 500);
    assert_int_equal(stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze,
                     ours + 1);
    answer_all();
    assert_int_equal(books.host.consumer, 10);
}

static void a_proposal_may_come_true_late(void **state)
{
    wait_for_judgement();
    hear(waiting());
    state_books();
    struct msg propose = *stage_sent(&stage, "north", MSG_PROPOSE, 0);
    struct host_split split = propose.propose.hosts[0];
    split.host = "n1";
    propose.propose.hosts = &split;
    books.is_frozen = false; /* lapsed */
    state_books();
    hear(&propose); /* and only now it arrives */
    state_books();
    assert_int_equal(stage_stored(&stage, lease_id)->epoch, 2);
    assert_int_equal(state_now(), LEASE_ACTIVE);
    assert_string_equal(stage_stored(&stage, lease_id)->reason,
                        "idle: provider 9, consumer 1; idle slots go to the consumer");
}

static void a_state_from_before_the_freeze_says_nothing(void **state)
{
    wait_for_judgement();
    state_books(); /* not frozen, a number below ours */
    assert_null(waiting());
    assert_int_equal(state_now(), LEASE_INACTIVE);
    stage_wait(&stage, 500);
    answer_all();
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

/* Its counts are exact, but whose freeze it is, and when it lapses, is not known. */
static void a_freeze_under_another_number_is_not_ours(void **state)
{
    wait_for_judgement();
    uint64_t ours = stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze;
    books.is_frozen = true;
    books.freeze = ours - 1;
    state_books();
    assert_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    books.freeze = ours + 1;
    state_books();
    assert_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    stage_wait(&stage, 500);
    assert_int_equal(stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze,
                     ours + 2);
}

/* A restarted broker counts from 1 and learns the rest. */
static void a_restarted_broker_goes_above_the_number_it_is_told(void **state)
{
    wait_for_judgement();
    stage_restart(&stage);
    books.freeze = 50;
    session++;
    stage_hello(&stage, "south", session);
    stage_hello(&stage, "north", session);
    assert_true(stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze < 50);
    state_books();
    stage_wait(&stage, 500);
    assert_int_equal(stage_sent(&stage, "north", MSG_FREEZE, 0)->freeze.freeze, 51);
    answer_all();
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

static void the_provider_may_change_it_meanwhile(void **state)
{
    wait_for_judgement();
    books.host.n_slots = 8;
    books.host.provider = 7;
    books.epoch = 2;
    state_books();
    const struct row_history *last = stage_history(&stage, lease_id);
    assert_int_equal(last->event, HISTORY_ACTIVE);
    assert_int_equal(last->epoch, 2);
    assert_string_equal(last->reason, "changed by its provider");
    assert_null(waiting());
}

static void it_waits_for_a_provider_that_is_away(void **state)
{
    static const char *const south[] = {"south", NULL};
    wait_for_judgement();
    stage_wait_with(&stage, 20 * STAGE_DELAY_MS, south, 1);
    assert_int_equal(state_now(), LEASE_INACTIVE);
    assert_null(waiting());
    books.is_frozen = false;
    books.freeze = 0; /* it crashed, and forgot */
    greet(2);
    stage_wait(&stage, 500);
    answer_all();
    assert_int_equal(state_now(), LEASE_ACTIVE);
    assert_int_equal(books.host.consumer, 10);
}

static void one_lease_in_change_blocks_no_other(void **state)
{
    wait_for_judgement();
    assert_int_equal(state_now(), LEASE_INACTIVE);
    struct host_split host = {.host = "n2", .n_slots = 4, .provider = 3, .consumer = 1};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = "north/2/south",
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .is_made = true,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .reason = ""};
    stage_say(&stage, "north", 1, &msg);
    wait_for_judgement();
    assert_string_equal(stage_history(&stage, "north/2/south")->reason,
                        "idle: provider 3, consumer 1; idle slots go to the consumer");
}

/* Whichever message of the hand-over is lost, it ends, and nothing moves twice. */
static void any_one_message_may_be_lost(void **state)
{
    for (int lost = 0; lost < 4; lost++) {
        wait_for_judgement();
        uint64_t epoch = books.epoch;
        for (int i = 0; i < 10 && state_now() == LEASE_INACTIVE; i++) {
            const struct msg *msg = waiting();
            if (msg == NULL) {
                stage_wait(&stage, 500);
            } else if (i == lost / 2 && lost % 2 == 0) {
                stage_wait(&stage, 500); /* it never arrives */
            } else if (hear(msg) && !(i == lost / 2 && lost % 2 == 1)) {
                state_books();
            } else {
                stage_wait(&stage, 500); /* the answer never arrives */
            }
        }
        assert_int_equal(state_now(), LEASE_ACTIVE);
        assert_int_equal(books.epoch, epoch + 1);
        assert_int_equal(stage_stored(&stage, lease_id)->epoch, epoch + 1);
    }
}

/* Killed after any step, it goes on from its disk. */
static void the_broker_may_be_killed_anywhere(void **state)
{
    for (int killed = 0; killed < 4; killed++) {
        wait_for_judgement();
        uint64_t epoch = books.epoch;
        for (int i = 0; i < killed && waiting() != NULL; i++) {
            bool is_answered = i + 1 < killed; /* else killed before it hears */
            if (hear(waiting()) && is_answered) {
                state_books();
            }
        }
        stage_restart(&stage);
        greet(session + 1);
        for (int i = 0; i < 5 && state_now() == LEASE_INACTIVE; i++) {
            stage_wait(&stage, 500);
            answer_all();
        }
        assert_int_equal(state_now(), LEASE_ACTIVE);
        assert_int_equal(books.epoch, epoch + 1);
        const struct row_lease *stored = stage_stored(&stage, lease_id);
        assert_int_equal(stored->epoch, books.epoch);
        assert_int_equal(stored->hosts[0].provider, books.host.provider);
    }
}

/* Without faults from now on: active, and broker, disk and books agree, before that
 * time is over. (Later the next judgement comes, and it is inactive again for a while.)
 */
static bool settles_within(int64_t ms)
{
    int64_t until_ms = stage.now_ms + ms;
    greet(session + 1);
    while (stage.now_ms <= until_ms) {
        const struct row_lease *stored = stage_stored(&stage, lease_id);
        if (state_now() == LEASE_ACTIVE && stored->state == LEASE_ACTIVE &&
            stored->epoch == books.epoch &&
            stored->hosts[0].provider == books.host.provider) {
            return true;
        }
        stage_wait_next(&stage);
        answer_all();
    }
    return false;
}

/* Losses, late copies, crashes of both and lapsed freezes by seed: the contract is
 * never what the provider has not stated, epochs only grow, and once faults stop it is
 * active and agreed. */
static void it_comes_to_an_end_whatever_happens(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        stage_close(&stage);
        open_lease(NULL);
        struct rng rng;
        rng_init(&rng, seed);
        uint64_t epoch = 1;
        for (int i = 0; i < 300; i++) {
            const struct msg *msg = waiting();
            int64_t what = rng_below(&rng, 100);
            if (what < 3) {
                stage_restart(&stage);
                greet(session + 1);
            } else if (what < 6) {
                books.is_frozen = false;
                books.freeze = 0;
                greet(session + 1);
            } else if (what < 9) {
                books.is_frozen = false;
                state_books();
            } else if (what < 60 && msg != NULL) {
                if (hear(msg) && rng_percent(&rng, 80)) {
                    state_books();
                }
            } else {
                stage_wait_with(&stage, rng_below(&rng, 20000) + 1, both, session);
            }
            if (!books.is_frozen && rng_percent(&rng, 20)) {
                books.host.provider_used =
                    (int)rng_below(&rng, books.host.provider + 1);
                books.host.consumer_used =
                    (int)rng_below(&rng, books.host.consumer + 1);
            }
            struct row_lease lease;
            assert_true(broker_find_lease(stage.broker, lease_id, &lease));
            assert_true(lease.epoch >= epoch && lease.epoch <= books.epoch);
            epoch = lease.epoch;
        }
        if (!settles_within(5000)) {
            fail_msg("seed %llu: not agreed", (unsigned long long)seed);
        }
    }
}

/* The broker that froze the lease has an older store now, in which it is active. */
static void a_freeze_that_nobody_knows_is_lifted(void **state)
{
    stage_wait(&stage, 1000);
    books.is_frozen = true;
    books.freeze = 7;
    state_books();
    assert_int_equal(state_now(), LEASE_ACTIVE);
    const struct msg *propose = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(propose);
    assert_int_equal(propose->propose.hosts[0].provider, 9);
    assert_int_equal(propose->propose.hosts[0].consumer, 1);
    state_books(); /* it did not accept the proposal: it is not sent for ever */
    assert_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    books.freeze = 8;
    state_books();
    propose = stage_sent(&stage, "north", MSG_PROPOSE, 0);
    assert_non_null(propose);
    assert_true(hear(propose));
    assert_false(books.is_frozen);
    state_books();
    assert_null(stage_sent(&stage, "north", MSG_PROPOSE, 0));
    assert_int_equal(books.epoch, 1); /* nothing has moved */
    wait_for_judgement();             /* above the number that was told */
    const struct msg *freeze = stage_sent(&stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    assert_true(freeze->freeze.freeze > 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lease, close_lease)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slots_move_in_three_steps),
        TEST(slots_come_home),
        TEST(equal_reports_begin_nothing),
        TEST(counts_that_call_for_nothing_thaw_under_the_old_epoch),
        TEST(what_is_not_answered_is_sent_again),
        TEST(a_freeze_that_lapsed_is_begun_anew_above_its_number),
        TEST(a_freeze_that_lapsed_unseen_is_begun_anew),
        TEST(a_proposal_may_come_true_late),
        TEST(a_state_from_before_the_freeze_says_nothing),
        TEST(a_freeze_under_another_number_is_not_ours),
        TEST(a_restarted_broker_goes_above_the_number_it_is_told),
        TEST(the_provider_may_change_it_meanwhile),
        TEST(it_waits_for_a_provider_that_is_away),
        TEST(one_lease_in_change_blocks_no_other),
        TEST(any_one_message_may_be_lost),
        TEST(the_broker_may_be_killed_anywhere),
        TEST(it_comes_to_an_end_whatever_happens),
        TEST(a_freeze_that_nobody_knows_is_lifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
