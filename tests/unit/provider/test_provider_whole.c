/* SPDX-License-Identifier: Apache-2.0 */
/* test_provider_whole.c: hosts that are not divided, and a freeze that counts only once
 * the idle hosts are held, because another scheduler than the site's own has them. */
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
    provider_set_local_used(world->provider, "n2", 2, 0);
    provider_set_whole(world->provider, "n1");
    provider_set_whole(world->provider, "n2");
    provider_set_prepares(world->provider);
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

static const char *join(struct provider_world *world, const char *const *names,
                        int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++) {
        text = arena_printf(&world->memory, "%s%s%s", text, i > 0 ? " " : "", names[i]);
    }
    return text;
}

static void assert_contract(struct provider_world *world, const char *hosts,
                            const char *candidates)
{
    struct provider_contract contract;
    assert_true(provider_contract_at(world->provider, 0, &world->memory, &contract));
    assert_string_equal(contract.lease, LEASE);
    assert_string_equal(join(world, contract.hosts, contract.n_hosts), hosts);
    assert_string_equal(join(world, contract.candidates, contract.n_candidates),
                        candidates);
}

/* The consumer's first job, so that no slot is reserved any more. */
static void make(struct provider_world *world)
{
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    provider_world_end(world, "south", 1);
}

static bool hold(struct provider_world *world, uint64_t freeze, const char *host)
{
    bool is_taken = provider_set_held(world->provider, LEASE, freeze, &host,
                                      host != NULL ? 1 : 0, world->now_ms);
    provider_world_tick(world, 0);
    return is_taken;
}

/* ------------------------------------------------------------ whole hosts */

static void test_the_reserved_slot_is_a_whole_host(void **state)
{
    struct provider_world *world = *state;
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/0 0/0");
    assert_contract(world, "n1", "");
}

static void test_it_moves_as_a_whole(void **state)
{
    struct provider_world *world = *state;
    provider_set_down(world->provider, "n1", true);
    provider_world_tick(world, 0);
    ASSERT_BOOK("2: n1 4/0 0/0 down; n2 0/0 2/0");
}

static void test_one_job_uses_all_of_its_host(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    ASSERT_BOOK("1 made: n1 0/0 4/4; n2 2/0 0/0");
    /* The slots beside it are the consumer's all the same. */
    assert_int_equal(provider_world_start(world, "south", 2, LEASE, 1, "n1=3"),
                     PROVIDER_ADMITTED);
    assert_int_equal(provider_world_start(world, "south", 3, LEASE, 1, "n1=1"),
                     PROVIDER_REFUSED);
    provider_world_end(world, "south", 2);
    ASSERT_BOOK("1 made: n1 0/0 4/4; n2 2/0 0/0");
    provider_world_end(world, "south", 1);
    ASSERT_BOOK("1 made: n1 0/0 4/0; n2 2/0 0/0");
}

static void test_one_foreign_job_uses_all_of_its_host(void **state)
{
    struct provider_world *world = *state;
    provider_set_local_used(world->provider, "n2", 2, 1);
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/2 0/0");
}

static void test_foreign_jobs_take_an_idle_host_back(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    provider_world_end(world, "south", 1);
    provider_set_local_used(world->provider, "n1", 4, 4);
    provider_world_tick(world, 0);
    ASSERT_BOOK("2 made: n1 4/4 0/0; n2 2/0 0/0");
}

static void test_after_a_restart(void **state)
{
    struct provider_world *world = *state;
    assert_int_equal(provider_world_start(world, "south", 1, LEASE, 1, "n1=1"),
                     PROVIDER_ADMITTED);
    provider_world_load(world);
    provider_set_whole(world->provider, "n1");
    provider_set_whole(world->provider, "n2");
    ASSERT_BOOK("1 made: n1 0/0 4/4; n2 2/0 0/0");
}

/* ------------------------------------------------------------ a freeze that waits */

static void test_a_freeze_waits_until_hosts_are_held(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 5);
    const struct msg_state *told = provider_world_state(world, LEASE);
    assert_false(told->is_frozen);
    assert_true(told->freeze < 5); /* so that it is sent again */
    assert_contract(world, "n1", "n2");
    provider_world_freeze(world, LEASE, 1, 5);
    assert_false(provider_world_state(world, LEASE)->is_frozen);
    assert_true(hold(world, 5, "n2"));
    told = provider_world_state(world, LEASE);
    assert_true(told->is_frozen);
    assert_int_equal(told->freeze, 5);
    ASSERT_BOOK("1 frozen: n1 0/0 4/0; n2 2/0 0/0");
    assert_contract(world, "n1", "n2"); /* held until the split is decided */
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("2: n1 0/0 4/0; n2 0/0 2/0");
    assert_contract(world, "n1 n2", "");
}

static void test_a_host_that_is_not_held_is_used(void **state)
{
    struct provider_world *world = *state;
    make(world);
    provider_world_freeze(world, LEASE, 1, 5);
    assert_true(hold(world, 5, NULL));
    ASSERT_BOOK("1 made frozen: n1 0/0 4/0; n2 2/2 0/0");
    provider_set_local_used(world->provider, "n2", 2, 0); /* looked at once more */
    ASSERT_BOOK("1 made frozen: n1 0/0 4/0; n2 2/2 0/0");
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("1 made frozen: n1 0/0 4/0; n2 2/2 0/0");
    provider_world_propose(world, LEASE, 1, "n1 4:0 n2 2:0");
    ASSERT_BOOK("2 made: n1 4/0 0/0; n2 2/0 0/0");
}

static void test_what_is_held_is_asked_for_by_its_number(void **state)
{
    struct provider_world *world = *state;
    assert_false(hold(world, 0, "n2"));
    provider_world_freeze(world, LEASE, 1, 5);
    assert_false(hold(world, 4, "n2"));
    assert_true(hold(world, 5, "n2"));
    assert_false(hold(world, 5, NULL));
    ASSERT_BOOK("1 frozen: n1 0/0 4/0; n2 2/0 0/0");
}

static void test_without_a_freeze_nothing_is_given(void **state)
{
    struct provider_world *world = *state;
    make(world);
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("1 made: n1 0/0 4/0; n2 2/0 0/0");
    provider_world_freeze(world, LEASE, 1, 5);
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("1 made: n1 0/0 4/0; n2 2/0 0/0");
    provider_world_propose(world, LEASE, 1, "n1 4:0 n2 2:0"); /* it may take */
    ASSERT_BOOK("2 made: n1 4/0 0/0; n2 2/0 0/0");
}

static void test_what_is_never_held(void **state)
{
    struct provider_world *world = *state;
    int64_t wait_ms = (int64_t)WORLD_FREEZE_MS * PROVIDER_PREPARE_FREEZES;
    provider_world_freeze(world, LEASE, 1, 5);
    assert_true(provider_wake_ms(world->provider) <= world->now_ms + wait_ms);
    provider_world_tick(world, wait_ms - 1);
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/0 0/0");
    provider_world_tick(world, 1);
    ASSERT_BOOK("1 frozen: n1 0/0 4/0; n2 2/2 0/0");
    assert_contract(world, "n1", "");
    provider_world_tick(world, WORLD_FREEZE_MS);
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/0 0/0");
}

static void test_a_foreign_job_thaws(void **state)
{
    struct provider_world *world = *state;
    provider_world_freeze(world, LEASE, 1, 5);
    assert_true(hold(world, 5, "n2"));
    provider_set_local_used(world->provider, "n2", 2, 2); /* an administrator did it */
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/2 0/0");
    provider_world_propose(world, LEASE, 1, "n1 0:4 n2 0:2");
    ASSERT_BOOK("1: n1 0/0 4/0; n2 2/2 0/0");
}

static void test_hosts_that_are_no_candidates(void **state)
{
    struct provider_world *world = *state;
    provider_set_local_used(world->provider, "n2", 2, 1);
    provider_world_freeze(world, LEASE, 1, 5);
    assert_contract(world, "n1", "");
    provider_set_local_used(world->provider, "n2", 2, 0);
    assert_contract(world, "n1", "n2");
    provider_set_down(world->provider, "n2", true);
    assert_contract(world, "n1", "");
}

static void test_who_waits(void **state)
{
    struct provider_world *world = *state;
    provider_set_waiting(world->provider, 3);
    provider_set_foreign_waiting(world->provider, 4);
    provider_world_tick(world, 0);
    assert_int_equal(provider_world_state(world, LEASE)->provider_waiting, 7);
    provider_set_waiting(world->provider, 0); /* of the site's own pass */
    provider_world_tick(world, 0);
    assert_int_equal(provider_world_state(world, LEASE)->provider_waiting, 4);
}

static void test_what_jobs_do_when_nobody_renews(void **state)
{
    struct provider_world *world = *state;
    struct provider_contract contract;
    assert_true(provider_contract_at(world->provider, 0, &world->memory, &contract));
    assert_false(contract.ends_lost);
    world->plan.leases[0].terms.ends_lost = true;
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    assert_true(provider_contract_at(world->provider, 0, &world->memory, &contract));
    assert_true(contract.ends_lost);
    provider_world_start(world, "south", 1, LEASE, contract.epoch, "n1=1");
    provider_world_drain(world, LEASE, 1, true);
    assert_true(provider_contract_at(world->provider, 0, &world->memory, &contract));
    assert_false(contract.ends_lost); /* it drains: jobs run to their end */
    provider_world_end(world, "south", 1);
    provider_world_tick(world, 0);
    assert_false(provider_contract_at(world->provider, 0, &world->memory, &contract));
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_the_reserved_slot_is_a_whole_host),
        STORY(test_it_moves_as_a_whole),
        STORY(test_one_job_uses_all_of_its_host),
        STORY(test_one_foreign_job_uses_all_of_its_host),
        STORY(test_foreign_jobs_take_an_idle_host_back),
        STORY(test_after_a_restart),
        STORY(test_a_freeze_waits_until_hosts_are_held),
        STORY(test_a_host_that_is_not_held_is_used),
        STORY(test_what_is_held_is_asked_for_by_its_number),
        STORY(test_without_a_freeze_nothing_is_given),
        STORY(test_what_is_never_held),
        STORY(test_a_foreign_job_thaws),
        STORY(test_hosts_that_are_no_candidates),
        STORY(test_who_waits),
        STORY(test_what_jobs_do_when_nobody_renews),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
