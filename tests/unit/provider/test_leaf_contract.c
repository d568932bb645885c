/* SPDX-License-Identifier: Apache-2.0 */
/* test_leaf_contract.c: a policy that exports to a pool: its parts, grants and recalls,
 * at the provider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/quota.h"
#include "tests/unit/provider/provider_world.h"

#define IDLE "north/p/pool:x"
#define ENG "north/p/south:/eng"
#define OWN "north/p/north:/own"

static struct provider_world world;

static int setup(void **state)
{
    (void)state;
    provider_world_init(&world);
    provider_set_local_used(world.provider, "n1", 4, 0);
    provider_set_local_used(world.provider, "n2", 4, 0);
    provider_world_export(&world, "p pool:x pool n1=4 n2=2");
    provider_world_session(&world, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    provider_world_release(&world);
    return 0;
}

static struct msg_state state_of(const char *lease)
{
    struct msg_state state;
    assert_true(provider_find_lease(world.provider, lease, &state));
    return state;
}

static int held(const char *lease)
{
    struct msg_state state = state_of(lease);
    int n_held = 0;
    for (int i = 0; i < state.n_hosts; i++) {
        n_held += state.hosts[i].n_slots;
    }
    return n_held;
}

static void what_is_exported_is_idle_first(void **state)
{
    (void)state;
    struct msg_state idle = state_of(IDLE);
    assert_int_equal(idle.type, LEASE_POOL);
    assert_true(idle.is_made);
    assert_int_equal(held(IDLE), 6);
    /* nobody's: not to its own jobs either, and lent to nobody */
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 0),
                     0);
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n2"), 4, 0),
                     2);
    assert_int_equal(provider_lent(world.provider, "n1"), 0);
    assert_int_equal(provider_exported(world.provider, "n1"), 4);
}

static void a_grant_changes_both_parts(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    assert_int_equal(state_of(ENG).epoch, 1);
    assert_int_equal(held(ENG), 0);
    provider_world_propose(&world, ENG, 1, "n1 0:3 n2 0:1");
    assert_int_equal(state_of(ENG).epoch, 2);
    assert_int_equal(state_of(IDLE).epoch, 2);
    assert_string_equal(state_of(IDLE).reason, "slots were granted");
    assert_int_equal(held(ENG), 4);
    assert_int_equal(held(IDLE), 2);
    provider_world_propose(&world, ENG, 1, "n1 0:1"); /* late */
    assert_int_equal(state_of(ENG).epoch, 2);
}

static void what_does_not_hold_changes_nothing(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    static const struct {
        const char *split, *why;
    } rows[] = {{"n1 0:5", "more than is idle there"},
                {"n1 1:2", "on the provider's side"},
                {"n9 0:1", "no host of the policy"},
                {"n2 0:3", "of n2 two are exported"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        provider_world_propose(&world, ENG, 1, rows[i].split);
        if (state_of(ENG).epoch != 1 || held(IDLE) != 6) {
            fail_msg("%s: %s", rows[i].split, rows[i].why);
        }
    }
    provider_world_propose(&world, IDLE, 1, "n1 0:1 n2 0:2");
    assert_int_equal(held(IDLE), 6);
}

static void only_leaves_of_policies_that_export_to_a_pool_are_opened(void **state)
{
    (void)state;
    static const char *const ids[] = {"north/q/south:/eng", "east/p/south:/eng",
                                      "north/p/south", "north/p/south:eng",
                                      "north/p/pool:y"};
    int n_books = provider_count_leases(world.provider);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        provider_world_open(&world, ids[i]);
        assert_int_equal(provider_count_leases(world.provider), n_books);
    }
    provider_world_open(&world, ENG);
    provider_world_open(&world, ENG); /* again: nothing new */
    assert_int_equal(provider_count_leases(world.provider), n_books + 1);
    assert_int_equal(state_of(ENG).epoch, 1);
}

/* The journal was replaced by one from before the contract: no epoch comes again. */
static void a_leaf_continues_above_the_epoch_of_the_broker(void **state)
{
    (void)state;
    provider_world_open_above(&world, ENG, 7);
    assert_int_equal(state_of(ENG).epoch, 8);
    provider_world_open_above(&world, ENG, 20); /* it is open: a late copy */
    assert_int_equal(state_of(ENG).epoch, 8);
}

/* Two slots use an hour of slots in half an hour, held or not: idle ones cost nothing.
 * A crash forgets none of it, and in the next month the count begins at 0. */
static void the_hours_of_a_leaf_are_counted_without_a_bound(void **state)
{
    (void)state;
    const int64_t day_ms = 24 * QUOTA_HOUR_MS;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:3");
    provider_world_tick(&world, QUOTA_HOUR_MS);
    assert_int_equal(state_of(ENG).hours_since_ms, 0); /* it has run nothing */
    int64_t begin_ms = world.now_ms;
    provider_world_start(&world, "south", 1, ENG, 2, "n1=2");
    provider_world_tick(&world, 0);
    provider_world_tick(&world, QUOTA_HOUR_MS / 2);
    assert_int_equal(state_of(ENG).hours_ms, QUOTA_HOUR_MS);
    assert_int_equal(state_of(ENG).hours_since_ms, begin_ms);
    provider_world_restart(&world);
    provider_world_export(&world, "p pool:x pool n1=4 n2=2");
    provider_world_tick(&world, QUOTA_HOUR_MS / 2 - 1);
    provider_world_end(&world, "south", 1);
    provider_world_tick(&world, 0);
    provider_world_tick(&world, day_ms);
    assert_int_equal(state_of(ENG).hours_ms, 2 * QUOTA_HOUR_MS - 2);
    assert_int_equal(state_of(ENG).hours_since_ms, begin_ms);
    assert_int_equal(state_of(ENG).n_hours, 0);
    assert_null(state_of(ENG).withheld);
    provider_set_local_used(world.provider, "n1", 4, 0);
    if (provider_world_start(&world, "south", 2, ENG, 2, "n1=1") != PROVIDER_ADMITTED) {
        fail_msg("%s", world.reason);
    }
    provider_world_tick(&world, 0);
    provider_world_tick(&world, 31 * day_ms - world.now_ms + 5);
    assert_int_equal(state_of(ENG).hours_month_ms, 31 * day_ms);
    assert_int_equal(state_of(ENG).hours_ms, 5);
}

/* What a site uses of its own hosts is not borrowed. */
static void the_sites_own_leaf_counts_no_hours(void **state)
{
    (void)state;
    provider_world_open(&world, OWN);
    provider_world_propose(&world, OWN, 1, "n1 4:0");
    provider_set_local_used(world.provider, "n1", 4, 3);
    provider_world_tick(&world, QUOTA_HOUR_MS);
    assert_int_equal(state_of(OWN).hosts[0].provider_used, 3);
    assert_int_equal(state_of(OWN).hours_since_ms, 0);
    provider_world_price(&world, OWN, 5);
    assert_int_equal(state_of(OWN).price, 0);
}

static void the_price_of_a_leaf_is_the_brokers(void **state)
{
    (void)state;
    provider_world_price(&world, ENG, 5);
    assert_int_equal(state_of(ENG).price, 5);
    provider_world_restart(&world);
    provider_world_export(&world, "p pool:x pool n1=4 n2=2");
    assert_int_equal(state_of(ENG).price, 5);
    assert_int_equal(state_of(ENG).epoch, 1);
    provider_world_price(&world, ENG, 0);
    assert_int_equal(state_of(ENG).price, 0);
    assert_int_equal(state_of(ENG).epoch, 1); /* a price is no part of the split */
}

/* A broker cannot use up the numbers of epochs. */
static void an_impossible_epoch_is_ignored(void **state)
{
    (void)state;
    provider_world_open_above(&world, ENG, (uint64_t)TOLD_NUMBER_MAX + 1);
    assert_int_equal(state_of(ENG).epoch, 1);
}

/* Likewise by one in which the contract had ended before. What is lost of it lies
 * before the new epoch, which the broker must not refuse. */
static void an_ended_leaf_continues_above_both_epochs(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_drain(&world, ENG, 1, true);
    provider_world_tick(&world, 0);
    assert_true(state_of(ENG).is_ended);
    provider_world_drain(&world, ENG, 2, false);
    uint64_t last = state_of(ENG).epoch;
    provider_set_commits(world.provider, 40);
    provider_doubt(world.provider, 90, &world.effects);
    provider_set_commits(world.provider, 90);
    provider_world_open_above(&world, ENG, 1);
    assert_int_equal(state_of(ENG).epoch, last + 1);
    assert_int_equal(state_of(ENG).commits, 91);
    assert_int_equal(state_of(ENG).lost_from, 0);
    assert_int_equal(state_of(ENG).lost_to, 0);
}

static void a_recall_takes_what_is_idle_and_waits_for_the_rest(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:4");
    assert_int_equal(
        provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, "n1=2"),
        PROVIDER_ADMITTED);
    provider_world_recall(&world, ENG, 1, 1, 5000);
    assert_int_equal(held(ENG), 2);
    assert_int_equal(held(IDLE), 4);
    assert_int_equal(state_of(ENG).n_recalls, 1);
    struct provider_overdue overdue;
    for (int i = 0; i < provider_count_leases(world.provider); i++) {
        assert_false(provider_overdue_at(world.provider, i, &world.memory, &overdue));
    }
    provider_world_propose(&world, ENG, state_of(ENG).epoch, "n1 0:3");
    assert_int_equal(held(ENG), 2); /* no grant beyond it */
    provider_world_freeze(&world, ENG, state_of(ENG).epoch, 1);
    assert_true(state_of(ENG).is_frozen);
    provider_world_propose(&world, ENG, state_of(ENG).epoch, "n1 0:2");
    assert_false(state_of(ENG).is_frozen); /* what it has, it may keep until then */
    provider_world_tick(&world, 5000);
    int n_overdue = 0;
    for (int i = 0; i < provider_count_leases(world.provider); i++) {
        n_overdue += provider_overdue_at(world.provider, i, &world.memory, &overdue)
                         ? overdue.n_slots
                         : 0;
    }
    assert_int_equal(n_overdue, 1);
    provider_world_end(&world, "south", 1);
    provider_world_tick(&world, 0);
    assert_int_equal(held(ENG), 1);
    assert_int_equal(held(IDLE), 5);
    assert_int_equal(state_of(ENG).n_recalls, 0);
}

static void a_recall_outlives_a_crash_and_is_called_off_by_number(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:4");
    provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, "n1=4");
    provider_world_recall(&world, ENG, 3, 0, 5000);
    provider_world_load(&world);
    provider_set_local_used(world.provider, "n1", 4, 0);
    provider_set_local_used(world.provider, "n2", 4, 0);
    provider_world_restart(&world);
    assert_int_equal(state_of(ENG).recall, 3);
    assert_int_equal(state_of(ENG).n_recalls, 1);
    provider_world_recall(&world, ENG, 3, -1, 0); /* the same number: late */
    assert_int_equal(state_of(ENG).n_recalls, 1);
    provider_world_recall(&world, ENG, 4, -1, 0);
    assert_int_equal(state_of(ENG).n_recalls, 0);
    assert_int_equal(held(ENG), 4);
}

static void the_site_uses_what_it_has_as_a_leaf(void **state)
{
    (void)state;
    provider_world_open(&world, OWN);
    provider_world_propose(&world, OWN, 1, "n1 3:0");
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 0),
                     3);
    provider_set_local_used(world.provider, "n1", 4, 2);
    assert_int_equal(state_of(OWN).hosts[0].provider_used, 2);
    provider_world_recall(&world, OWN, 1, 1, 5000);
    assert_int_equal(held(OWN), 2);
    /* nothing new of its own on what it owes */
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 2),
                     2);
    provider_set_local_used(world.provider, "n1", 4, 0);
    provider_world_tick(&world, 0);
    assert_int_equal(held(OWN), 1);
    assert_int_equal(held(IDLE), 5);
}

/* n1 has 4 slots, n2 2. What is asked for is less than n1 is: n2 goes, though jobs run
 * on it; n1 has nothing to fear. */
static void exclusive_hosts_go_whole(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:4 n2 0:2");
    provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, "n1=1");
    provider_world_start(&world, "south", 2, ENG, state_of(ENG).epoch, "n2=2");
    world.wants_whole = true;
    provider_world_recall(&world, ENG, 1, 3, 5000);
    assert_int_equal(held(ENG), 6);
    provider_world_tick(&world, 5000);
    struct provider_overdue overdue;
    int n_overdue = 0;
    for (int i = 0; i < provider_count_leases(world.provider); i++) {
        if (provider_overdue_at(world.provider, i, &world.memory, &overdue)) {
            n_overdue += overdue.n_slots;
            assert_int_equal(overdue.n_hosts, 1);
            assert_string_equal(overdue.hosts[0].host, "n2");
        }
    }
    assert_int_equal(n_overdue, 2);
    provider_world_end(&world, "south", 2);
    provider_world_tick(&world, 0);
    /* One above what was asked for, but no host is so small: that is all. */
    assert_int_equal(held(ENG), 4);
    assert_int_equal(state_of(ENG).n_recalls, 0);
    for (int i = 0; i < provider_count_leases(world.provider); i++) {
        assert_false(provider_overdue_at(world.provider, i, &world.memory, &overdue));
    }
    provider_world_end(&world, "south", 1);
    provider_world_tick(&world, 0);
    assert_int_equal(held(ENG), 4);
}

/* Its slots may be used by others meanwhile, but not when it has to go itself: what is
 * ended there would come back at once, for ever. */
static void nothing_starts_where_a_suspended_job_has_owed_slots(void **state)
{
    (void)state;
    provider_world_open(&world, OWN);
    provider_world_propose(&world, OWN, 1, "n1 3:0");
    provider_set_local_used(world.provider, "n1", 4, 1);
    provider_set_local_yielded(world.provider, "n1", 2);
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 1),
                     3);
    provider_world_recall(&world, OWN, 1, 1, 0);
    assert_int_equal(held(OWN), 3); /* all are in use */
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 1),
                     1);
    provider_set_local_yielded(world.provider, "n1", 0);
    provider_world_tick(&world, 0);
    assert_int_equal(held(OWN), 1);
}

/* More is suspended there than is owed: as long as anything is owed, all of it counts.
 */
static void nothing_starts_beside_suspended_jobs_where_slots_are_owed(void **state)
{
    (void)state;
    provider_world_open(&world, OWN);
    provider_world_propose(&world, OWN, 1, "n1 3:0");
    provider_set_local_used(world.provider, "n1", 6, 0);
    provider_set_local_yielded(world.provider, "n1", 3);
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 6, 0),
                     5);
    provider_world_recall(&world, OWN, 1, 0, 0);
    assert_int_equal(held(OWN), 1); /* the others stand on 2 that are not exported */
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 6, 0),
                     0);
}

static void a_policy_that_goes_takes_its_leaves_along(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:2");
    provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, "n1=1");
    provider_world_export(&world, "");
    assert_true(state_of(IDLE).is_ended);
    assert_true(state_of(ENG).is_withdrawn);
    assert_int_equal(held(ENG), 1); /* in use */
    provider_world_end(&world, "south", 1);
    provider_world_tick(&world, 0);
    assert_true(state_of(ENG).is_ended);
    assert_int_equal(provider_host_local_max(provider_host(world.provider, "n1"), 4, 0),
                     4);
    provider_world_export(&world, "p pool:x pool n1=4 n2=2");
    assert_int_equal(held(IDLE), 6);
    uint64_t epoch = state_of(ENG).epoch;
    provider_world_open(&world, ENG);
    assert_int_equal(state_of(ENG).epoch, epoch + 1); /* above its last */
}

/* Leaves keep what they have when the policy changes its hosts, and until those are
 * picked after a restart. */
static void leaves_stay_while_the_policy_does(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:2");
    provider_world_export(&world, "p pool:x pool n1=4 n2=3");
    assert_false(state_of(ENG).is_withdrawn);
    assert_int_equal(held(ENG), 2);
    assert_int_equal(held(IDLE), 5);
    world.plan.leases[0].is_open = true;
    provider_world_restart(&world);
    assert_false(state_of(ENG).is_withdrawn);
    assert_int_equal(held(ENG), 2);
    assert_int_equal(held(IDLE), 5);
}

static void slots_of_a_host_that_a_leaf_gives_up_are_idle_at_once(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:2 n2 0:1");
    assert_int_equal(held(IDLE), 3);
    provider_world_propose(&world, ENG, state_of(ENG).epoch, "n1 0:2");
    assert_int_equal(held(ENG), 2);
    assert_int_equal(held(IDLE), 4);
}

/* A withdrawn leaf gains nothing, but a proposal that leaves it what it has is valid.
 */
static void a_proposal_without_gain_ends_the_freeze_of_a_withdrawn_leaf(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:2");
    provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, "n1=2");
    provider_world_drain(&world, ENG, 1, true);
    uint64_t epoch = state_of(ENG).epoch;
    assert_true(state_of(ENG).is_withdrawn);
    provider_world_freeze(&world, ENG, epoch, 1);
    assert_true(state_of(ENG).is_frozen);
    provider_world_propose(&world, ENG, epoch, "n1 0:3");
    assert_true(state_of(ENG).is_frozen);
    provider_world_propose(&world, ENG, epoch, "n1 0:2");
    assert_false(state_of(ENG).is_frozen);
    assert_int_equal(state_of(ENG).epoch, epoch);
}

static void a_host_that_shrinks_takes_idle_slots_of_the_pool_first(void **state)
{
    (void)state;
    provider_world_open(&world, ENG);
    provider_world_propose(&world, ENG, 1, "n1 0:2");
    provider_set_local_used(world.provider, "n1", 3, 0);
    provider_world_tick(&world, 0);
    assert_int_equal(held(ENG), 2);
    assert_int_equal(held(IDLE), 3); /* 1 of n1, 2 of n2 */
}

/* An idle host costs nothing, whichever of the two it is. */
static void an_idle_host_goes_before_one_in_use(void **state)
{
    (void)state;
    static const char *const used[] = {"n1=1", "n2=1"};
    for (size_t i = 0; i < 2; i++) {
        teardown(state);
        setup(state);
        provider_world_export(&world, "p pool:x pool n1=2 n2=2");
        provider_world_open(&world, ENG);
        provider_world_propose(&world, ENG, 1, "n1 0:2 n2 0:2");
        provider_world_start(&world, "south", 1, ENG, state_of(ENG).epoch, used[i]);
        world.wants_whole = true;
        provider_world_recall(&world, ENG, 1, 2, 5000);
        assert_int_equal(held(ENG), 2);
        assert_string_equal(state_of(ENG).hosts[0].host, i == 0 ? "n1" : "n2");
        assert_int_equal(state_of(ENG).n_recalls, 0);
    }
}

static void own_use_is_that_of_one_lease_on_one_host(void **state)
{
    (void)state;
    provider_world_open(&world, OWN);
    provider_world_propose(&world, OWN, 1, "n1 3:0 n2 1:0");
    provider_set_local_used(world.provider, "n1", 4, 2);
    assert_int_equal(provider_own_used(world.provider, OWN, "n1"), 2);
    assert_int_equal(provider_own_used(world.provider, OWN, "n2"), 0);
    assert_int_equal(provider_own_used(world.provider, OWN, "n9"), 0);
    assert_int_equal(provider_own_used(world.provider, ENG, "n1"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_exported_is_idle_first),
        TEST(a_grant_changes_both_parts),
        TEST(what_does_not_hold_changes_nothing),
        TEST(only_leaves_of_policies_that_export_to_a_pool_are_opened),
        TEST(a_leaf_continues_above_the_epoch_of_the_broker),
        TEST(the_hours_of_a_leaf_are_counted_without_a_bound),
        TEST(the_sites_own_leaf_counts_no_hours),
        TEST(the_price_of_a_leaf_is_the_brokers),
        TEST(an_impossible_epoch_is_ignored),
        TEST(an_ended_leaf_continues_above_both_epochs),
        TEST(a_recall_takes_what_is_idle_and_waits_for_the_rest),
        TEST(a_recall_outlives_a_crash_and_is_called_off_by_number),
        TEST(the_site_uses_what_it_has_as_a_leaf),
        TEST(exclusive_hosts_go_whole),
        TEST(nothing_starts_where_a_suspended_job_has_owed_slots),
        TEST(nothing_starts_beside_suspended_jobs_where_slots_are_owed),
        TEST(a_policy_that_goes_takes_its_leaves_along),
        TEST(leaves_stay_while_the_policy_does),
        TEST(slots_of_a_host_that_a_leaf_gives_up_are_idle_at_once),
        TEST(a_proposal_without_gain_ends_the_freeze_of_a_withdrawn_leaf),
        TEST(a_host_that_shrinks_takes_idle_slots_of_the_pool_first),
        TEST(an_idle_host_goes_before_one_in_use),
        TEST(own_use_is_that_of_one_lease_on_one_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
