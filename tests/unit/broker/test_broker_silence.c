/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_silence.c: a site of a lease that is not heard of: LOST_AFTER, then
 * LEASE_TERM, then its slots go home, and with ON_LOST=kill its jobs are ended; over
 * restarts of the broker too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/broker/lease_stage.h"

static const char *const north_only[] = {"north", NULL};

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

static void nothing_moves_while_the_consumer_is_away(void **state)
{
    lease_stage_make(&on);
    stage_wait_with(&on.stage, 4 * STAGE_DELAY_MS, north_only, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
}

static void after_the_term_idle_slots_go_home(void **state)
{
    lease_stage_make(&on);
    on.host.provider = 0;
    on.host.consumer = 4;
    on.host.consumer_used = 1;
    on.books.epoch = 2;
    lease_stage_say(&on, "north", 1);
    /* Lost 15 s after its last word, then LEASE_TERM; not before. */
    stage_wait_with(&on.stage, STAGE_LOST_AFTER_MS + 300000 - 1, north_only, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
    stage_wait(&on.stage, 1);
    const struct msg *freeze = stage_sent(&on.stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    on.books.is_frozen = true;
    on.books.freeze = freeze->freeze.freeze;
    lease_stage_say(&on, "north", 1);
    const struct msg *propose = stage_sent(&on.stage, "north", MSG_PROPOSE, 0);
    assert_int_equal(propose->propose.hosts[0].provider, 3);
    assert_int_equal(propose->propose.hosts[0].consumer, 1);
    on.books.is_frozen = false;
    on.books.epoch = 3;
    on.host.provider = 3;
    on.host.consumer = 1;
    lease_stage_say(&on, "north", 1);
    assert_string_equal(stage_history(&on.stage, LEASE_STAGE_ID)->reason,
                        "the consumer has been lost for longer than LEASE_TERM; its 3 "
                        "idle slots return to the provider");
}

/* The provider plays its part of a hand-over; returns the consumer's slots after it. */
static int hand_over(void)
{
    const struct msg *freeze = stage_sent(&on.stage, "north", MSG_FREEZE, 0);
    assert_non_null(freeze);
    on.books.is_frozen = true;
    on.books.freeze = freeze->freeze.freeze;
    lease_stage_say(&on, "north", 1);
    const struct msg *propose = stage_sent(&on.stage, "north", MSG_PROPOSE, 0);
    assert_non_null(propose);
    on.host.provider = propose->propose.hosts[0].provider;
    on.host.consumer = propose->propose.hosts[0].consumer;
    on.books.is_frozen = false;
    on.books.epoch++;
    lease_stage_say(&on, "north", 1);
    return on.host.consumer;
}

/* Idle slots go home when the term is over, and later as they fall idle; they return,
 * as they fall idle at the provider, when the consumer does. */
static void an_exclusive_lease_goes_home_and_returns(void **state)
{
    on.books.type = LEASE_EXCLUSIVE;
    on.host.provider = 0;
    on.host.consumer = 4;
    on.host.consumer_used = 2;
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_LOST_AFTER_MS + 300000 - 1, north_only, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
    stage_wait(&on.stage, 1);
    assert_int_equal(hand_over(), 2);
    on.host.consumer_used = 1;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(hand_over(), 1);
    on.host.provider_used = 2;
    lease_stage_say(&on, "north", 1);
    stage_hello(&on.stage, "south", 2);
    assert_int_equal(hand_over(), 2); /* the others are in use at home */
    on.host.provider_used = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(hand_over(), 4);
    stage_wait(&on.stage, 10000);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     4);
}

/* A site that is away for longer than the broker has been up was not away before, as
 * far as the broker knows; and it must not go by a term of 0 that nobody has stated
 * yet. */
static void the_term_counts_from_the_brokers_start(void **state)
{
    lease_stage_make(&on);
    on.host.provider = 0;
    on.host.consumer = 4;
    on.books.epoch = 2;
    lease_stage_say(&on, "north", 1);
    stage_restart(&on.stage);
    stage_hello(&on.stage, "north", 2);
    lease_stage_say(&on, "north", 2);
    stage_wait_with(&on.stage, 300000 - 1, north_only, 2);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     0);
    stage_wait(&on.stage, 1);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     1);
}

static void the_consumer_is_told_that_its_provider_is_lost(void **state)
{
    static const char *const south_only[] = {"south", NULL};
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_LOST_AFTER_MS - 1, south_only, 1);
    stage_wait(&on.stage, 1);
    assert_true(stage_has_log(&on.stage, "north is lost"));
    assert_false(
        stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.is_provider_here);
    stage_usage(&on.stage, "north", 1, 1); /* any word of its session brings it back */
    assert_true(
        stage_sent(&on.stage, "south", MSG_CONTRACT, 0)->contract.is_provider_here);
    assert_non_null(stage_sent(&on.stage, "north", MSG_STATE_ASK, 0));
}

static int take_evict(uint64_t *attempt)
{
    const struct msg *evict = stage_sent(&on.stage, "north", MSG_EVICT, 0);
    if (evict != NULL) {
        assert_string_equal(evict->evict.lease, LEASE_STAGE_ID);
        *attempt = evict->evict.attempt;
    }
    return evict != NULL;
}

/* Counts orders of `ms`, in which only north speaks. */
static int count_evicts(int64_t ms, uint64_t *attempt)
{
    int64_t until_ms = on.stage.now_ms + ms, beat_ms = on.stage.now_ms;
    int count = 0;
    while (on.stage.now_ms < until_ms) {
        if (on.stage.now_ms >= beat_ms) {
            stage_usage(&on.stage, "north", 1, 0);
            beat_ms = on.stage.now_ms + 5000;
            count += take_evict(attempt);
        }
        int64_t next_ms = broker_wake_ms(on.stage.broker);
        next_ms = next_ms < beat_ms ? next_ms : beat_ms;
        next_ms = next_ms < until_ms ? next_ms : until_ms;
        stage_wait(&on.stage, next_ms - on.stage.now_ms);
        count += take_evict(attempt);
    }
    return count;
}

/* ON_LOST=kill: when the term is over, until nothing runs; never where it says keep. */
static void what_a_lost_consumer_runs_is_ended(void **state)
{
    uint64_t attempt = 0;
    on.host.consumer_used = 1;
    on.books.ends_lost = true;
    on.books.last_attempt = 77;
    lease_stage_make(&on);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 299000, &attempt), 0);
    assert_int_equal(count_evicts(11000, &attempt), 3);
    assert_int_equal(attempt, 77);
    on.books.ends_lost = false; /* its administrator thinks better of it */
    lease_stage_say(&on, "north", 1);
    assert_int_equal(count_evicts(10000, &attempt), 0);
    on.books.ends_lost = true;
    on.host.consumer_used = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(count_evicts(10000, &attempt), 0);
}

static void nothing_of_a_consumer_that_is_here_is_ended(void **state)
{
    uint64_t attempt = 0;
    on.host.consumer_used = 1;
    on.books.ends_lost = true;
    lease_stage_make(&on);
    assert_true(count_evicts(STAGE_LOST_AFTER_MS + 310000, &attempt) > 0);
    stage_hello(&on.stage, "south", 2);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS, &attempt), 0);
}

/* The broker is killed, and north is back at once; no reason to begin the term anew. */
static void restart_with_north(void)
{
    stage_restart(&on.stage);
    stage_hello(&on.stage, "north", 1);
    lease_stage_say(&on, "north", 1);
}

static void a_restart_does_not_begin_the_term_anew(void **state)
{
    uint64_t attempt = 0;
    on.host.consumer_used = 1;
    on.books.ends_lost = true;
    lease_stage_make(&on);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 200000, &attempt), 0);
    restart_with_north();
    assert_int_equal(count_evicts(99000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
    /* Over while it was down: the consumer has LOST_AFTER to come back. */
    on.stage.now_ms += 600000;
    restart_with_north();
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS - 1000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
    restart_with_north();
    stage_hello(&on.stage, "south", 2);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS - 1000, &attempt), 0);
}

/* A broker that dies again and again, sooner than anybody can be lost. */
static void restarts_do_not_hide_a_silence(void **state)
{
    uint64_t attempt = 0;
    on.host.consumer_used = 1;
    on.books.ends_lost = true;
    lease_stage_make(&on);
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
    on.host.consumer_used = 1;
    on.books.ends_lost = true;
    lease_stage_make(&on);
    assert_int_equal(count_evicts(STAGE_LOST_AFTER_MS + 200000, &attempt), 0);
    on.stage.now_ms -= 1000000;
    restart_with_north();
    assert_int_equal(count_evicts(299000, &attempt), 0);
    assert_true(count_evicts(2000, &attempt) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_moves_while_the_consumer_is_away),
        TEST(after_the_term_idle_slots_go_home),
        TEST(an_exclusive_lease_goes_home_and_returns),
        TEST(the_term_counts_from_the_brokers_start),
        TEST(the_consumer_is_told_that_its_provider_is_lost),
        TEST(what_a_lost_consumer_runs_is_ended),
        TEST(nothing_of_a_consumer_that_is_here_is_ended),
        TEST(a_restart_does_not_begin_the_term_anew),
        TEST(restarts_do_not_hide_a_silence),
        TEST(a_clock_that_is_set_back_begins_the_term_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
