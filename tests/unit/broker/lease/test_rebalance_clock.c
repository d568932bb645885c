/* SPDX-License-Identifier: Apache-2.0 */
/* test_rebalance_clock.c: a lease that has to wait because too many hand-overs begin at
 * the same time, and the instant that it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

enum { MADE_MS = 1000000, DELAY_MS = 60000, DUE_MS = MADE_MS + DELAY_MS };

static struct member north, south;
static struct lease *lease;
static struct handover_limiter limiter;
static struct effects effects;

static struct member site(const char *name)
{
    struct member member = {.is_here = true, .roles = ROLE_PROVIDER | ROLE_CONSUMER};
    snprintf(member.name, sizeof(member.name), "%s", name);
    return member;
}

/* A shared lease that is due at DUE_MS: 3 of its 4 slots are idle at the provider, so
 * that they go to the consumer. */
static int open_lease(void **state)
{
    const struct host_split host = {
        .host = "n1", .n_slots = 4, .provider = 3, .consumer = 1, .consumer_used = 1};
    const struct lease_id id = {
        .provider = "north", .policy = "1", .consumer = "south"};
    (void)state;
    north = site("north");
    south = site("south");
    limiter = (struct handover_limiter){0};
    lease = lease_new(&id, &north, &south);
    lease->row.type = LEASE_SHARED;
    lease->row.state = LEASE_ACTIVE;
    lease->row.epoch = 1;
    lease_set_hosts(lease, &host, 1);
    lease->rebalance_clock = rebalance_clock_unset();
    lease->rebalance_clock.delay_ms = DELAY_MS;
    rebalance_clock_start(lease, MADE_MS);
    effects_init(&effects);
    return 0;
}

static int close_lease(void **state)
{
    (void)state;
    lease_free(lease);
    effects_release(&effects);
    return 0;
}

static bool begins(int64_t now_ms)
{
    rebalance_clock_tick(lease, &limiter, now_ms, &effects);
    return lease->row.state == LEASE_INACTIVE;
}

/* Other leases begin as many hand-overs as may begin now. */
static void use_up(bool is_promised, int64_t now_ms)
{
    while (handover_limiter_take(&limiter, is_promised, now_ms)) {
    }
}

static void test_begins_when_it_is_due(void **state)
{
    (void)state;
    assert_true(rebalance_clock_wake_ms(lease) == DUE_MS);
    assert_false(begins(DUE_MS - 1));
    assert_true(begins(DUE_MS));
}

/* One that was given an instant begins then, although others come after those who were
 * given one. */
static void test_begins_at_the_instant_it_was_given(void **state)
{
    int64_t given_ms = DUE_MS + HANDOVER_LIMITER_MS;
    (void)state;
    use_up(false, DUE_MS);
    assert_false(begins(DUE_MS));
    assert_true(rebalance_clock_wake_ms(lease) == given_ms);
    assert_false(handover_limiter_take(&limiter, false, given_ms));
    assert_true(begins(given_ms));
}

/* One that was given none does not begin before those that were. */
static void test_comes_after_those_with_an_instant(void **state)
{
    (void)state;
    use_up(false, DUE_MS - HANDOVER_LIMITER_MS);
    assert_true(handover_limiter_promise(&limiter) == DUE_MS);
    assert_false(begins(DUE_MS)); /* there is room, for the other lease */
    assert_true(handover_limiter_take(&limiter, true, DUE_MS));
    assert_true(begins(DUE_MS + HANDOVER_LIMITER_MS));
}

/* Whatever it had to wait for, its later instants are made + k x delay. */
static void test_later_instants_stay(void **state)
{
    (void)state;
    use_up(false, DUE_MS);
    assert_false(begins(DUE_MS));
    assert_true(begins(DUE_MS + HANDOVER_LIMITER_MS));
    assert_true(lease->row.judged_ms == DUE_MS);
    lease->row.state = LEASE_ACTIVE;
    assert_true(rebalance_clock_wake_ms(lease) == DUE_MS + DELAY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lease, close_lease)
        TEST(test_begins_when_it_is_due),
        TEST(test_begins_at_the_instant_it_was_given),
        TEST(test_comes_after_those_with_an_instant),
        TEST(test_later_instants_stay),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
