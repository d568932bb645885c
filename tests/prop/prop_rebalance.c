/* SPDX-License-Identifier: Apache-2.0 */
/* prop_rebalance.c: random leases against rebalance.h and the seed document: without
 * changes `demand` settles at once and `lsf` always moves exactly what the seed
 * document demands; slots in use never move; leases are independent. SEED=N repeats one
 * run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "broker/lease/rebalance.h"

enum { HOSTS = 4, WORLDS = 5000, ROUNDS = 6 };

struct world {
    uint64_t seed;
    struct host_split hosts[HOSTS];
    struct rebalance_snapshot snapshot;
};

static int below(struct rng *rng, int n)
{
    return (int)rng_below(rng, n);
}

static void make(struct world *world, uint64_t seed, enum reclaim_policy policy)
{
    static const char *const names[HOSTS] = {"n1", "n2", "n3", "n4"};
    struct rng rng;
    rng_init(&rng, seed);
    *world = (struct world){.seed = seed};
    world->snapshot = (struct rebalance_snapshot){.hosts = world->hosts,
                                                  .n_hosts = 1 + below(&rng, HOSTS),
                                                  .policy = policy,
                                                  .since_move_ms = INT64_MAX};
    for (int i = 0; i < world->snapshot.n_hosts; i++) {
        struct host_split *host = &world->hosts[i];
        host->host = names[i];
        host->n_slots = below(&rng, 9);
        host->provider = below(&rng, host->n_slots + 1);
        host->consumer = host->n_slots - host->provider;
        host->provider_used = below(&rng, host->provider + 1);
        host->consumer_used = below(&rng, host->consumer + 1);
    }
    if (rng_percent(&rng, 50)) {
        world->snapshot.provider_waiting = below(&rng, 4);
    }
    if (rng_percent(&rng, 50)) {
        world->snapshot.consumer_waiting = below(&rng, 4);
    }
}

/* Applies the plan, as provider and broker would. */
static void apply(struct world *world, const struct rebalance_plan *plan)
{
    for (int i = 0; i < plan->n_hosts; i++) {
        world->hosts[i].provider = plan->hosts[i].provider;
        world->hosts[i].consumer = plan->hosts[i].consumer;
    }
}

static int idle_of(const struct world *world, bool is_consumer)
{
    int idle = 0;
    for (int i = 0; i < world->snapshot.n_hosts; i++) {
        const struct host_split *host = &world->hosts[i];
        idle += is_consumer ? host->consumer - host->consumer_used
                            : host->provider - host->provider_used;
    }
    return idle;
}

/* The rule of the seed document. */
static enum rebalance_direction seed_says(const struct world *world)
{
    int provider = idle_of(world, false), consumer = idle_of(world, true);
    return consumer > provider   ? REBALANCE_TO_PROVIDER
           : provider > consumer ? REBALANCE_TO_CONSUMER
                                 : REBALANCE_NONE;
}

/* The losing side retains exactly its used slots, and the number of slots is constant.
 */
static void check_plan(const struct world *world, const struct rebalance_plan *plan)
{
    int n_moved = 0;
    for (int i = 0; i < plan->n_hosts; i++) {
        const struct host_split *before = &world->hosts[i], *after = &plan->hosts[i];
        bool to_provider = plan->direction == REBALANCE_TO_PROVIDER;
        int loser = to_provider ? after->consumer : after->provider;
        int used = to_provider ? before->consumer_used : before->provider_used;
        if (after->provider + after->consumer != before->n_slots ||
            (plan->direction != REBALANCE_NONE && loser != used)) {
            fail_msg("seed %" PRIu64 ": host %s: %d + %d of %d", world->seed,
                     before->host, after->provider, after->consumer, before->n_slots);
        }
        n_moved += abs(after->provider - before->provider);
    }
    if (plan->n_moved != n_moved || (n_moved > 0) != (plan->direction != 0)) {
        fail_msg("seed %" PRIu64 ": %d slots move, %d are told", world->seed, n_moved,
                 plan->n_moved);
    }
}

static void judge(struct world *world, struct arena *arena, struct rebalance_plan *plan)
{
    rebalance_plan(&world->snapshot, arena, plan);
    check_plan(world, plan);
}

typedef void (*world_fn)(struct world *world, struct arena *arena);

static void for_worlds(enum reclaim_policy policy, world_fn fn)
{
    const char *only = getenv("SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : WORLDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct world world;
        struct arena arena;
        arena_init(&arena);
        make(&world, seed, policy);
        fn(&world, &arena);
        arena_release(&arena);
    }
}

static void lsf_rounds(struct world *world, struct arena *arena)
{
    for (int round = 0; round < ROUNDS; round++) {
        enum rebalance_direction expected = seed_says(world);
        struct rebalance_plan plan;
        judge(world, arena, &plan);
        if (plan.direction != expected) {
            fail_msg("seed %" PRIu64 " round %d: %d, the seed document says %d",
                     world->seed, round, plan.direction, expected);
        }
        apply(world, &plan);
    }
}

static void lsf_moves_exactly_what_the_seed_says(void **state)
{
    for_worlds(RECLAIM_LSF, lsf_rounds);
}

/* A side with idle slots needs no more slots: in such worlds both sides have all that
 * they can use. */
static void demand_rounds(struct world *world, struct arena *arena)
{
    bool provider_waits = world->snapshot.provider_waiting > 0;
    bool consumer_waits = world->snapshot.consumer_waiting > 0;
    struct rebalance_plan plan;
    judge(world, arena, &plan);
    if (!provider_waits && !consumer_waits && plan.direction != REBALANCE_NONE) {
        fail_msg("seed %" PRIu64 ": nobody waits, and slots move", world->seed);
    }
    if (provider_waits && consumer_waits) {
        return; /* LSF's rule, covered by the other test */
    }
    apply(world, &plan);
    for (int round = 1; round < ROUNDS; round++) {
        judge(world, arena, &plan);
        if (plan.direction != REBALANCE_NONE) {
            fail_msg("seed %" PRIu64 ": slots move again in round %d", world->seed,
                     round);
        }
    }
}

static void demand_is_at_rest_after_one_round(void **state)
{
    for_worlds(RECLAIM_DEMAND, demand_rounds);
}

static void held_rounds(struct world *world, struct arena *arena)
{
    struct rebalance_plan plan;
    world->snapshot.min_hold_ms = 60000;
    world->snapshot.since_move_ms = 59999;
    judge(world, arena, &plan);
    if (plan.direction != REBALANCE_NONE) {
        fail_msg("seed %" PRIu64 ": slots move within MIN_HOLD", world->seed);
    }
    world->snapshot.since_move_ms = 60000;
    judge(world, arena, &plan);
    if (plan.direction != seed_says(world)) {
        fail_msg("seed %" PRIu64 ": MIN_HOLD is over, and counts", world->seed);
    }
}

static void what_was_moved_is_held(void **state)
{
    for_worlds(RECLAIM_LSF, held_rounds);
}

/* Nothing is idle on a host that is down, and its split does not change. */
static void down_rounds(struct world *world, struct arena *arena)
{
    struct world other = *world;
    struct rebalance_plan plan, without;
    int last = world->snapshot.n_hosts - 1;
    world->hosts[last].is_down = true;
    other.snapshot.hosts = other.hosts;
    other.snapshot.n_hosts = last;
    rebalance_plan(&world->snapshot, arena, &plan);
    rebalance_plan(&other.snapshot, arena, &without);
    if (plan.direction != without.direction || plan.n_moved != without.n_moved ||
        plan.hosts[last].provider != world->hosts[last].provider) {
        fail_msg("seed %" PRIu64 ": a host that is down counts", world->seed);
    }
}

static void hosts_that_are_down_do_not_count(void **state)
{
    for_worlds(RECLAIM_LSF, down_rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lsf_moves_exactly_what_the_seed_says),
        cmocka_unit_test(demand_is_at_rest_after_one_round),
        cmocka_unit_test(what_was_moved_is_held),
        cmocka_unit_test(hosts_that_are_down_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
