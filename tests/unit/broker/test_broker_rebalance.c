/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_rebalance.c: a rebalance on request: the users that may ask, the states
 * in which the rule applies, how often, and that the regular instants do not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "broker/broker_parts.h"
#include "tests/unit/broker/lease_stage.h"

static const char *const both[] = {"north", "south", NULL};
static const struct peer ops = {
    .kind = PEER_CLIENT, .name = "ops", .link = 9, .roles = ROLE_ADMIN};
static const struct peer north = {
    .kind = PEER_SITE, .name = "north", .link = 1, .roles = ROLE_PROVIDER};
static const struct peer south = {
    .kind = PEER_SITE, .name = "south", .link = 2, .roles = ROLE_CONSUMER};

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

static const struct msg_reply *ask(const struct peer *from, const char *lease)
{
    struct msg msg = {.kind = MSG_REBALANCE, .site = ""};
    msg.rebalance = (struct msg_rebalance){.request = 7, .lease = lease};
    stage_say_as(&on.stage, from, &msg);
    const struct msg *reply = stage_sent(&on.stage, from->name, MSG_REPLY, 0);
    assert_non_null(reply);
    assert_int_equal(reply->reply.request, 7);
    return &reply->reply;
}

static void expect_refusal(const struct peer *from, int code, const char *part)
{
    int n_before = stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_REBALANCE);
    const struct msg_reply *reply = ask(from, LEASE_STAGE_ID);
    assert_int_equal(reply->code, code);
    assert_non_null(strstr(reply->text, part));
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_REBALANCE),
                     n_before);
}

static enum lease_state state_now(void)
{
    return lease_stage_now(&on).state;
}

/* 3 idle slots at the provider, 1 at the consumer: the rule gives all to the consumer,
 * long before the first instant. */
static void test_the_rule_is_applied_at_once(void **state)
{
    lease_stage_make(&on);
    const struct msg_reply *reply = ask(&ops, LEASE_STAGE_ID);
    assert_int_equal(reply->code, 0);
    assert_string_equal(reply->text,
                        "Lease <north/1/south> is rebalanced: idle: provider 3, "
                        "consumer 1; idle slots go to the consumer.");
    assert_int_equal(state_now(), LEASE_INACTIVE);
    assert_int_equal(stage_count_history(&on.stage, LEASE_STAGE_ID, HISTORY_REBALANCE),
                     1);
}

static void test_the_providers_site_may_ask_and_the_consumers_may_not(void **state)
{
    lease_stage_make(&on);
    expect_refusal(&south, ERR_DENIED, "ask its provider");
    assert_int_equal(state_now(), LEASE_ACTIVE);
    assert_int_equal(ask(&north, LEASE_STAGE_ID)->code, 0);
    assert_int_equal(state_now(), LEASE_INACTIVE);
}

static void test_what_calls_for_nothing_says_so(void **state)
{
    on.host.provider_used = 2; /* 1 idle against 1 */
    lease_stage_make(&on);
    assert_string_equal(ask(&ops, LEASE_STAGE_ID)->text,
                        "Lease <north/1/south> is rebalanced: idle: provider 1, "
                        "consumer 1; nothing moves.");
    assert_int_equal(state_now(), LEASE_ACTIVE);
    stage_wait_with(&on.stage, 1000, both, 1);
    on.host.provider_used =
        0; /* the request was answered: later counts are another's */
    lease_stage_say(&on, "north", 1);
    assert_int_equal(state_now(), LEASE_ACTIVE);
}

/* The next instant is still one delay after the lease was made. */
static void test_regular_instants_do_not_change(void **state)
{
    on.host.provider_used = 2;
    lease_stage_make(&on);
    int64_t made_ms = on.stage.now_ms;
    stage_wait_with(&on.stage, STAGE_DELAY_MS / 2, both, 1);
    ask(&ops, LEASE_STAGE_ID);
    stage_wait_with(&on.stage, made_ms + STAGE_DELAY_MS - 1 - on.stage.now_ms, both, 1);
    on.host.provider_used = 0;
    lease_stage_say(&on, "north", 1);
    assert_int_equal(state_now(), LEASE_ACTIVE);
    stage_wait_with(&on.stage, 1, both, 1);
    assert_int_equal(state_now(), LEASE_INACTIVE);
}

static void test_once_in_ten_seconds(void **state)
{
    on.host.provider_used = 2;
    lease_stage_make(&on);
    assert_int_equal(ask(&ops, LEASE_STAGE_ID)->code, 0);
    stage_wait_with(&on.stage, 9999, both, 1);
    expect_refusal(&north, ERR_STATE, "try again in 1 s");
    stage_wait_with(&on.stage, 1, both, 1);
    assert_int_equal(ask(&north, LEASE_STAGE_ID)->code, 0);
}

static void test_states_in_which_nothing_is_rebalanced(void **state)
{
    const struct msg_reply *reply = ask(&ops, "north/9/south");
    assert_int_equal(reply->code, ERR_NOT_FOUND);
    lease_stage_say(&on, "north", 1);
    expect_refusal(&ops, ERR_STATE, "not made yet");
    lease_stage_make(&on);
    assert_int_equal(ask(&ops, LEASE_STAGE_ID)->code, 0);
    expect_refusal(&ops, ERR_STATE, "slots change hands already");
    on.books.is_withdrawn = true;
    on.books.epoch++;
    lease_stage_say(&on, "north", 1);
    expect_refusal(&ops, ERR_STATE, "draining");
    on.books.is_ended = true;
    on.books.epoch++;
    lease_stage_say(&on, "north", 1);
    expect_refusal(&ops, ERR_STATE, "ended");
}

static void test_a_provider_that_is_away(void **state)
{
    lease_stage_make(&on);
    stage_wait_with(&on.stage, STAGE_LOST_AFTER_MS + 1, both + 1, 1);
    expect_refusal(&ops, ERR_AWAY, "not connected");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)
    const struct CMUnitTest tests[] = {
        TEST(test_the_rule_is_applied_at_once),
        TEST(test_the_providers_site_may_ask_and_the_consumers_may_not),
        TEST(test_what_calls_for_nothing_says_so),
        TEST(test_regular_instants_do_not_change),
        TEST(test_once_in_ten_seconds),
        TEST(test_states_in_which_nothing_is_rebalanced),
        TEST(test_a_provider_that_is_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
