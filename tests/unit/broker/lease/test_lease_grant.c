/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_grant.c: the split that is proposed for a leaf: what it has, and the grant
 * on top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "broker/lease/lease.h"

static struct member north, south;
static struct lease lease;
static struct host_split host;
static struct arena arena;

/* south's leaf holds 2 slots of n1. */
static int open_contract(void **state)
{
    (void)state;
    host = (struct host_split){.host = "n1", .n_slots = 2, .consumer = 2};
    lease = (struct lease){.provider = &north, .consumer = &south};
    lease.row.hosts = &host;
    lease.row.n_hosts = 1;
    arena_init(&arena);
    return 0;
}

static int close_contract(void **state)
{
    (void)state;
    lease_grant_clear(&lease.grant);
    arena_release(&arena);
    return 0;
}

/* 3 slots of n1 and 4 of n2. */
static void grant(void)
{
    const struct host_slots hosts[] = {
        {.host = "n1", .n_slots = 3}, {.host = "n2", .n_slots = 4}, {.host = "n3"}};
    lease_grant_set(&lease.grant, hosts, 2, "7 slots granted");
}

static void test_only_the_hosts_given_are_granted(void **state)
{
    (void)state;
    const struct host_slots hosts[] = {{.host = "n1", .n_slots = 3},
                                       {.host = "n2", .n_slots = 4}};
    lease_grant_set(&lease.grant, hosts, 1, "");
    assert_int_equal(lease.grant.n_hosts, 1);
    assert_int_equal(lease.grant.n_slots, 3);
}

static void test_granted_slots_are_added_to_the_split(void **state)
{
    (void)state;
    struct rebalance_plan plan;
    grant();
    lease_grant_plan(&lease, &arena, &plan);
    assert_int_equal(plan.direction, REBALANCE_TO_CONSUMER);
    assert_int_equal(plan.n_moved, 7);
    assert_string_equal(plan.reason, "7 slots granted");
    assert_int_equal(plan.n_hosts, 2);
    assert_int_equal(plan.hosts[0].n_slots, 5);
    assert_int_equal(plan.hosts[0].consumer, 5);
    assert_string_equal(plan.hosts[1].host, "n2");
    assert_int_equal(plan.hosts[1].n_slots, 4);
    assert_int_equal(plan.hosts[1].consumer, 4);
    assert_int_equal(host.n_slots, 2); /* the lease has what it had */
}

/* The provider's own leaf holds its slots on the provider's side. */
static void test_the_providers_own_leaf(void **state)
{
    (void)state;
    struct rebalance_plan plan;
    lease.consumer = &north;
    host.provider = 2;
    host.consumer = 0;
    grant();
    lease_grant_plan(&lease, &arena, &plan);
    assert_int_equal(plan.hosts[0].provider, 5);
    assert_int_equal(plan.hosts[0].consumer, 0);
    assert_int_equal(plan.hosts[1].provider, 4);
}

/* The provider refused the grant as often as is allowed: the split stays as it is. */
static void test_a_grant_that_is_refused_is_given_up(void **state)
{
    (void)state;
    struct rebalance_plan plan;
    grant();
    lease.grant.n_tries = LEASE_GRANT_TRIES_MAX;
    lease_grant_plan(&lease, &arena, &plan);
    assert_int_equal(plan.n_moved, 7);
    lease.grant.n_tries = LEASE_GRANT_TRIES_MAX + 1;
    lease_grant_plan(&lease, &arena, &plan);
    assert_int_equal(plan.direction, REBALANCE_NONE);
    assert_int_equal(plan.n_moved, 0);
    assert_int_equal(plan.n_hosts, 1);
    assert_int_equal(plan.hosts[0].n_slots, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_contract, close_contract)
        TEST(test_only_the_hosts_given_are_granted),
        TEST(test_granted_slots_are_added_to_the_split),
        TEST(test_the_providers_own_leaf),
        TEST(test_a_grant_that_is_refused_is_given_up),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
