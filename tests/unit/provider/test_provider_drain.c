/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider_drain.c: DRAIN at the provider: the lease is withdrawn whatever the
 * policies say, and exported again when that is taken back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/provider/provider_world.h"

static const char lease[] = "north/1/south";
static struct provider_world world;

/* Exclusive: south has all 4 slots, and uses 2. */
static int open_world(void **state)
{
    provider_world_init(&world);
    provider_set_local_used(world.provider, "n1", 4, 0);
    provider_world_export(&world, "1 south exclusive n1=4");
    provider_world_session(&world, 1);
    assert_int_equal(provider_world_start(&world, "south", 1, lease, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    assert_int_equal(provider_world_start(&world, "south", 2, lease, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    return 0;
}

static int close_world(void **state)
{
    provider_world_release(&world);
    return 0;
}

static void expect_book(const char *text)
{
    assert_string_equal(provider_world_book(&world, lease), text);
}

static void test_slots_go_home_as_jobs_end(void **state)
{
    expect_book("1 made: n1 0/0 4/2");
    provider_world_drain(&world, lease, 1, true);
    expect_book("2 made withdrawn: n1 0/0 2/2");
    const struct msg_state *told = provider_world_state(&world, lease);
    assert_int_equal(told->drain, 1);
    assert_true(told->is_drained);
    assert_string_equal(told->reason, "drained by an administrator");
    assert_int_equal(provider_world_start(&world, "south", 3, lease, 2, "n1=1"),
                     PROVIDER_REFUSED);
    provider_world_end(&world, "south", 1);
    expect_book("3 made withdrawn: n1 0/0 1/1");
    provider_world_end(&world, "south", 2);
    expect_book("4 made withdrawn ended");
    assert_int_equal(provider_exported(world.provider, "n1"), 0);
}

static void test_resume(void **state)
{
    provider_world_drain(&world, lease, 1, true);
    provider_world_end(&world, "south", 1);
    provider_world_drain(&world, lease, 2, false);
    expect_book("4 made: n1 0/0 4/1");
    provider_world_drain(&world, lease, 3, true);
    provider_world_end(&world, "south", 2);
    provider_world_drain(&world, lease, 4, false);
    expect_book("7: n1 0/0 4/0"); /* above its last epoch, and to be made anew */
    assert_string_equal(provider_world_state(&world, lease)->reason, "exported again");
}

static void test_old_orders(void **state)
{
    provider_world_drain(&world, lease, 2, false);
    provider_world_drain(&world, lease, 1, true); /* late */
    expect_book("1 made: n1 0/0 4/2");
    assert_int_equal(provider_world_told(&world, lease), 1); /* answered all the same */
    provider_world_drain(&world, lease, 2, true); /* a number has one content */
    expect_book("1 made: n1 0/0 4/2");
    provider_world_drain(&world, "north/9/south", 1, true);
    assert_int_equal(provider_world_state(&world, "north/9/south")->epoch, 0);
}

/* Neither a restart nor the same policies again bring it back. */
static void test_stays_drained(void **state)
{
    provider_world_drain(&world, lease, 1, true);
    provider_world_restart(&world);
    provider_set_local_used(world.provider, "n1", 4, 0);
    provider_world_tick(&world, 0);
    expect_book("2 made withdrawn: n1 0/0 2/2");
    provider_world_end(&world, "south", 1);
    provider_world_end(&world, "south", 2);
    provider_world_export(&world, "1 south exclusive n1=4");
    expect_book("4 made withdrawn ended");
    provider_world_export(&world, "");
    provider_world_session(&world, 2);
    provider_world_drain(&world, lease, 2, false); /* nothing exports it any more */
    expect_book("4 made withdrawn ended");
}

/* A second policy is no business of the order; its number stays with its content. */
static void test_other_policies(void **state)
{
    provider_world_export(&world, "1 south exclusive n1=4;2 south exclusive n2=1");
    provider_world_drain(&world, lease, 1, true);
    assert_string_equal(provider_world_book(&world, "north/2/south"), "1: n2 0/0 1/0");
}

/* The ledger was lost: the lease continues above the epoch that the broker knows, once.
 */
static void test_recovered(void **state)
{
    provider_world_export(&world, "p south shared n1=4");
    struct msg msg = {
        .kind = MSG_DRAIN,
        .drain = {.lease = "north/p/south", .number = 3, .raise_above = 7}};
    for (int i = 0; i < 2; i++) { /* a copy changes nothing */
        effects_clear(&world.effects);
        provider_broker_message(world.provider, &msg, world.now_ms, &world.effects);
        struct msg_state now;
        assert_true(provider_find_lease(world.provider, "north/p/south", &now));
        assert_int_equal(now.epoch, 8);
        assert_int_equal(now.drain, 3);
        assert_false(now.is_withdrawn);
    }
    msg.drain.raise_above = 8;
    msg.drain.number = 4;
    effects_clear(&world.effects);
    provider_broker_message(world.provider, &msg, world.now_ms, &world.effects);
    struct msg_state now;
    assert_true(provider_find_lease(world.provider, "north/p/south", &now));
    assert_int_equal(now.epoch, 9);
    assert_string_equal(now.reason, "its provider had lost its journal");
    msg.drain.raise_above = (uint64_t)TOLD_NUMBER_MAX + 1;
    msg.drain.number = 5;
    effects_clear(&world.effects);
    provider_broker_message(world.provider, &msg, world.now_ms, &world.effects);
    assert_true(provider_find_lease(world.provider, "north/p/south", &now));
    assert_int_equal(now.epoch, 9); /* an impossible epoch is ignored */
}

static struct msg_state told(const char *id)
{
    struct msg_state now;
    assert_true(provider_find_lease(world.provider, id, &now));
    return now;
}

/* STATE has the number of commits that the journal had with the epoch, and which
 * commits with epochs were lost, until an order to recover ends that. */
static void test_lost_commits(void **state)
{
    provider_set_commits(world.provider, 40);
    provider_world_drain(&world, lease, 1, true);
    assert_int_equal(told(lease).commits, 41);
    provider_set_commits(world.provider, 41);
    assert_int_equal(told(lease).commits, 41);
    effects_clear(&world.effects);
    provider_doubt(world.provider, 90, &world.effects);
    assert_int_equal(told(lease).lost_from, 41);
    assert_int_equal(told(lease).lost_to, 90);
    provider_set_commits(world.provider, 90);
    provider_doubt(world.provider, 95, &world.effects); /* no epoch between */
    assert_int_equal(told(lease).lost_from, 41);
    assert_int_equal(told(lease).lost_to, 95);
    provider_set_commits(world.provider, 95);
    provider_world_end(&world, "south", 1);
    assert_int_equal(told(lease).epoch, 3);
    assert_int_equal(told(lease).commits, 96);
    assert_int_equal(told(lease).lost_to, 95);

    struct msg msg = {
        .kind = MSG_DRAIN,
        .drain = {.lease = lease, .number = 2, .is_drained = true, .raise_above = 2}};
    for (int i = 0; i < 2; i++) { /* a copy changes nothing */
        effects_clear(&world.effects);
        provider_broker_message(world.provider, &msg, world.now_ms, &world.effects);
        assert_int_equal(told(lease).epoch, 4);
        assert_int_equal(told(lease).lost_from, 0);
        assert_int_equal(told(lease).lost_to, 0);
    }
    effects_clear(&world.effects);
    provider_doubt(world.provider, 200, &world.effects);
    provider_broker_message(world.provider, &msg, world.now_ms, &world.effects);
    assert_int_equal(told(lease).lost_to, 200); /* the order was about another loss */
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slots_go_home_as_jobs_end),
        TEST(resume),
        TEST(old_orders),
        TEST(stays_drained),
        TEST(other_policies),
        TEST(recovered),
        TEST(lost_commits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
