/* SPDX-License-Identifier: Apache-2.0 */
/* test_export_memory.c: memory and swap space of leases: what the policy gives, what
 * the host has, and which jobs wait for which. */
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

/* What a host has: memory, swap space; -1: it has not told. */
static void tell(struct provider_world *world, const char *host, int64_t mem,
                 int64_t swp)
{
    const int64_t mib[SPACES] = {[SPACE_MEM] = mem, [SPACE_SWP] = swp};
    provider_set_spaces(world->provider, host, mib);
    provider_world_tick(world, 0);
}

/* "2: n1 25/30; n2 -/30" */
static const char *spaces(struct provider_world *world, const char *lease)
{
    struct msg_state state;
    struct arena *memory = &world->memory;
    if (!provider_find_lease(world->provider, lease, &state)) {
        return "none";
    }
    const char *text = arena_printf(memory, "%d:", (int)state.epoch);
    for (int i = 0; i < state.n_hosts; i++) {
        text = arena_printf(memory, "%s%s %s ", text, i > 0 ? ";" : "",
                            state.hosts[i].host);
        for (int k = 0; k < SPACES; k++) {
            struct space space = state.hosts[i].spaces[k];
            const char *between = k > 0 ? "/" : "";
            text = space.is_given
                       ? arena_printf(memory, "%s%s%d", text, between, space.mib)
                       : arena_printf(memory, "%s%s-", text, between);
        }
    }
    return text;
}

#define ASSERT_SPACES(lease, expected)                                                 \
    assert_string_equal(spaces(world, lease), expected)

static void test_what_the_policy_gives(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south shared n1=4/100/50 n2=4");
    ASSERT_SPACES("north/p/south", "1: n1 100/50; n2 -/-");
    /* Whoever holds the slots: it is the consumer's. */
    assert_int_equal(provider_space(world->provider, "n1", SPACE_MEM), 100);
    assert_int_equal(provider_space(world->provider, "n1", SPACE_SWP), 50);
    assert_int_equal(provider_space(world->provider, "n2", SPACE_MEM), 0);
    tell(world, "n1", 8000, 2000); /* enough: nothing changes */
    ASSERT_SPACES("north/p/south", "1: n1 100/50; n2 -/-");
}

static void test_a_host_that_has_less(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=1/25/100;"
                                 "b east exclusive n1=3/75/300");
    tell(world, "n1", 80, 0);
    ASSERT_SPACES("north/a/south", "2: n1 20/0");
    ASSERT_SPACES("north/b/east", "2: n1 60/0");
    assert_int_equal(provider_space(world->provider, "n1", SPACE_MEM), 80);
    struct msg_state told;
    assert_true(provider_find_lease(world->provider, "north/a/south", &told));
    assert_string_equal(told.reason, "memory or swap space of host n1");
    tell(world, "n1", 80, 0); /* as before */
    ASSERT_SPACES("north/a/south", "2: n1 20/0");
    tell(world, "n1", 99, 1000); /* more was put in */
    ASSERT_SPACES("north/a/south", "3: n1 25/100");
    ASSERT_SPACES("north/b/east", "3: n1 74/300");
}

static void test_a_restart_believes_the_record(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south exclusive n1=4/100/50");
    tell(world, "n1", 80, 2000);
    ASSERT_SPACES("north/p/south", "2: n1 80/50");
    provider_world_restart(world); /* nothing is told yet */
    ASSERT_SPACES("north/p/south", "2: n1 80/50");
    tell(world, "n1", 80, 2000);
    ASSERT_SPACES("north/p/south", "2: n1 80/50");
    provider_world_restart(world);
    tell(world, "n1", 200, 2000);
    ASSERT_SPACES("north/p/south", "3: n1 100/50");
}

static void test_a_changed_policy_is_the_next_epoch(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "p south exclusive n1=4/100");
    provider_world_export(world, "p south exclusive n1=4/200");
    ASSERT_SPACES("north/p/south", "2: n1 200/-");
    assert_string_equal(provider_world_disk(world, "north/p/south"), "2: n1 0/0 4/0");
    provider_world_export(world, "p south exclusive n1=4/200/0");
    ASSERT_SPACES("north/p/south", "3: n1 200/0");
    provider_world_export(world, "p south exclusive n1=4");
    ASSERT_SPACES("north/p/south", "4: n1 -/-");
    provider_world_export(world, "p south exclusive n1=4");
    ASSERT_SPACES("north/p/south", "4: n1 -/-");
}

/* A lease that is being emptied keeps its part while jobs of it run. */
static void test_a_leaving_lease_keeps_its_part(void **state)
{
    struct provider_world *world = *state;
    provider_world_export(world, "a south exclusive n1=4/60");
    tell(world, "n1", 80, 0);
    assert_int_equal(
        provider_world_start(world, "south", 1, "north/a/south", 1, "n1=1"),
        PROVIDER_ADMITTED);
    provider_world_export(world, "b east exclusive n1=4/60");
    ASSERT_SPACES("north/a/south", "2: n1 60/-");
    ASSERT_SPACES("north/b/east", "1: n1 20/-");
    provider_world_end(world, "south", 1);
    provider_world_tick(world, 0);
    ASSERT_SPACES("north/a/south", "3:");
    ASSERT_SPACES("north/b/east", "2: n1 60/-");
    assert_int_equal(provider_space(world->provider, "n1", SPACE_MEM), 60);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_what_the_policy_gives),
        STORY(test_a_host_that_has_less),
        STORY(test_a_restart_believes_the_record),
        STORY(test_a_changed_policy_is_the_next_epoch),
        STORY(test_a_leaving_lease_keeps_its_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
