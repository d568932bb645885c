/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_instances.c: shared resources of leases: what the policies give, and who
 * waits for whom while a lease is emptied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/provider/provider_world.h"

static int set_up(void **state)
{
    *state = provider_world_new(8);
    return 0;
}

static int tear_down(void **state)
{
    provider_world_free(*state);
    return 0;
}

/* "2: lic:1=7 seats:1=2" */
static const char *instances(struct provider_world *world, const char *lease)
{
    struct msg_state state;
    struct arena *memory = &world->memory;
    if (!provider_find_lease(world->provider, lease, &state)) {
        return "none";
    }
    const char *text = arena_printf(memory, "%d:", (int)state.epoch);
    for (int i = 0; i < state.n_resources; i++) {
        const struct lease_resource *resource = &state.resources[i];
        text = arena_printf(memory, "%s %s:%d=%d", text, resource->name, resource->pool,
                            resource->n_instances);
    }
    return text;
}

#define ASSERT_INSTANCES(lease, expected)                                              \
    assert_string_equal(instances(world, lease), expected)

static const char *reason(struct provider_world *world, const char *lease)
{
    struct msg_state state;
    assert_true(provider_find_lease(world->provider, lease, &state));
    return arena_str(&world->memory, state.reason);
}

static void run(struct provider_world *world, const char *consumer, const char *lease,
                uint64_t epoch)
{
    assert_int_equal(provider_world_start(world, consumer, 1, lease, epoch, "n1=1"),
                     PROVIDER_ADMITTED);
}

static void finish(struct provider_world *world, const char *consumer)
{
    provider_world_end(world, consumer, 1);
    provider_world_tick(world, 0);
}

static void test_what_the_policies_give(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7;"
                                 "b east exclusive n1=2 lic:1=3 seats:1=2");
    ASSERT_INSTANCES("north/a/south", "1: lic:1=7");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3 seats:1=2");
    provider_world_export(world, "a south exclusive n1=2 lic:1=4;"
                                 "b east exclusive n1=2 lic:1=6");
    ASSERT_INSTANCES("north/a/south", "2: lic:1=4");
    ASSERT_INSTANCES("north/b/east", "2: lic:1=6");
    assert_string_equal(reason(world, "north/b/east"), "export policy changed");
    provider_world_restart(world);
    ASSERT_INSTANCES("north/a/south", "2: lic:1=4");
}

/* What a lease that is emptied has, nobody else has. */
static void test_others_wait_for_a_leaving_lease(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7;"
                                 "b east exclusive n1=2 lic:1=3");
    run(world, "south", "north/a/south", 1);
    provider_world_export(world, "b east exclusive n1=2 lic:1=10");
    ASSERT_INSTANCES("north/a/south", "2: lic:1=7");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3");
    provider_world_restart(world); /* by what is on record */
    ASSERT_INSTANCES("north/a/south", "2: lic:1=7");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3");
    finish(world, "south");
    ASSERT_INSTANCES("north/a/south", "3:");
    ASSERT_INSTANCES("north/b/east", "2: lic:1=10");
    assert_string_equal(reason(world, "north/b/east"), "shared resources became free");
}

/* A policy that is changed is a new contract of the same site with the same instances.
 */
static void test_a_replacement_has_the_same_ones(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7;"
                                 "b east exclusive n1=2 lic:1=3");
    run(world, "south", "north/a/south", 1);
    provider_world_export(world, "c south exclusive n2=2 lic:1=7;"
                                 "b east exclusive n1=2 lic:1=3");
    ASSERT_INSTANCES("north/a/south", "2: lic:1=7");
    ASSERT_INSTANCES("north/c/south", "1: lic:1=7");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3");
    /* It is to have fewer, and others what it gives up: not before it has. */
    provider_world_export(world, "c south exclusive n2=2 lic:1=2;"
                                 "b east exclusive n1=2 lic:1=5;"
                                 "d west exclusive n1=1 lic:1=3");
    ASSERT_INSTANCES("north/c/south", "2: lic:1=2");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3");
    ASSERT_INSTANCES("north/d/west", "1: lic:1=0");
    finish(world, "south");
    ASSERT_INSTANCES("north/b/east", "2: lic:1=5");
    ASSERT_INSTANCES("north/d/west", "2: lic:1=3");
}

static void test_what_is_left_is_shared(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=4");
    run(world, "south", "north/a/south", 1);
    provider_world_export(world, "b east exclusive n1=2 lic:1=2;"
                                 "c west exclusive n2=2 lic:1=6");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=1");
    ASSERT_INSTANCES("north/c/west", "1: lic:1=3");
}

/* What is exported is exported once, from whatever place. */
static void test_places_together(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7");
    run(world, "south", "north/a/south", 1);
    provider_world_export(world, "b east exclusive n2=2 lic:1=2 lic:2=8 seats:1=9");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=0 lic:2=3 seats:1=9");
    finish(world, "south");
    ASSERT_INSTANCES("north/b/east", "2: lic:1=2 lic:2=8 seats:1=9");
}

/* No more than is exported, even where what leaves has more than that. */
static void test_less_is_exported_than_is_out(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=9");
    run(world, "south", "north/a/south", 1);
    provider_world_export(world, "b east exclusive n1=2 lic:1=2");
    ASSERT_INSTANCES("north/a/south", "2: lic:1=9");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=0");
    finish(world, "south");
    ASSERT_INSTANCES("north/b/east", "2: lic:1=2");
}

/* One lease of a site gives them up and another gets them, in one look. */
static void test_from_one_lease_to_another(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7");
    provider_world_export(world, "a south exclusive n1=2;"
                                 "c south exclusive n2=2 lic:1=7");
    ASSERT_INSTANCES("north/a/south", "2:");
    ASSERT_INSTANCES("north/c/south", "1: lic:1=7");
}

static void test_a_drained_lease_keeps_them(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=2 lic:1=7;"
                                 "b east exclusive n1=2 lic:1=3");
    run(world, "south", "north/a/south", 1);
    provider_world_drain(world, "north/a/south", 1, true);
    ASSERT_INSTANCES("north/a/south", "2: lic:1=7");
    finish(world, "south");
    ASSERT_INSTANCES("north/a/south", "3:");
    provider_world_drain(world, "north/a/south", 2, false);
    ASSERT_INSTANCES("north/a/south", "4: lic:1=7");
    ASSERT_INSTANCES("north/b/east", "1: lic:1=3"); /* from first to last */
}

/* By resource, pool and consumer; leases of one consumer share the same instances. */
static void test_pools_are_listed_once_for_each_consumer(void **state)
{
    struct provider_world *world = *state;
    static const struct provider_pool wanted[] = {{"lic", "east", 1, 2},
                                                  {"lic", "south", 1, 7},
                                                  {"lic", "south", 2, 3},
                                                  {"seats", "east", 1, 4}};
    provider_world_export(world, "a south exclusive n1=1 lic:2=3 lic:1=5;"
                                 "b east exclusive n1=1 seats:1=4 lic:1=2;"
                                 "c south exclusive n2=1 lic:1=7");
    struct provider_pool *pools;
    int n_pools = provider_list_pools(world->provider, &world->memory, &pools);
    assert_int_equal(n_pools, 4);
    for (int i = 0; i < n_pools; i++) {
        assert_string_equal(pools[i].resource, wanted[i].resource);
        assert_string_equal(pools[i].consumer, wanted[i].consumer);
        assert_int_equal(pools[i].pool, wanted[i].pool);
        assert_int_equal(pools[i].n_instances, wanted[i].n_instances);
    }
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_what_the_policies_give),
        STORY(test_others_wait_for_a_leaving_lease),
        STORY(test_a_replacement_has_the_same_ones),
        STORY(test_what_is_left_is_shared),
        STORY(test_places_together),
        STORY(test_less_is_exported_than_is_out),
        STORY(test_from_one_lease_to_another),
        STORY(test_a_drained_lease_keeps_them),
        STORY(test_pools_are_listed_once_for_each_consumer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
