/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_instants.c: the instants at which leases are judged: MC_RECLAIM_DELAY,
 * who may set it, what counts at an instant, and demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/err.h"
#include "broker/broker_parts.h"
#include "tests/unit/broker/lease_stage.h"

static const char *const both[] = {"north", "south", NULL};
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

/* The instants at which hand-overs begin, from when the lease was made, in ms; the
 * provider answers nothing, so each begins but once: only the first is seen. */
static int64_t first_judgement(int64_t limit_ms)
{
    int64_t made_ms = lease_stage_now(&on).made_ms;
    while (on.stage.now_ms <= made_ms + limit_ms) {
        if (lease_stage_now(&on).state == LEASE_INACTIVE) {
            return on.stage.now_ms - made_ms;
        }
        stage_wait_next(&on.stage);
        for (int i = 0; both[i] != NULL; i++) {
            stage_usage(&on.stage, both[i], 1, 0);
        }
    }
    return -1;
}

static void it_is_judged_at_made_plus_delay(void **state)
{
    lease_stage_make(&on);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), STAGE_DELAY_MS);
}

static void an_instant_without_reason_is_left_out(void **state)
{
    on.host.provider_used = 2; /* 1 idle against 1 */
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS + 10000, both, 1);
    on.host.provider_used = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 2 * STAGE_DELAY_MS);
}

static void what_is_reported_within_the_instant_counts(void **state)
{
    on.host.provider_used = 2; /* 1 idle against 1 */
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS, both, 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    on.host.provider_used = 0; /* a job ends in this very millisecond */
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_INACTIVE);
}

static void a_millisecond_later_is_too_late(void **state)
{
    on.host.provider_used = 2;
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS + 1, both, 1);
    on.host.provider_used = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
}

/* Hand-overs may take no time: else all idle slots would go to and fro in it. */
static void an_instant_begins_one_handover(void **state)
{
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS, both, 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_INACTIVE);
    on.books.epoch = 2;
    on.host.provider = 0;
    on.host.consumer = 4;
    lease_stage_say(&on, "north", 1);
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_INACTIVE),
                     1);
}

static const struct msg_reply *set_reclaim(const struct peer *peer,
                                           enum reclaim_scope scope, const char *name,
                                           int64_t delay_ms)
{
    struct msg msg = {.kind = MSG_SET_RECLAIM, .site = ""};
    msg.set_reclaim = (struct msg_set_reclaim){
        .request = 1, .scope = scope, .name = name, .delay_ms = delay_ms};
    stage_say_as(&on.stage, peer, &msg);
    const struct msg *reply = stage_sent(&on.stage, peer->name, MSG_REPLY, 0);
    assert_non_null(reply);
    return &reply->reply;
}

static const struct msg_contract *contract_now(void)
{
    const struct msg *sent = NULL;
    for (int i = 0; stage_sent(&on.stage, "south", MSG_CONTRACT, i) != NULL; i++) {
        sent = stage_sent(&on.stage, "south", MSG_CONTRACT, i);
    }
    assert_non_null(sent);
    return &sent->contract;
}

/* From the moment at which the lease is made, the consumer can tell its users when
 * slots may change hands, also after a change of the delay. */
static void the_consumer_knows_the_next_rebalance(void **state)
{
    lease_stage_say(&on, "north", 1);
    assert_int_equal(contract_now()->rebalance_every_ms, 0); /* it is not made */
    lease_stage_make(&on);
    assert_int_equal(contract_now()->rebalance_every_ms, STAGE_DELAY_MS);
    assert_int_equal(contract_now()->rebalance_in_ms, STAGE_DELAY_MS);
    stage_wait_with(&on.stage, 20000, both, 1);
    set_reclaim(&ops, RECLAIM_LEASE, LEASE_STAGE_ID, 2 * STAGE_DELAY_MS);
    assert_int_equal(contract_now()->rebalance_every_ms, 2 * STAGE_DELAY_MS);
    assert_int_equal(contract_now()->rebalance_in_ms, 2 * STAGE_DELAY_MS - 20000);
}

static void a_shorter_delay_counts_from_the_last_instant(void **state)
{
    lease_stage_make(&on);
    stage_wait_with(&on.stage, 20000, both, 1);
    assert_int_equal(set_reclaim(&ops, RECLAIM_LEASE, LEASE_STAGE_ID, 30000)->code, 0);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 30000);
}

static void a_delay_that_is_over_already_is_judged_now(void **state)
{
    lease_stage_make(&on);
    stage_wait_with(&on.stage, 20000, both, 1);
    set_reclaim(&ops, RECLAIM_ALL, "",
                3000); /* not at 21 s, as made + k x 3 s would be */
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 20000);
}

/* The broker dies, and is back with both sites after so long. */
static void restart_after(int64_t away_ms)
{
    stage_restart(&on.stage);
    stage_wait(&on.stage, away_ms);
    stage_hello(&on.stage, "south", 1);
    stage_hello(&on.stage, "north", 1);
    lease_stage_say(&on, "north", 1);
}

static void a_restart_keeps_the_instants(void **state)
{
    lease_stage_make(&on);
    stage_wait(&on.stage, 10000);
    restart_after(20000);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), STAGE_DELAY_MS);
}

/* However many have passed, the rule is applied once. */
static void an_instant_missed_by_the_broker_is_made_up_for(void **state)
{
    lease_stage_make(&on);
    int64_t made_ms = lease_stage_now(&on).made_ms;
    stage_wait(&on.stage, 10000);
    restart_after(2 * STAGE_DELAY_MS);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    stage_usage(&on.stage, "south", 1, 0); /* the consumer's demand is known */
    assert_int_equal(lease_stage_now(&on).state, LEASE_INACTIVE);
    assert_int_equal(lease_stage_now(&on).judged_ms, made_ms + 2 * STAGE_DELAY_MS);
    on.books.epoch = 2;
    on.host.provider = 0;
    on.host.consumer = 4;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 3 * STAGE_DELAY_MS);
}

/* An instant at which nothing had to move was no less of one. */
static void an_instant_that_moved_nothing_is_not_made_up_for(void **state)
{
    on.host.provider_used = 2; /* 1 idle against 1 */
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS + 10000, both, 1);
    on.host.provider_used = 0;
    restart_after(20000);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 2 * STAGE_DELAY_MS);
}

static void min_hold_keeps_slots_after_a_move(void **state)
{
    on.books.min_hold_ms = 100000;
    lease_stage_make(&on);
    assert_int_equal(first_judgement(2 * STAGE_DELAY_MS), STAGE_DELAY_MS);
    on.books.epoch = 2;
    on.host.provider = 0;
    on.host.consumer = 4;
    lease_stage_say(&on, "north", 1); /* moved at 60 s: not at 120 s, but at 180 s */
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 3 * STAGE_DELAY_MS);
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
            on.books.lease = id;
            on.books.epoch = 1;
            on.books.is_made = false;
            lease_stage_say(&on, "north", 1);
        }
        for (int i = 0; i < n_leases; i++) {
            snprintf(id, sizeof(id), "north/p%d/south", i);
            on.books.is_made = true;
            struct msg msg = {.kind = MSG_STATE, .state = on.books};
            struct event event = {.kind = EVENT_MESSAGE, .now_ms = on.stage.now_ms};
            event.from = (struct peer){.kind = PEER_SITE, .name = "north", .link = 1};
            msg.session = 1;
            msg.site = "";
            event.msg = &msg;
            broker_step(on.stage.broker, &event, &on.stage.effects);
            int64_t due_ms =
                lease_table_find(&on.stage.broker->leases, id)->rebalance_clock.due_ms;
            least = due_ms < least ? due_ms : least;
            most = due_ms > most ? due_ms : most;
        }
        if (n_leases < 100) {
            assert_int_equal(least, most);
        } else {
            assert_in_range(most - least, STAGE_DELAY_MS / 2, STAGE_DELAY_MS);
        }
        stage_close(&on.stage);
        open_stage(state);
    }
}

/* stage_usage's later USAGEs have number 0: they keep the site here, and are late. */
static void say_demand(uint64_t session, uint64_t seq, int n_demands)
{
    struct lease_demand demand = {.lease = LEASE_STAGE_ID, .n_waiting = 2};
    struct msg msg = {.kind = MSG_USAGE};
    msg.usage.seq = seq;
    msg.usage.demands = &demand;
    msg.usage.n_demands = n_demands;
    stage_say(&on.stage, "south", session, &msg);
}

static void idle_slots_follow_demand(void **state)
{
    on.books.reclaim_policy = RECLAIM_DEMAND;
    lease_stage_make(&on);
    say_demand(1, 100, 1);
    assert_int_equal(first_judgement(2 * STAGE_DELAY_MS), STAGE_DELAY_MS);
    assert_string_equal(
        stage_history(&on.stage, LEASE_STAGE_ID)->reason,
        "only the consumer has waiting jobs (2 slots); idle slots go to it");
}

static void without_demand_nothing_moves(void **state)
{
    on.books.reclaim_policy = RECLAIM_DEMAND;
    lease_stage_make(&on);
    say_demand(1, 100, 1);
    say_demand(1, 101, 0); /* what the latest does not name waits for nothing */
    say_demand(1, 99, 1);  /* late */
    assert_int_equal(first_judgement(3 * STAGE_DELAY_MS), -1);
}

static void a_new_session_forgets_demand(void **state)
{
    on.books.reclaim_policy = RECLAIM_DEMAND;
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_DELAY_MS - 1000, both, 1);
    say_demand(1, 100, 1);
    stage_hello(&on.stage, "south", 2);
    stage_wait(&on.stage, 1000);
    assert_int_equal(lease_stage_now(&on).state, LEASE_ACTIVE);
}

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
        {&ops, RECLAIM_ALL, "", 999, ERR_BOUNDS, "below a second"},
        {&ops, RECLAIM_ALL, "", INT64_C(315360000001), ERR_BOUNDS, "above ten years"},
        {&ops, RECLAIM_ALL, "", -2, ERR_BOUNDS, "negative"},
        {&north, RECLAIM_PROVIDER, "north", 1000, 0, "a provider, for itself"},
        {&north, RECLAIM_LEASE, "north/1/south", 1000, 0, "for its lease"},
        {&north, RECLAIM_ALL, "", 1000, ERR_DENIED, "but not for all"},
        {&south, RECLAIM_LEASE, "north/1/south", 1000, ERR_DENIED, "nor its consumer"},
        {&south, RECLAIM_PROVIDER, "north", 1000, ERR_DENIED, "nor for another site"},
    };
    lease_stage_say(&on, "north", 1);
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
    lease_stage_make(&on);
    set_reclaim(&ops, RECLAIM_PROVIDER, "north", 20000);
    stage_restart(&on.stage);
    stage_hello(&on.stage, "south", 1);
    stage_hello(&on.stage, "north", 1);
    lease_stage_say(&on, "north", 1);
    assert_int_equal(first_judgement(10 * STAGE_DELAY_MS), 20000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_judged_at_made_plus_delay),
        TEST(an_instant_without_reason_is_left_out),
        TEST(what_is_reported_within_the_instant_counts),
        TEST(a_millisecond_later_is_too_late),
        TEST(an_instant_begins_one_handover),
        TEST(the_consumer_knows_the_next_rebalance),
        TEST(a_shorter_delay_counts_from_the_last_instant),
        TEST(a_delay_that_is_over_already_is_judged_now),
        TEST(a_restart_keeps_the_instants),
        TEST(an_instant_missed_by_the_broker_is_made_up_for),
        TEST(an_instant_that_moved_nothing_is_not_made_up_for),
        TEST(min_hold_keeps_slots_after_a_move),
        TEST(many_leases_are_spread),
        TEST(idle_slots_follow_demand),
        TEST(without_demand_nothing_moves),
        TEST(a_new_session_forgets_demand),
        TEST(who_may_set_the_reclaim_delay),
        TEST(an_override_outlives_the_broker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
