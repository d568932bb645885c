/* SPDX-License-Identifier: Apache-2.0 */
/* prop_pool.c: the invariants I13 to I15 of docs/design/plans.md "Invariants": cycles
 * of random pools, with graces, settle and never move a slot to and fro; and in a pool
 * that changes all the time each cycle is possible. SEED=N repeats one world. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/prop/plan_world.h"

enum { WORLDS = 6000, FULL_WORLDS = 20000, CYCLES = 12, GRACE_MAX = 4 };

/* Between cycles, recalled slots return at the latest after the grace. */
struct run {
    struct plan_world *world;
    struct rng rng;
    int64_t due[PLAN_WORLD_NODES_MAX][GRACE_MAX + 1]; /* returning in so many cycles */
    bool was_recalled[PLAN_WORLD_NODES_MAX];
    int64_t excess; /* above quota, of all leaves */
};

static int64_t floor_of(const struct plan_world *world, const struct pool_cycle *cycle,
                        int node)
{
    const struct plan_node *of = &world->plan.nodes[node];
    return world->settings.keeps_scaled && world->slots < world->plan.configured &&
                   of->policy != PLAN_SHARE
               ? plan_max(cycle->shares[node].quota, plan_min(of->own, of->limit))
               : cycle->shares[node].quota;
}

static void check_moves(struct run *run, const struct pool_cycle *cycle)
{
    struct plan_world *world = run->world;
    int64_t idle = world->slots, excess = 0;
    for (int i = 0; i < world->plan.n_nodes; i++) {
        if (!plan_is_leaf(&world->plan.nodes[i])) {
            continue;
        }
        const struct plan_use *use = &world->uses[i];
        const struct pool_move *move = &cycle->moves[i];
        int64_t quota = cycle->shares[i].quota, held = use->alloc + move->grant;
        int64_t recalled = use->recalled - use->waiting + move->recall - move->cancel;
        idle -= held;
        excess += plan_max(use->alloc - quota, 0);
        PLAN_WORLD_EXPECT(world,
                          move->grant == 0 || held <= plan_min(quota, use->demand),
                          "I15: granted too much", i);
        PLAN_WORLD_EXPECT(world,
                          recalled <= use->alloc && move->cancel <= use->recalled,
                          "I15: recalls more than it has", i);
        PLAN_WORLD_EXPECT(world,
                          move->recall == 0 ||
                              use->alloc - recalled >= floor_of(world, cycle, i),
                          "I15: recalled below its floor", i);
        PLAN_WORLD_EXPECT(
            world, move->wait == 0 || use->alloc - recalled - move->wait >= quota,
            "I15: takes below its quota as jobs end", i);
        PLAN_WORLD_EXPECT(world, move->wait == 0 || world->settings.keeps_scaled,
                          "protects jobs unasked", i);
        PLAN_WORLD_EXPECT(world, move->grant == 0 || !run->was_recalled[i],
                          "I13: granted after a recall", i);
        run->was_recalled[i] =
            run->was_recalled[i] || move->recall > 0 || move->wait > 0;
    }
    bool has_grant = false;
    for (int i = 0; i < world->plan.n_nodes; i++) {
        has_grant = has_grant || cycle->moves[i].grant > 0;
    }
    PLAN_WORLD_EXPECT(world, idle >= 0 || !has_grant, "granted what is not idle",
                      PLAN_NO_NODE);
    PLAN_WORLD_EXPECT(world, excess <= run->excess, "I13: more is above its quota",
                      PLAN_NO_NODE);
    run->excess = excess;
}

/* What the node's subtree reserves, as far as its quotas allow, and does not hold. */
static int64_t missing_below(const struct pool_cycle *cycle, int node)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct plan_quota *share = &cycle->shares[node];
    int64_t below = 0;
    for (int i = 0; i < of->n_children; i++) {
        below += missing_below(cycle, of->first_child + i);
    }
    return plan_max(plan_min(share->res, share->quota) - pool_held(cycle, node), below);
}

/* I14: slots that are reserved and not held, at any depth, are idle or recalled. */
static void check_reserves(struct run *run, const struct pool_cycle *cycle)
{
    const struct plan *plan = &run->world->plan;
    int64_t idle = run->world->slots, missing = 0, recalled = 0;
    for (int i = 0; i < plan->n_top; i++) {
        idle -= pool_held(cycle, i);
        missing += missing_below(cycle, i);
        recalled +=
            cycle->uses[i].recalled + cycle->moves[i].recall - cycle->moves[i].cancel;
    }
    PLAN_WORLD_EXPECT(run->world,
                      idle >= missing || recalled > 0 ||
                          run->world->settings.keeps_scaled,
                      "I14: a reserve is neither idle nor recalled", PLAN_NO_NODE);
}

static void add_due(struct run *run, int node, int64_t recall)
{
    run->due[node][run->world->plan.nodes[node].grace_ms] += recall;
    run->world->uses[node].recalled += recall;
}

static void drop_due(struct run *run, int node, int64_t cancel)
{
    run->world->uses[node].recalled -= cancel;
    for (int i = GRACE_MAX; i >= 0; i--) {
        int64_t dropped = plan_min(cancel, run->due[node][i]);
        run->due[node][i] -= dropped;
        cancel -= dropped;
    }
}

/* Jobs that end give back slots that were recalled without a deadline. */
static void end_jobs(struct run *run, int node, int64_t wait)
{
    struct plan_use *use = &run->world->uses[node];
    int64_t ended = 0;
    use->recalled += wait - use->waiting;
    use->waiting = wait;
    for (int64_t i = 0; i < wait; i++) {
        ended += rng_percent(&run->rng, 90);
    }
    use->alloc -= ended;
    use->recalled -= ended;
    use->waiting -= ended;
}

/* Returns slots whose grace is over, and sometimes earlier. */
static void bring_back(struct run *run, int node)
{
    struct plan_use *use = &run->world->uses[node];
    int64_t back = run->due[node][0];
    for (int i = 0; i < GRACE_MAX; i++) {
        run->due[node][i] = run->due[node][i + 1];
    }
    run->due[node][GRACE_MAX] = 0;
    for (int i = 0; i < GRACE_MAX; i++) {
        if (run->due[node][i] > 0 && rng_percent(&run->rng, 20)) {
            run->due[node][i]--;
            back++;
        }
    }
    use->alloc -= back;
    use->recalled -= back;
}

static void apply(struct run *run, const struct pool_cycle *cycle)
{
    for (int i = 0; i < run->world->plan.n_nodes; i++) {
        if (plan_is_leaf(&run->world->plan.nodes[i])) {
            run->world->uses[i].alloc += cycle->moves[i].grant;
            drop_due(run, i, cycle->moves[i].cancel);
            add_due(run, i, cycle->moves[i].recall);
            end_jobs(run, i, cycle->moves[i].wait);
            bring_back(run, i);
        }
    }
}

static bool is_settled(const struct plan_world *world, const struct pool_cycle *cycle)
{
    for (int i = 0; i < world->plan.n_nodes; i++) {
        const struct plan_use *use = &cycle->uses[i];
        if (plan_is_leaf(&world->plan.nodes[i]) &&
            use->alloc < plan_min(cycle->shares[i].quota, use->demand)) {
            return false;
        }
    }
    return true;
}

/* With everything fixed: settled within the longest grace and two cycles. */
static void run_world(uint64_t seed)
{
    struct plan_world world;
    struct run run = {.world = &world, .excess = INT64_MAX};
    plan_world_init(&world, seed, true);
    rng_init(&run.rng, seed);
    for (int i = 0; i < CYCLES; i++) {
        struct pool_cycle cycle;
        plan_world_cycle(&world, &cycle);
        check_moves(&run, &cycle);
        check_reserves(&run, &cycle);
        PLAN_WORLD_EXPECT(&world,
                          i < GRACE_MAX + 2 || world.settings.keeps_scaled ||
                              is_settled(&world, &cycle),
                          "I13: somebody still waits", PLAN_NO_NODE);
        apply(&run, &cycle);
    }
    struct pool_cycle last;
    plan_world_cycle(&world, &last);
    for (int i = 0; i < world.plan.n_nodes; i++) {
        PLAN_WORLD_EXPECT(&world, last.moves[i].grant == 0 && last.moves[i].recall == 0,
                          "I13: moves slots for ever", i);
    }
    plan_world_release(&world);
}

static void cycles_settle(void **state)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(WORLDS); seed++) {
        run_world(seed);
    }
}

/* A full pool in which the quotas sum up to all slots. */
static void full_pools_recall_all_excess(struct plan_world *world,
                                         const struct pool_cycle *cycle)
{
    int64_t quotas = 0, held = 0;
    for (int i = 0; i < world->plan.n_nodes; i++) {
        bool is_leaf = plan_is_leaf(&world->plan.nodes[i]);
        quotas += is_leaf ? cycle->shares[i].quota : 0;
        held += is_leaf ? cycle->uses[i].alloc : 0;
    }
    if (quotas != world->slots || held < world->slots || world->settings.keeps_scaled) {
        return;
    }
    for (int i = 0; i < world->plan.n_nodes; i++) {
        if (plan_is_leaf(&world->plan.nodes[i])) {
            PLAN_WORLD_EXPECT(
                world,
                cycle->moves[i].recall ==
                    plan_max(cycle->uses[i].alloc - cycle->shares[i].quota, 0),
                "recalls not what is above its quota", i);
        }
    }
}

static void recalls_are_in_proportion(void **state)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(FULL_WORLDS);
         seed++) {
        struct plan_world world;
        struct pool_cycle cycle;
        plan_world_init(&world, seed, true);
        plan_world_cycle(&world, &cycle);
        full_pools_recall_all_excess(&world, &cycle);
        plan_world_release(&world);
    }
}

/* Everything changes all the time: each cycle stays possible. */
static void changing_worlds_stay_possible(void **state)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(WORLDS); seed++) {
        struct plan_world world;
        struct run run = {.world = &world};
        plan_world_init(&world, seed, true);
        rng_init(&run.rng, seed);
        for (int i = 0; i < CYCLES; i++) {
            struct pool_cycle cycle;
            plan_world_cycle(&world, &cycle);
            run.excess = INT64_MAX;
            memset(run.was_recalled, 0, sizeof(run.was_recalled));
            check_moves(&run, &cycle);
            check_reserves(&run, &cycle);
            apply(&run, &cycle);
            world.slots = plan_max(world.slots + rng_below(&run.rng, 11) - 5, 0);
            int node = (int)rng_below(&run.rng, world.plan.n_nodes);
            world.uses[node].demand = rng_below(&run.rng, 40);
        }
        plan_world_release(&world);
    }
}

/* ---------------------------------------------------------------- HOURS */

/* Slots of a leaf on hosts of its own site, and slots there that are idle. */
struct own_hosts {
    int64_t held, idle;
};

/* A world in which some leaves, or whole branches, have used up their hours. */
static void spend(struct plan_world *world, struct rng *rng, struct own_hosts *own)
{
    const struct plan *plan = &world->plan;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        struct plan_use *use = &world->uses[i];
        bool is_above =
            node->parent != PLAN_NO_NODE && world->uses[node->parent].spent_by != NULL;
        use->spent_by = is_above || rng_percent(rng, 25) ? "/x" : NULL;
        own[i] = (struct own_hosts){0};
        if (!plan_is_leaf(node)) {
            continue;
        }
        own[i].held = use->alloc > 0 ? rng_below(rng, use->alloc + 1) : 0;
        own[i].idle = rng_percent(rng, 30) ? rng_below(rng, 4) : 0;
        use->borrowed = use->alloc - own[i].held;
        if (use->spent_by != NULL) {
            int64_t used = rng_below(rng, use->borrowed + 1);
            use->waiting = use->recalled =
                rng_percent(rng, 50) ? rng_below(rng, use->borrowed + 1) : 0;
            use->demand = used + plan_min(plan_max(use->demand - used, 0),
                                          own[i].held + own[i].idle);
        }
    }
}

static void check_spent(struct plan_world *world, const struct pool_cycle *cycle,
                        const struct own_hosts *own)
{
    const struct plan *plan = &world->plan;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_use *use = &cycle->uses[i];
        const struct pool_move *move = &cycle->moves[i];
        int64_t recalled = use->recalled - use->waiting + move->recall - move->cancel;
        if (!plan_is_leaf(&plan->nodes[i])) {
            continue;
        }
        PLAN_WORLD_EXPECT(world,
                          use->spent_by != NULL || move->wait == 0 ||
                              world->settings.keeps_scaled,
                          "a leaf with hours left gives back as jobs end", i);
        if (use->spent_by == NULL) {
            continue;
        }
        PLAN_WORLD_EXPECT(world, move->grant <= own[i].idle,
                          "is granted more than idle slots of its own", i);
        PLAN_WORLD_EXPECT(world, recalled + move->wait >= use->borrowed,
                          "keeps borrowed slots", i);
        PLAN_WORLD_EXPECT(world, recalled + move->wait <= use->alloc,
                          "gives back more than it has", i);
        PLAN_WORLD_EXPECT(
            world, move->recall == 0 || use->alloc - recalled >= cycle->shares[i].quota,
            "ends jobs below its quota", i);
        PLAN_WORLD_EXPECT(world,
                          cycle->shares[i].res <= use->demand ||
                              plan->nodes[i].policy == PLAN_OWNERSHIP,
                          "a reserve is held for nobody", i);
    }
}

/* The same cycle for a leaf that wants as much and has hours left. */
static void check_beside(struct plan_world *world, const struct pool_cycle *cycle)
{
    struct pool_cycle other;
    bool has_reserve = false;
    for (int i = 0; i < world->plan.n_nodes; i++) {
        world->uses[i].spent_by = NULL;
        world->uses[i].recalled = world->uses[i].waiting = 0;
        has_reserve |= world->plan.nodes[i].reserve > 0;
    }
    plan_world_cycle(world, &other);
    for (int i = 0; i < world->plan.n_nodes && !has_reserve; i++) {
        PLAN_WORLD_EXPECT(world,
                          other.shares[i].quota == cycle->shares[i].quota &&
                              other.moves[i].recall == cycle->moves[i].recall &&
                              other.moves[i].grant == cycle->moves[i].grant,
                          "is better or worse protected than others", i);
    }
}

static void spent_leaves_borrow_nothing_more(void **state)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(FULL_WORLDS);
         seed++) {
        struct plan_world world;
        struct pool_cycle cycle;
        struct rng rng;
        struct own_hosts own[PLAN_WORLD_NODES_MAX];
        plan_world_init(&world, seed, true);
        rng_init(&rng, seed);
        spend(&world, &rng, own);
        plan_world_cycle(&world, &cycle);
        check_spent(&world, &cycle, own);
        check_beside(&world, &cycle);
        plan_world_release(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recalls_are_in_proportion),
        cmocka_unit_test(cycles_settle),
        cmocka_unit_test(changing_worlds_stay_possible),
        cmocka_unit_test(spent_leaves_borrow_nothing_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
