/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider_broker.c: FREEZE and PROPOSE: rules 2 and 4 of the contract, and the
 * local use that a freeze must pin down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/provider/provider_world.h"

#define LEASE "north/spare/south"

static int set_up(void **state)
{
    struct provider_world *world = provider_world_new(4);
    provider_world_export(world, "spare south shared n1=4 n2=2");
    provider_world_session(world, 7);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    provider_world_free(*state);
    return 0;
}

#define ASSERT_BOOK(expected)                                                          \
    assert_string_equal(provider_world_book(world, LEASE), expected)

/* ------------------------------------------------------------ FREEZE */

static void test_freeze_table(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        uint64_t base, freeze;
        bool is_frozen;
    } rows[] = {
        {"own epoch, first number", 1, 1, true},
        {"own epoch, any number above none", 1, 900, true},
        {"an epoch that is over", 0, 1, false},
        {"an epoch that never was", 2, 1, false},
        {"0 is no number", 1, 0, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct provider_world *world = made;
        provider_world_freeze(world, LEASE, rows[i].base, rows[i].freeze);
        const struct msg_state *told = provider_world_state(world, LEASE);
        assert_non_null(told); /* whatever came */
        if (told->is_frozen != rows[i].is_frozen) {
            fail_msg("%s", rows[i].why);
        }
        assert_int_equal(told->freeze, rows[i].is_frozen ? rows[i].freeze : 0);
        assert_int_equal(told->epoch, 1);
        tear_down(&made);
    }
}

static void test_freeze_wants_a_new_number(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 5);
    provider_world_tick(world, WORLD_FREEZE_MS);
    ASSERT_BOOK("1: n1 3/0 1/0; n2 2/0 0/0");
    provider_world_freeze(world, LEASE, 1, 5); /* the copy of it, late */
    ASSERT_BOOK("1: n1 3/0 1/0; n2 2/0 0/0");
    assert_int_equal(provider_world_state(world, LEASE)->freeze, 5);
    provider_world_freeze(world, LEASE, 1, 6);
    ASSERT_BOOK("1 frozen: n1 3/0 1/0; n2 2/0 0/0");
}

static void test_freeze_lapses(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    assert_true(provider_wake_ms(world->provider) <= world->now_ms + WORLD_FREEZE_MS);
    provider_world_tick(world, WORLD_FREEZE_MS - 1);
    ASSERT_BOOK("1 frozen: n1 3/0 1/0; n2 2/0 0/0");
    provider_world_tick(world, 1);
    ASSERT_BOOK("1: n1 3/0 1/0; n2 2/0 0/0");
}

static void test_freeze_is_gone_with_a_crash(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 5);
    provider_world_restart(world);
    ASSERT_BOOK("1: n1 3/0 1/0; n2 2/0 0/0");
    /* Any number is new to a provider that has just begun. */
    provider_world_freeze(world, LEASE, 1, 1);
    ASSERT_BOOK("1 frozen: n1 3/0 1/0; n2 2/0 0/0");
}

static void test_unknown_lease(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, "north/other/south", 1, 1);
    const struct msg_state *told = provider_world_state(world, "north/other/south");
    assert_non_null(told);
    assert_int_equal(told->epoch, 0);
    assert_int_equal(told->n_hosts, 0);
}

static void test_state_ask(void **state)
{
    struct provider_world *world = *state;
    struct msg msg = {.kind = MSG_STATE_ASK, .site = "", .state_ask = {LEASE}};
    effects_clear(&world->effects);
    provider_broker_message(world->provider, &msg, world->now_ms, &world->effects);
    assert_int_equal(provider_world_told(world, LEASE), 1);
    assert_int_equal(world->effects.items[0].send.msg.session, 7);
    assert_int_equal(world->effects.items[0].send.to.kind, PEER_BROKER);
}

/* ------------------------------------------------------------ PROPOSE */

static void test_propose_table(void **state)
{
    (void)state;
    /* n1: 2 own jobs of 4, 1 leased of 1; n2: 3 own, of which 1 is in the lease */
    static const char before[] = "1 made frozen: n1 3/2 1/1; n2 2/1 0/0";
    static const struct {
        const char *why;
        uint64_t base;
        const char *split, *after;
    } rows[] = {
        {"idle slots go to the consumer", 1, "n1 2:2 n2 1:1",
         "2 made: n1 2/2 2/1; n2 1/1 1/0"},
        {"the order of hosts says nothing", 1, "n2 1:1 n1 2:2",
         "2 made: n1 2/2 2/1; n2 1/1 1/0"},
        {"the same split: thaw under the old epoch", 1, "n1 3:1 n2 2:0",
         "1 made: n1 3/2 1/1; n2 2/1 0/0"},
        {"an old epoch", 0, "n1 2:2 n2 1:1", before},
        {"an epoch that never was", 2, "n1 2:2 n2 1:1", before},
        {"a host is missing", 1, "n1 2:2", before},
        {"a host too many", 1, "n1 2:2 n2 1:1 n3 1:0", before},
        {"a host twice", 1, "n1 2:2 n1 2:2", before},
        {"a host that is not the lease's", 1, "n1 2:2 n3 1:1", before},
        {"does not add up: one slot too many", 1, "n1 3:2 n2 1:1", before},
        {"does not add up: one too few", 1, "n1 2:1 n2 1:1", before},
        {"less than nothing", 1, "n1 5:-1 n2 1:1", before},
        {"provider uses more", 1, "n1 1:3 n2 1:1", before},
        {"provider uses more, elsewhere", 1, "n1 2:2 n2 0:2", before},
        {"consumer uses more", 1, "n1 4:0 n2 2:0", before},
        {"nothing at all", 1, "", before},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct provider_world *world = made;
        provider_world_start(world, "south", 1, LEASE, 1, "n1=1");
        provider_set_local_used(world->provider, "n1", 4, 2);
        provider_set_local_used(world->provider, "n2", 4, 3);
        provider_world_freeze(world, LEASE, 1, 1);
        ASSERT_BOOK(before);
        provider_world_propose(world, LEASE, rows[i].base, rows[i].split);
        assert_int_equal(provider_world_told(world, LEASE), 1);
        if (strcmp(provider_world_book(world, LEASE), rows[i].after) != 0) {
            fail_msg("%s: got %s", rows[i].why, provider_world_book(world, LEASE));
        }
        tear_down(&made);
    }
}

static void test_propose_is_stored_before_it_is_told(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    provider_world_propose(world, LEASE, 1, "n1 1:3 n2 2:0");
    assert_int_equal(world->effects.items[0].kind, EFFECT_STORE);
    assert_string_equal(provider_world_disk(world, LEASE), "2: n1 1/0 3/0; n2 2/0 0/0");
    provider_world_restart(world);
    ASSERT_BOOK("2: n1 1/0 3/0; n2 2/0 0/0");
}

static void test_propose_again_changes_nothing(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    provider_world_propose(world, LEASE, 1, "n1 1:3 n2 2:0");
    provider_world_propose(world, LEASE, 1, "n1 1:3 n2 2:0");
    ASSERT_BOOK("2: n1 1/0 3/0; n2 2/0 0/0");
    assert_int_equal(provider_world_told(world, LEASE), 1);
}

/* Of two proposals on one epoch one is ever accepted: an epoch has one content. */
static void test_one_content_an_epoch(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    provider_world_propose(world, LEASE, 1, "n1 1:3 n2 2:0");
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("2: n1 1/0 3/0; n2 2/0 0/0");
}

static void test_late_propose_is_judged_by_the_same_tests(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    provider_world_tick(world, WORLD_FREEZE_MS); /* thawed: jobs start again */
    provider_set_local_used(world->provider, "n1", 4, 3);
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 2:0");
    ASSERT_BOOK("1: n1 3/3 1/0; n2 2/0 0/0");
    provider_world_propose(world, LEASE, 1, "n1 3:1 n2 0:2");
    ASSERT_BOOK("2: n1 3/3 1/0; n2 0/0 2/0");
}

static void test_late_propose_after_a_crash(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 1);
    provider_world_restart(world);
    provider_world_session(world, 8);
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("2: n1 0/0 4/0; n2 0/0 2/0");
}

/* ------------------------------------------------------------ local use while frozen
 */

static void test_local_use_fills_own_slots_first(void **state)
{
    struct provider_world *world = *state;
    static const struct {
        int local_used;
        const char *book;
    } rows[] = {
        {0, "1: n1 3/0 1/0; n2 2/0 0/0"}, {1, "1: n1 3/0 1/0; n2 2/0 0/0"},
        {2, "1: n1 3/0 1/0; n2 2/0 0/0"}, {3, "1: n1 3/0 1/0; n2 2/1 0/0"},
        {4, "1: n1 3/0 1/0; n2 2/2 0/0"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        provider_set_local_used(world->provider, "n2", 4, rows[i].local_used);
        ASSERT_BOOK(rows[i].book);
    }
}

/* While a lease is frozen, slots that its consumer has are not to be counted on. */
static void test_changing(void **state)
{
    struct provider_world *world = *state;
    const struct ledger_host *n1 = provider_host(world->provider, "n1");
    const struct ledger_host *n2 = provider_host(world->provider, "n2");
    assert_false(provider_host_is_changing(n1));
    provider_world_freeze(world, LEASE, 1, 1);
    assert_true(provider_host_is_changing(n1));
    assert_false(provider_host_is_changing(n2)); /* the consumer has none there */
    provider_world_tick(world, WORLD_FREEZE_MS);
    assert_false(provider_host_is_changing(n1));
}

static void test_local_max(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 3);
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n2"), 4, 0), 4);
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n9"), 4, 0), 4);
    assert_int_equal(provider_exported(world->provider, "n2"), 2);
    assert_int_equal(provider_lent(world->provider, "n1"), 1);
    assert_int_equal(provider_exported(world->provider, "n9"), 0);

    provider_set_local_used(world->provider, "n2", 4, 3);
    provider_world_freeze(world, LEASE, 1, 1);
    /* 2 not exported and the 1 that is in use */
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n2"), 4, 3), 3);
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 0);
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 1:1");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n2"), 4, 3), 3);
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 4, 0), 0);
}

/* What STATE said the provider uses must not grow before the proposal is judged. */
static void test_frozen_use_never_grows(void **state)
{
    struct provider_world *world = *state;
    provider_set_local_used(world->provider, "n2", 4, 3);
    provider_world_freeze(world, LEASE, 1, 1);
    ASSERT_BOOK("1 frozen: n1 3/0 1/0; n2 2/1 0/0");
    provider_set_local_used(world->provider, "n2", 4, 2); /* the job ends */
    ASSERT_BOOK("1 frozen: n1 3/0 1/0; n2 2/0 0/0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n2"), 4, 2), 2);
    provider_world_propose(world, LEASE, 1, "n1 3:1 n2 0:2");
    ASSERT_BOOK("2: n1 3/0 1/0; n2 0/0 2/0");
}

/* Two shared leases on one host: while the first is frozen, new local jobs count for
 * the second, though the first comes first. */
static void test_frozen_lease_beside_another(void **state)
{
    struct provider_world *world = *state;
    provider_set_local_used(world->provider, "n1", 6, 0);
    provider_world_export(world, "a south shared n1=2;b south shared n1=3");
    assert_string_equal(provider_world_book(world, "north/a/south"), "1: n1 1/0 1/0");
    assert_string_equal(provider_world_book(world, "north/b/south"), "1: n1 2/0 1/0");
    provider_world_start(world, "south", 1, "north/a/south", 1, "n1=1");
    provider_world_end(world, "south", 1);
    provider_world_propose(world, "north/a/south", 1, "n1 2:0");
    provider_set_local_used(world->provider, "n1", 6, 2);
    provider_world_freeze(world, "north/a/south", 2, 1);
    assert_string_equal(provider_world_book(world, "north/a/south"),
                        "2 made frozen: n1 2/1 0/0");
    assert_int_equal(
        provider_host_local_max(provider_host(world->provider, "n1"), 6, 2), 1 + 1 + 2);
    provider_set_local_used(world->provider, "n1", 6, 4);
    assert_string_equal(provider_world_book(world, "north/a/south"),
                        "2 made frozen: n1 2/1 0/0");
    assert_string_equal(provider_world_book(world, "north/b/south"), "1: n1 2/2 1/0");
    provider_world_propose(world, "north/a/south", 2, "n1 1:1");
    assert_string_equal(provider_world_book(world, "north/a/south"),
                        "3 made: n1 1/1 1/0");
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freeze_table),
        STORY(test_freeze_wants_a_new_number),
        STORY(test_freeze_lapses),
        STORY(test_freeze_is_gone_with_a_crash),
        STORY(test_unknown_lease),
        STORY(test_state_ask),
        cmocka_unit_test(test_propose_table),
        STORY(test_propose_is_stored_before_it_is_told),
        STORY(test_propose_again_changes_nothing),
        STORY(test_one_content_an_epoch),
        STORY(test_late_propose_is_judged_by_the_same_tests),
        STORY(test_late_propose_after_a_crash),
        STORY(test_local_use_fills_own_slots_first),
        STORY(test_changing),
        STORY(test_local_max),
        STORY(test_frozen_use_never_grows),
        STORY(test_frozen_lease_beside_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
