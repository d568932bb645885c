/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider_export.c: policies become leases, and leases follow the policies,
 * the hosts and the jobs: opening, numbers, revision, withdrawal, return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/quota.h"
#include "tests/unit/provider/provider_world.h"

static int set_up(void **state)
{
    *state = provider_world_new(4);
    return 0;
}

static int tear_down(void **state)
{
    provider_world_free(*state);
    return 0;
}

#define ASSERT_BOOK(lease, expected)                                                   \
    assert_string_equal(provider_world_book(world, lease), expected)

/* What the site would tell again after a restart. */
static void tell_hosts(struct provider_world *world)
{
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_set_local_used(world->provider, "n2", 4, 0);
    provider_world_tick(world, 0);
}

/* ------------------------------------------------------------ opening */

static void test_opening_split(void **state)
{
    (void)state;
    static const struct {
        const char *why, *policy, *book;
    } rows[] = {
        {"shared: all but one slot, on the first host, is the provider's",
         "p south shared n1=4 n2=2", "1: n1 3/0 1/0; n2 2/0 0/0"},
        {"in the order of the policy", "p south shared n2=2 n1=4",
         "1: n2 1/0 1/0; n1 4/0 0/0"},
        {"shared, one slot in all: it is the consumer's", "p south shared n1=1",
         "1: n1 0/0 1/0"},
        {"exclusive: all the consumer's", "p south exclusive n1=4 n2=2",
         "1: n1 0/0 4/0; n2 0/0 2/0"},
        {"a host that the site has told nothing about", "p south exclusive n7=3",
         "1: n7 0/0 3/0"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct provider_world *world = made;
        provider_world_export(world, rows[i].policy);
        if (strcmp(provider_world_book(world, "north/p/south"), rows[i].book) != 0) {
            fail_msg("%s: got %s", rows[i].why,
                     provider_world_book(world, "north/p/south"));
        }
        tear_down(&made);
    }
}

static void test_equal_policies_keep_the_split(void **state)
{
    struct provider_world *world = *state;
    static const char policies[] = "p south shared n1=4;q east exclusive n2=4";
    provider_world_export(world, policies);
    provider_world_propose(world, "north/p/south", 1, "n1 0:4");
    provider_world_export(world, policies);
    assert_int_equal(world->effects.count, 0);
    provider_world_restart(world);
    tell_hosts(world);
    assert_int_equal(world->effects.count, 0);
    ASSERT_BOOK("north/p/south", "2: n1 0/0 4/0");
    ASSERT_BOOK("north/q/east", "1: n2 0/0 4/0");
}

/* Until the lease is made, its one slot is where a job can start. */
static void test_reserved_slot_leaves_a_host_that_is_down(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4 n2=4");
    provider_world_session(world, 1);
    provider_set_down(world->provider, "n1", true);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "2: n1 4/0 0/0 down; n2 3/0 1/0");
    assert_string_equal(provider_world_state(world, "north/p/south")->reason,
                        "the reserved slot moves to host n2: host n1 accepts no jobs");
    provider_set_down(world->provider, "n1", false);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "2: n1 4/0 0/0; n2 3/0 1/0");
    /* It survives a restart, and moves again after it. */
    provider_world_restart(world);
    tell_hosts(world);
    provider_set_used_exclusively(world->provider, "n2", true);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "3: n1 3/0 1/0; n2 4/0 0/0 down");
}

static void test_reserved_slot_waits_for_a_usable_host(void **state)
{
    struct provider_world *world = *state;
    provider_set_down(world->provider, "n1", true);
    provider_set_local_used(world->provider, "n2", 4, 4);
    provider_world_export(world, "p south shared n1=4 n2=4");
    ASSERT_BOOK("north/p/south", "1: n1 3/0 1/0 down; n2 4/4 0/0");
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "1: n1 3/0 1/0 down; n2 4/4 0/0");
    provider_set_local_used(world->provider, "n2", 4, 3);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "2: n1 4/0 0/0 down; n2 3/3 1/0");
}

static void test_reserved_slot_stays_once_the_lease_is_made(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4 n2=4");
    provider_world_start(world, "south", 1, "north/p/south", 1, "n1=1");
    provider_world_end(world, "south", 1);
    provider_set_down(world->provider, "n1", true);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "1 made: n1 3/0 1/0 down; n2 4/0 0/0");
}

/* ------------------------------------------------------------ numbers */

static void test_numbers(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(
        world, "1 south shared n1=1;2 south shared n1=2;3 south shared n2=1");
    ASSERT_BOOK("north/1/south", "1: n1 0/0 1/0");
    ASSERT_BOOK("north/2/south", "1: n1 1/0 1/0");
    ASSERT_BOOK("north/3/south", "1: n2 0/0 1/0");
    /* The second goes, another comes before the third. */
    provider_world_export(
        world, "1 south shared n1=1;2 south shared n2=2;3 south shared n2=1");
    ASSERT_BOOK("north/1/south", "1: n1 0/0 1/0");
    ASSERT_BOOK("north/2/south", "2 withdrawn ended");
    ASSERT_BOOK("north/3/south", "1: n2 0/0 1/0");
    ASSERT_BOOK("north/4/south", "1: n2 1/0 1/0");
    /* Order alone says nothing, nor does a restart. */
    provider_world_export(
        world, "1 south shared n2=1;2 south shared n1=1;3 south shared n2=2");
    assert_int_equal(world->effects.count, 0);
    provider_world_restart(world);
    assert_int_equal(world->effects.count, 0);
    ASSERT_BOOK("north/4/south", "1: n2 1/0 1/0");
    /* The second comes back: under its number and the next epoch, to be made anew. */
    provider_world_export(world, "1 south shared n1=2");
    ASSERT_BOOK("north/2/south", "3: n1 1/0 1/0");
}

static void test_twins_have_two_numbers(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "1 south shared n1=1;2 south shared n1=1");
    ASSERT_BOOK("north/1/south", "1: n1 0/0 1/0");
    ASSERT_BOOK("north/2/south", "1: n1 0/0 1/0");
    provider_world_export(world, "1 south shared n1=1;2 south shared n1=1");
    assert_int_equal(world->effects.count, 0);
}

static void test_place_is_preferred(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "x south shared n1=1;2 south shared n1=2");
    ASSERT_BOOK("north/x/south", "1: n1 0/0 1/0");
    ASSERT_BOOK("north/1/south", "none");
    ASSERT_BOOK("north/2/south", "1: n1 1/0 1/0");
}

/* ------------------------------------------------------------ revision */

static void test_named_policy_changes(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_propose(world, "north/p/south", 1, "n1 1:3");
    provider_world_start(world, "south", 1, "north/p/south", 2, "n1=1");
    /* Fewer slots: the provider's go first, then idle ones. */
    provider_world_export(world, "p south shared n1=2");
    ASSERT_BOOK("north/p/south", "3 made: n1 0/0 2/1");
    /* More slots, another host: the provider's. */
    provider_world_export(world, "p south shared n2=2 n1=3");
    ASSERT_BOOK("north/p/south", "4 made: n2 2/0 0/0; n1 1/0 2/1");
    /* A host goes: what runs there stays until it ends. */
    provider_world_export(world, "p south shared n2=2");
    ASSERT_BOOK("north/p/south", "5 made: n2 2/0 0/0; n1 0/0 1/1");
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("north/p/south", "6 made: n2 2/0 0/0");
    assert_string_equal(provider_world_disk(world, "north/p/south"),
                        "6 made: n2 2/0 0/0");
}

static void test_slots_in_use_beyond_the_new_size(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_propose(world, "north/p/south", 1, "n1 0:4");
    provider_world_start(world, "south", 1, "north/p/south", 2, "n1=1");
    provider_world_start(world, "south", 2, "north/p/south", 2, "n1=1");
    provider_world_start(world, "south", 3, "north/p/south", 2, "n1=1");
    provider_world_export(world, "p south shared n1=1");
    ASSERT_BOOK("north/p/south", "3 made: n1 0/0 3/3");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 1);
    provider_world_restart(world);
    tell_hosts(world);
    ASSERT_BOOK("north/p/south", "3 made: n1 0/0 3/3");
    provider_world_end(world, "south", 2);
    ASSERT_BOOK("north/p/south", "4 made: n1 0/0 2/2");
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("north/p/south", "5 made: n1 0/0 1/1");
    provider_world_end(world, "south", 3);
    ASSERT_BOOK("north/p/south", "5 made: n1 0/0 1/0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 3);
}

static void test_type_changes(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_set_local_used(world->provider, "n1", 4, 2);
    provider_world_export(world, "p south exclusive n1=4");
    ASSERT_BOOK("north/p/south", "2: n1 0/0 2/0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 2), 2);
    provider_set_local_used(world->provider, "n1", 4, 1);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "3: n1 0/0 3/0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 1), 1);
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "4: n1 0/0 4/0");
    provider_world_export(world, "p south shared n1=4");
    ASSERT_BOOK("north/p/south", "5: n1 0/0 4/0");
}

/* Each term alone is sent at once, under the same epoch. */
static void test_terms_alone_change_no_epoch(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_session(world, 1);
    static const struct export_terms steps[] = {
        {RECLAIM_DEMAND, 0, 300000, false, false, 0, 0},
        {RECLAIM_DEMAND, 5, 300000, false, false, 0, 0},
        {RECLAIM_DEMAND, 5, 7000, false, false, 0, 0},
        {RECLAIM_DEMAND, 5, 7000, true, false, 0, 0},
        {RECLAIM_DEMAND, 5, 7000, true, true, 0, 0},
        {RECLAIM_DEMAND, 5, 7000, true, true, 9, 0},
        {RECLAIM_DEMAND, 5, 7000, true, true, 9, 12},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        world->plan.leases[0].terms = steps[i];
        effects_clear(&world->effects);
        provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
        provider_world_tick(world, 100);
        const struct msg_state *sent = provider_world_state(world, "north/p/south");
        assert_non_null(sent);
        assert_int_equal(sent->epoch, 1);
        assert_int_equal(sent->reclaim_policy, steps[i].reclaim_policy);
        assert_int_equal(sent->min_hold_ms, steps[i].min_hold_ms);
        assert_int_equal(sent->lease_term_ms, steps[i].lease_term_ms);
        assert_int_equal(sent->ends_lost, steps[i].ends_lost);
        assert_int_equal(sent->takes_interactive, steps[i].takes_interactive);
        assert_int_equal(sent->price, steps[i].price);
        assert_int_equal(sent->n_hours, steps[i].n_hours);
    }
}

static const char *reason_of(struct provider_world *world)
{
    struct msg_state lease;
    assert_true(provider_find_lease(world->provider, "north/p/south", &lease));
    return arena_str(&world->memory, lease.reason);
}

/* Each epoch has a reason that says which side lost or gained slots, and where. */
static void test_reasons_of_the_providers_own_changes(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_propose(world, "north/p/south", 1, "n1 1:3");
    provider_set_local_used(world->provider, "n1", 4, 3);
    provider_world_tick(world, 0);
    assert_string_equal(reason_of(world), "own jobs use slots of host n1");
    provider_set_local_used(world->provider, "n1", 3, 3);
    provider_world_tick(world, 0);
    assert_string_equal(reason_of(world), "fewer slots on host n1");
    provider_set_local_used(world->provider, "n1", 4, 3);
    provider_world_tick(world, 0);
    assert_string_equal(reason_of(world), "slots became free on host n1");
}

static void test_own_change_ends_a_freeze(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_freeze(world, "north/p/south", 1, 1);
    provider_world_export(world, "p south shared n1=3");
    ASSERT_BOOK("north/p/south", "2: n1 2/0 1/0");
    provider_world_propose(world, "north/p/south", 1, "n1 0:4");
    ASSERT_BOOK("north/p/south", "2: n1 2/0 1/0");
    provider_world_propose(world, "north/p/south", 2, "n1 0:4");
    ASSERT_BOOK("north/p/south", "2: n1 2/0 1/0");
}

/* ------------------------------------------------------------ withdrawal */

static void test_withdrawal(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4 n2=2");
    provider_world_session(world, 1);
    provider_world_propose(world, "north/p/south", 1, "n1 0:4 n2 1:1");
    provider_world_start(world, "south", 1, "north/p/south", 2, "n1=2");
    provider_world_start(world, "south", 2, "north/p/south", 2, "n1=1 n2=1");
    provider_world_export(world, "");
    ASSERT_BOOK("north/p/south", "3 made withdrawn: n1 0/0 3/3; n2 0/0 1/1");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 1);
    /* Nothing moves to the consumer any more. */
    provider_world_propose(world, "north/p/south", 3, "n1 0:3 n2 0:1");
    ASSERT_BOOK("north/p/south", "3 made withdrawn: n1 0/0 3/3; n2 0/0 1/1");
    provider_world_end(world, "south", 2);
    ASSERT_BOOK("north/p/south", "4 made withdrawn: n1 0/0 2/2");
    provider_world_restart(world);
    ASSERT_BOOK("north/p/south", "4 made withdrawn: n1 0/0 2/2");
    tell_hosts(world);
    provider_world_session(world, 2);
    world->now_ms += 100;
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("north/p/south", "5 made withdrawn ended");
    assert_true(provider_world_state(world, "north/p/south")->is_ended);
    /* What has ended is silent, and answers when asked. */
    provider_world_tick(world, 59000);
    assert_int_equal(provider_world_told(world, "north/p/south"), 0);
    provider_world_tick(world, 1000); /* once a minute, for a broker that lost it */
    assert_int_equal(provider_world_told(world, "north/p/south"), 1);
    provider_world_freeze(world, "north/p/south", 5, 99);
    assert_false(provider_world_state(world, "north/p/south")->is_frozen);
    provider_world_restart(world);
    ASSERT_BOOK("north/p/south", "5 made withdrawn ended");
}

static void test_withdrawn_policy_comes_back(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_start(world, "south", 1, "north/p/south", 1, "n1=1");
    provider_world_export(world, "");
    ASSERT_BOOK("north/p/south", "2 made withdrawn: n1 0/0 1/1");
    provider_world_export(world, "p south shared n1=4");
    ASSERT_BOOK("north/p/south", "3 made: n1 3/0 1/1");
    provider_world_end(world, "south", 1);
    provider_world_export(world, "");
    ASSERT_BOOK("north/p/south", "4 made withdrawn ended");
    /* After its end it is a new contract, but never under an old epoch. */
    provider_world_export(world, "p south shared n1=2");
    ASSERT_BOOK("north/p/south", "5: n1 1/0 1/0");
}

/* Slots of a withdrawn lease that are in use are not promised to anybody else. */
static void test_new_policy_waits_for_the_old_one(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=4");
    provider_world_start(world, "south", 1, "north/a/south", 1, "n1=2");
    provider_world_start(world, "south", 2, "north/a/south", 1, "n1=1");
    provider_world_export(world, "b east exclusive n1=4");
    ASSERT_BOOK("north/a/south", "2 made withdrawn: n1 0/0 3/3");
    ASSERT_BOOK("north/b/east", "1: n1 0/0 1/0");
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("north/a/south", "3 made withdrawn: n1 0/0 1/1");
    ASSERT_BOOK("north/b/east", "2: n1 0/0 3/0");
    provider_world_end(world, "south", 2);
    ASSERT_BOOK("north/b/east", "3: n1 0/0 4/0");
}

/* A host of a shared lease has one consumer: the next one waits on each host. */
static void test_another_consumer_waits_on_each_host(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4 n2=4");
    provider_world_propose(world, "north/p/south", 1, "n1 0:4 n2 0:4");
    provider_world_start(world, "south", 1, "north/p/south", 2, "n1=1");
    provider_world_start(world, "south", 2, "north/p/south", 2, "n2=1");
    provider_world_export(world, "p east shared n1=4 n2=4");
    ASSERT_BOOK("north/p/south", "3 made withdrawn: n1 0/0 1/1; n2 0/0 1/1");
    ASSERT_BOOK("north/p/east", "1: n1 0/0 0/0; n2 0/0 0/0");
    provider_world_end(world, "south", 2);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "4 made withdrawn: n1 0/0 1/1");
    ASSERT_BOOK("north/p/east", "2: n1 0/0 0/0; n2 3/0 1/0");
    provider_world_restart(world);
    tell_hosts(world);
    ASSERT_BOOK("north/p/east", "2: n1 0/0 0/0; n2 3/0 1/0");
    provider_world_end(world, "south", 1);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/east", "3: n1 4/0 0/0; n2 3/0 1/0");
}

static void test_new_policy_finds_a_busy_host(void **state)
{
    struct provider_world *world = *state;
    provider_set_local_used(world->provider, "n1", 4, 4);
    provider_world_export(world, "p south shared n1=4;q south exclusive n2=4");
    /* Not even the slot that lets the lease be made, until a job ends. */
    ASSERT_BOOK("north/p/south", "1: n1 4/4 0/0");
    ASSERT_BOOK("north/q/south", "1: n2 0/0 4/0");
    provider_set_local_used(world->provider, "n1", 4, 3);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "2: n1 3/3 1/0");
}

/* ------------------------------------------------------------ hosts */

static void test_host_shrinks(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4");
    provider_world_propose(world, "north/p/south", 1, "n1 1:3");
    provider_world_start(world, "south", 1, "north/p/south", 2, "n1=2");
    provider_set_local_used(world->provider, "n1", 2, 1);
    provider_world_tick(world, 0);
    /* 3 run where there is room for 2: nothing is stopped, nothing starts. */
    ASSERT_BOOK("north/p/south", "3 made: n1 0/0 2/2");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 2, 1), 1);
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("north/p/south", "4 made: n1 1/1 1/0");
    provider_set_local_used(world->provider, "n1", 4, 1);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "5 made: n1 3/1 1/0");
}

/* An exclusive lease holds its slots as long as it lasts; those of a shared lease come
 * home at a rebalance. */
static void test_slots_that_are_lent_for_good(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4;q south exclusive n2=4");
    assert_int_equal(provider_lent(world->provider, "n1"),
                     provider_host_lent(provider_host(world->provider, "n1")));
    assert_true(provider_lent(world->provider, "n1") > 0);
    assert_int_equal(provider_host_lent_for_good(provider_host(world->provider, "n1")),
                     0);
    assert_int_equal(provider_host_lent_for_good(provider_host(world->provider, "n2")),
                     4);
}

static void test_host_goes(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=2 n2=2");
    provider_set_local_used(world->provider, "n1", 0, 0);
    provider_world_tick(world, 0);
    /* The slot that lets the lease be made moves on. */
    ASSERT_BOOK("north/p/south", "2: n1 0/0 0/0; n2 1/0 1/0");
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "3: n1 2/0 0/0; n2 1/0 1/0");
}

/* The broker may move an exclusive lease's idle slots home (a lost consumer): then the
 * site's own jobs may use them, and they count as the provider's. */
static void test_exclusive_slots_sent_home(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south exclusive n1=3");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 1);
    provider_world_propose(world, "north/p/south", 1, "n1 3:0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 4);
    provider_set_local_used(world->provider, "n1", 4, 2);
    provider_world_tick(world, 0);
    ASSERT_BOOK("north/p/south", "2: n1 3/1 0/0");
    provider_world_propose(world, "north/p/south", 2, "n1 0:3");
    ASSERT_BOOK("north/p/south", "2: n1 3/1 0/0");
    provider_world_propose(world, "north/p/south", 2, "n1 1:2");
    ASSERT_BOOK("north/p/south", "3: n1 1/1 2/0");
}

/* Leases that are withheld exist and say why, and have no slot that is idle; what runs
 * on them runs on. */
static void test_withheld(void **state)
{
    struct provider_world *world = *state;
    provider_withhold(world->provider, "no account");
    provider_world_export(world, "spare south shared n1=2 n2=2");
    provider_world_session(world, 1);
    assert_string_equal(provider_world_book(world, "north/spare/south"),
                        "1: n1 0/0 0/0; n2 0/0 0/0");
    assert_string_equal(provider_world_state(world, "north/spare/south")->withheld,
                        "no account");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 4);
    assert_int_equal(
        provider_world_start(world, "south", 1, "north/spare/south", 1, "n1=1"),
        PROVIDER_REFUSED);
    assert_string_equal(world->reason, "lease north/spare/south lends no slots");

    provider_withhold(world->provider, NULL);
    provider_world_export(world, "spare south shared n1=2 n2=2");
    provider_world_tick(world, 1000);
    assert_null(provider_world_state(world, "north/spare/south")->withheld);
    assert_string_equal(provider_world_book(world, "north/spare/south"),
                        "2: n1 1/0 1/0; n2 2/0 0/0");
    assert_int_equal(
        provider_world_start(world, "south", 2, "north/spare/south", 2, "n1=1"),
        PROVIDER_ADMITTED);
    provider_world_tick(world, 1000);

    provider_withhold(world->provider, "no account");
    provider_world_export(world, "spare south shared n1=2 n2=2");
    assert_string_equal(provider_world_book(world, "north/spare/south"),
                        "3 made: n1 0/0 1/1; n2 0/0 0/0");
    provider_world_end(world, "south", 2);
    provider_world_tick(world, 1000);
    assert_string_equal(provider_world_book(world, "north/spare/south"),
                        "4 made: n1 0/0 0/0; n2 0/0 0/0");
}

static const char lease_p[] = "north/p/south";

/* HOURS of the first policy. */
static void export_hours(struct provider_world *world, int64_t n_hours)
{
    world->plan.leases[0].terms.n_hours = n_hours;
    effects_clear(&world->effects);
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    provider_world_tick(world, 0);
}

/* Two slots use two slot hours in an hour. The lease lends nothing then, until the
 * month is over: a restart forgets none of it, and what is running goes on. */
static void test_quota(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south exclusive n1=3");
    export_hours(world, 2);
    provider_world_start(world, "south", 1, lease_p, 1, "n1=2");
    provider_world_tick(world, 0);
    provider_world_tick(world, QUOTA_HOUR_MS * 4 / 5 - 1);
    assert_int_equal(provider_wake_ms(world->provider), world->now_ms + 1);
    provider_world_session(world, 1);
    provider_world_tick(world, 1); /* 80 % */
    assert_int_equal(provider_world_state(world, lease_p)->hours_ms,
                     QUOTA_HOUR_MS * 8 / 5);
    assert_null(provider_world_state(world, lease_p)->withheld);
    provider_world_restart(world);
    export_hours(world, 2);
    provider_set_local_used(world->provider, "n1", 4, 0);
    provider_set_local_used(world->provider, "n2", 4, 0);
    provider_world_session(world, 2);
    provider_world_tick(world, QUOTA_HOUR_MS / 5 - 1);
    ASSERT_BOOK(lease_p, "1 made: n1 0/0 3/2");
    provider_world_tick(world, 1);
    ASSERT_BOOK(lease_p, "2 made: n1 0/0 2/2"); /* the idle slot is back */
    assert_string_equal(provider_world_state(world, lease_p)->withheld,
                        "its quota is used up: 2.0 of 2 slot hours of 1970-01 (HOURS)");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 2);
    assert_int_equal(provider_world_start(world, "south", 2, lease_p, 2, "n1=1"),
                     PROVIDER_REFUSED);
    provider_world_end(world, "south", 1);
    provider_world_tick(world, 0);
    ASSERT_BOOK(lease_p, "3 made: n1 0/0 0/0");
    provider_world_tick(world, 31 * 24 * QUOTA_HOUR_MS - world->now_ms - 1);
    ASSERT_BOOK(lease_p, "3 made: n1 0/0 0/0");
    provider_world_tick(world, 1);
    ASSERT_BOOK(lease_p, "4 made: n1 0/0 3/0");
    assert_int_equal(provider_world_start(world, "south", 3, lease_p, 4, "n1=1"),
                     PROVIDER_ADMITTED);
}

/* What was used under a smaller quota counts under a larger one, and what ran before
 * there was a quota does not. */
static void test_quota_that_is_changed(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south exclusive n1=3");
    provider_world_start(world, "south", 1, lease_p, 1, "n1=1");
    provider_world_tick(world, 0);
    provider_world_tick(world, 5 * QUOTA_HOUR_MS);
    struct msg_state told;
    int64_t begin_ms = world->now_ms;
    export_hours(world, 1);
    ASSERT_BOOK(lease_p, "1 made: n1 0/0 3/1");
    provider_world_tick(world, QUOTA_HOUR_MS);
    ASSERT_BOOK(lease_p, "2 made: n1 0/0 1/1");
    export_hours(world, 3);
    provider_find_lease(world->provider, lease_p, &told);
    assert_int_equal(told.hours_since_ms, begin_ms);
    assert_int_equal(told.hours_ms, QUOTA_HOUR_MS);
    ASSERT_BOOK(lease_p, "3 made: n1 0/0 3/1");
    provider_world_tick(world, 2 * QUOTA_HOUR_MS);
    ASSERT_BOOK(lease_p, "4 made: n1 0/0 1/1");
    export_hours(world, 0);
    ASSERT_BOOK(lease_p, "5 made: n1 0/0 3/1");
    provider_find_lease(world->provider, lease_p, &told);
    assert_int_equal(told.hours_since_ms, 0);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_split),
        STORY(test_withheld),
        STORY(test_quota),
        STORY(test_quota_that_is_changed),
        STORY(test_equal_policies_keep_the_split),
        STORY(test_reserved_slot_leaves_a_host_that_is_down),
        STORY(test_reserved_slot_waits_for_a_usable_host),
        STORY(test_reserved_slot_stays_once_the_lease_is_made),
        STORY(test_numbers),
        STORY(test_twins_have_two_numbers),
        STORY(test_place_is_preferred),
        STORY(test_named_policy_changes),
        STORY(test_slots_in_use_beyond_the_new_size),
        STORY(test_type_changes),
        STORY(test_terms_alone_change_no_epoch),
        STORY(test_reasons_of_the_providers_own_changes),
        STORY(test_own_change_ends_a_freeze),
        STORY(test_withdrawal),
        STORY(test_withdrawn_policy_comes_back),
        STORY(test_new_policy_waits_for_the_old_one),
        STORY(test_another_consumer_waits_on_each_host),
        STORY(test_new_policy_finds_a_busy_host),
        STORY(test_host_shrinks),
        STORY(test_slots_that_are_lent_for_good),
        STORY(test_host_goes),
        STORY(test_exclusive_slots_sent_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
