/* SPDX-License-Identifier: Apache-2.0 */
/* prop_plan.c: the invariants I1 to I15 of docs/design/plans.md "Invariants" on random
 * plans, and quotas against a twin that works differently. SEED=N repeats one world.
 *
 * The twin goes down the tree by recursion and raises each level of water by one step
 * after another to the next bound of some sibling, as the definition says: shares are
 * clamp(level * own, lo, hi). It knows nothing of frozen items, tiers of items or
 * the order of nodes in a plan. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/prop/plan_world.h"

enum { WORLDS = 20000, SIBLINGS_MAX = 8 };

__extension__ typedef __int128 wide;

/* Each of these looks at one world and its quotas. */
typedef void (*look_fn)(struct plan_world *world, const struct pool_cycle *cycle);

static void each_world(bool with_ownership, look_fn look)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(WORLDS); seed++) {
        struct plan_world world;
        struct pool_cycle cycle;
        plan_world_init(&world, seed, with_ownership);
        plan_world_cycle(&world, &cycle);
        look(&world, &cycle);
        plan_world_release(&world);
    }
}

struct siblings {
    int first, count;
    int parent;
};

/* The siblings below a node; PLAN_NO_NODE: the first level. */
static struct siblings siblings_of(const struct plan *plan, int parent)
{
    if (parent == PLAN_NO_NODE) {
        return (struct siblings){0, plan->n_top, parent};
    }
    return (struct siblings){plan->nodes[parent].first_child,
                             plan->nodes[parent].n_children, parent};
}

/* ---------------------------------------------------------------- I1 to I8 */

static void sums_add_up(struct plan_world *world, const struct pool_cycle *cycle)
{
    const struct plan *plan = &world->plan;
    for (int p = PLAN_NO_NODE; p < plan->n_nodes; p++) {
        struct siblings at = siblings_of(plan, p);
        int64_t quotas = 0, claims = 0;
        for (int i = at.first; i < at.first + at.count; i++) {
            quotas += cycle->shares[i].quota;
            claims += cycle->shares[i].claim;
        }
        int64_t room = p == PLAN_NO_NODE ? world->slots : cycle->shares[p].quota;
        PLAN_WORLD_EXPECT(world, at.count == 0 || quotas == plan_min(room, claims),
                          "I1: quotas do not add up", p);
    }
}

static void bounds_hold(struct plan_world *world, const struct pool_cycle *cycle)
{
    const struct plan *plan = &world->plan;
    int64_t own = 0;
    for (int i = 0; i < plan->n_top; i++) {
        own += plan->nodes[i].own;
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_quota *share = &cycle->shares[i];
        int64_t demand = cycle->uses[i].demand;
        int64_t floor = plan->settings.is_even ? plan->nodes[i].own : share->scaled;
        PLAN_WORLD_EXPECT(world, share->quota <= plan->nodes[i].limit,
                          "I2: above its limit", i);
        PLAN_WORLD_EXPECT(world,
                          !plan_is_leaf(&plan->nodes[i]) ||
                              share->quota <= plan_max(demand, share->res),
                          "I3: more than wanted", i);
        PLAN_WORLD_EXPECT(world, share->quota >= share->res,
                          "I4: less than its reserve", i);
        PLAN_WORLD_EXPECT(world,
                          share->res >= plan_min(plan->nodes[i].reserve, share->scaled),
                          "I4: reserves too little", i);
        if (!plan->settings.is_even || world->slots >= own) {
            PLAN_WORLD_EXPECT(world, share->quota >= plan_min(floor, share->claim),
                              "I5: less than it owns", i);
        }
    }
}

static void all_busy_is_all_owned(struct plan_world *world,
                                  const struct pool_cycle *cycle)
{
    const struct plan *plan = &world->plan;
    int64_t own = 0;
    bool is_busy = true;
    for (int i = 0; i < plan->n_top; i++) {
        own += plan->nodes[i].own;
        is_busy = is_busy && cycle->shares[i].claim >= plan->nodes[i].own;
    }
    for (int i = 0;
         i < plan->n_top && is_busy && world->slots == own && own == plan->configured;
         i++) {
        PLAN_WORLD_EXPECT(world, cycle->shares[i].quota == plan->nodes[i].own,
                          "I6: not what it owns", i);
    }
}

static bool is_sated(const struct pool_cycle *cycle, int node)
{
    return cycle->shares[node].quota == cycle->shares[node].claim;
}

static void check_pair(struct plan_world *world, const struct pool_cycle *cycle, int i,
                       int j)
{
    const struct plan_node *a = &world->plan.nodes[i], *b = &world->plan.nodes[j];
    const struct plan_quota *x = &cycle->shares[i], *y = &cycle->shares[j];
    if (!world->settings.is_even && a->own > 0 && b->own > 0 && !is_sated(cycle, i) &&
        !is_sated(cycle, j)) {
        int64_t apart = llabs(x->quota * b->own - y->quota * a->own);
        PLAN_WORLD_EXPECT(world, apart < a->own + b->own, "I7: not in proportion", i);
    }
    if (a->own == b->own && x->res == y->res && x->claim == y->claim) {
        PLAN_WORLD_EXPECT(world, llabs(x->quota - y->quota) <= 1, "I7: twins differ",
                          i);
    }
    if (!world->settings.is_even && a->own == 0 && b->own > 0 && x->quota > 0) {
        PLAN_WORLD_EXPECT(world, is_sated(cycle, j), "I8: an owner wants more", j);
    }
}

static void siblings_are_treated_alike(struct plan_world *world,
                                       const struct pool_cycle *cycle)
{
    for (int p = PLAN_NO_NODE; p < world->plan.n_nodes; p++) {
        struct siblings at = siblings_of(&world->plan, p);
        for (int i = at.first; i < at.first + at.count; i++) {
            for (int j = at.first; j < at.first + at.count; j++) {
                check_pair(world, cycle, i, j);
            }
        }
    }
}

static void quotas_keep_their_bounds(void **state)
{
    each_world(false, sums_add_up);
    each_world(false, bounds_hold);
    each_world(false, all_busy_is_all_owned);
    each_world(false, siblings_are_treated_alike);
}

/* ---------------------------------------------------------------- I9 to I11 */

static int64_t quota_at(const struct pool_cycle *cycle, int pos)
{
    return cycle->shares[cycle->plan->by_pos[pos]].quota;
}

/* Uses stand in the plan's order: they follow their nodes into another plan. */
static void rebuild(struct plan_world *world)
{
    struct plan_use by_pos[PLAN_WORLD_NODES_MAX];
    for (int i = 0; i < world->n_nodes; i++) {
        by_pos[i] = world->uses[world->plan.by_pos[i]];
    }
    plan_world_build(world);
    for (int i = 0; i < world->n_nodes; i++) {
        world->uses[world->plan.by_pos[i]] = by_pos[i];
    }
}

static void rank_moves_one_slot(struct plan_world *world,
                                const struct pool_cycle *cycle)
{
    struct rng rng;
    rng_init(&rng, world->seed);
    int parent = (int)rng_below(&rng, world->plan.n_nodes + 1) - 1;
    struct siblings at = siblings_of(&world->plan, parent);
    struct plan before = world->plan;
    for (int i = at.first; i < at.first + at.count; i++) {
        world->nodes[before.nodes[i].pos].rank = rng_below(&rng, 5);
    }
    struct pool_cycle after;
    rebuild(world);
    plan_world_cycle(world, &after);
    int64_t sum = 0;
    for (int i = at.first; i < at.first + at.count; i++) {
        int pos = before.nodes[i].pos;
        int64_t change = quota_at(&after, pos) - cycle->shares[i].quota;
        sum += change;
        PLAN_WORLD_EXPECT(world, llabs(change) <= 1,
                          "I9: rank moved more than one slot", i);
    }
    PLAN_WORLD_EXPECT(world, sum == 0, "I9: rank changed the sum", PLAN_NO_NODE);
}

static void demand_is_monotone(struct plan_world *world, const struct pool_cycle *cycle)
{
    struct rng rng;
    rng_init(&rng, world->seed);
    int node = (int)rng_below(&rng, world->plan.n_nodes);
    if (!plan_is_leaf(&world->plan.nodes[node])) {
        return;
    }
    struct pool_cycle after;
    int64_t demand = world->uses[node].demand;
    world->uses[node].demand =
        rng_percent(&rng, 30)
            ? PLAN_UNLIMITED
            : plan_min(demand + 1 + rng_below(&rng, 20), PLAN_UNLIMITED);
    plan_world_cycle(world, &after);
    for (int i = 0; i < world->plan.n_nodes; i++) {
        int64_t change = after.shares[i].quota - cycle->shares[i].quota;
        PLAN_WORLD_EXPECT(world, i != node || change >= 0, "I10: wants more, gets less",
                          i);
        bool is_above = strncmp(world->plan.nodes[i].name, world->plan.nodes[node].name,
                                strlen(world->plan.nodes[i].name)) == 0;
        PLAN_WORLD_EXPECT(world, is_above || change <= 1,
                          "I10: another wants more, gets more", i);
    }
}

/* Levels down from the pool, the first is 1. */
static int64_t depth_of(const struct plan *plan, int node)
{
    int64_t depth = 1;
    while (plan->nodes[node].parent != PLAN_NO_NODE) {
        node = plan->nodes[node].parent;
        depth++;
    }
    return depth;
}

/* One for each level: a parent may lose one by its own rounding, and reserves of
 * siblings grow with the pool. */
static void size_is_monotone(struct plan_world *world, const struct pool_cycle *cycle)
{
    struct pool_cycle after;
    world->slots++;
    plan_world_cycle(world, &after);
    for (int i = 0; i < world->plan.n_nodes; i++) {
        PLAN_WORLD_EXPECT(world,
                          after.shares[i].quota >=
                              cycle->shares[i].quota - depth_of(&world->plan, i),
                          "I11: a slot more costs too many", i);
    }
}

static void small_changes_have_small_effects(void **state)
{
    each_world(false, rank_moves_one_slot);
    each_world(false, demand_is_monotone);
    each_world(false, size_is_monotone);
}

/* ---------------------------------------------------------------- the twin */

struct twin_item {
    int node;
    int64_t weight, lo, hi, share;
};

/* Sum of clamp(level, lo, hi), times the level's denominator. */
static wide sum_at(wide over, wide under, const struct twin_item *items, int count)
{
    wide sum = 0;
    for (int i = 0; i < count; i++) {
        wide share = over * items[i].weight;
        wide lo = items[i].lo * under, hi = items[i].hi * under;
        sum += share < lo ? lo : share > hi ? hi : share;
    }
    return sum;
}

/* The share's numerator over `*under`, from the highest level of some bound that does
 * not take more than there is. */
static void twin_fill(int64_t amount, struct twin_item *items, int count)
{
    wide over = 0, under = 1, left = amount, weights = 0;
    for (int i = 0; i < 2 * count; i++) {
        wide bound = i % 2 == 0 ? items[i / 2].lo : items[i / 2].hi;
        wide weight = items[i / 2].weight;
        if (sum_at(bound, weight, items, count) <= amount * weight &&
            bound * under > over * weight) {
            over = bound;
            under = weight;
        }
    }
    bool is_open[SIBLINGS_MAX];
    for (int i = 0; i < count; i++) {
        wide at = over * items[i].weight;
        is_open[i] = at < items[i].hi * under && at >= items[i].lo * under;
        items[i].share = at >= items[i].hi * under ? items[i].hi : items[i].lo;
        left -= is_open[i] ? 0 : items[i].share;
        weights += is_open[i] ? items[i].weight : 0;
    }
    wide odd = left;
    for (int i = 0; i < count; i++) {
        if (is_open[i]) {
            items[i].share = (int64_t)(left * items[i].weight / weights);
            odd -= items[i].share;
        }
    }
    for (int i = 0; i < count; i++) {
        if (is_open[i] && odd > 0 && left * items[i].weight % weights != 0) {
            items[i].share++;
            odd--;
        }
    }
}

struct twin {
    const struct plan_world *world;
    const struct plan *plan;
    int64_t scaled[PLAN_WORLD_NODES_MAX], res[PLAN_WORLD_NODES_MAX],
        claim[PLAN_WORLD_NODES_MAX], quota[PLAN_WORLD_NODES_MAX];
};

static void twin_claim(struct twin *twin, int node, int64_t num, int64_t den)
{
    const struct plan_node *of = &twin->plan->nodes[node];
    if (den > 0 && of->own * num > of->limit * den) {
        num = of->limit;
        den = of->own;
    }
    twin->scaled[node] = den > 0 ? of->own * num / den : 0;
    int64_t res = plan_min(of->reserve, twin->scaled[node]), claim = 0, below = 0;
    for (int i = 0; i < of->n_children; i++) {
        twin_claim(twin, of->first_child + i, num, den);
        below += twin->res[of->first_child + i];
        claim += twin->claim[of->first_child + i];
    }
    if (plan_is_leaf(of)) {
        claim = twin->world->uses[node].demand;
    }
    twin->res[node] = plan_min(of->limit, plan_max(res, below));
    twin->claim[node] = plan_max(twin->res[node], plan_min(of->limit, claim));
}

static int64_t twin_tier(struct twin *twin, struct siblings at, int64_t amount,
                         int tier)
{
    struct twin_item items[SIBLINGS_MAX];
    bool is_even = twin->plan->settings.is_even;
    int count = 0;
    int64_t given = 0, most = 0;
    for (int i = at.first; i < at.first + at.count; i++) {
        int64_t own = twin->plan->nodes[i].own, claim = twin->claim[i],
                res = twin->res[i];
        struct twin_item item = {i, own, 0, 0, 0};
        if (tier == 1 && own > 0) {
            item.lo = is_even ? res : plan_max(res, plan_min(twin->scaled[i], claim));
            item.hi = is_even ? plan_max(res, plan_min(claim, own)) : claim;
            items[count++] = item;
        } else if (tier == 2 && (own == 0 || is_even)) {
            item.weight = 1;
            item.hi = claim - twin->quota[i];
            items[count++] = item;
        } else {
            continue;
        }
        most += item.hi;
    }
    twin_fill(plan_min(amount, most), items, count);
    for (int i = 0; i < count; i++) {
        twin->quota[items[i].node] += items[i].share;
        given += items[i].share;
    }
    return given;
}

static void twin_share(struct twin *twin, struct siblings at, int64_t amount)
{
    int64_t claims = 0;
    for (int i = at.first; i < at.first + at.count; i++) {
        claims += twin->claim[i];
    }
    amount = plan_min(amount, claims);
    amount -= twin_tier(twin, at, amount, 1);
    twin_tier(twin, at, amount, 2);
    for (int i = at.first; i < at.first + at.count; i++) {
        if (!plan_is_leaf(&twin->plan->nodes[i])) {
            twin_share(twin, siblings_of(twin->plan, i), twin->quota[i]);
        }
    }
}

static void is_as_the_twin(struct plan_world *world, const struct pool_cycle *cycle)
{
    struct twin twin = {.world = world, .plan = &world->plan};
    for (int i = 0; i < world->plan.n_top; i++) {
        twin_claim(&twin, i, world->slots, world->plan.configured);
    }
    twin_share(&twin, siblings_of(&world->plan, PLAN_NO_NODE), world->slots);
    for (int i = 0; i < world->plan.n_nodes; i++) {
        PLAN_WORLD_EXPECT(world, cycle->shares[i].scaled == twin.scaled[i],
                          "scaled as no twin", i);
        PLAN_WORLD_EXPECT(world, cycle->shares[i].quota == twin.quota[i],
                          "quota as no twin", i);
    }
}

static void quotas_are_as_defined(void **state)
{
    each_world(false, is_as_the_twin);
}

/* ---------------------------------------------------------------- ownership policy */

static void borders_hold(struct plan_world *world, const struct pool_cycle *cycle)
{
    const struct plan *plan = &world->plan;
    int64_t left = world->slots, hybrid = 0;
    for (int i = 0; i < plan->n_top; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (node->policy == PLAN_OWNERSHIP) {
            int64_t gets = plan_min(node->own, left);
            PLAN_WORLD_EXPECT(world, cycle->shares[i].quota == gets, "not what it owns",
                              i);
            left -= gets;
        } else {
            hybrid += cycle->shares[i].quota;
        }
    }
    PLAN_WORLD_EXPECT(world, hybrid <= left, "hybrid nodes take what others own",
                      PLAN_NO_NODE);
    for (int p = 0; p < plan->n_nodes; p++) {
        struct siblings at = siblings_of(plan, p);
        int64_t sum = 0;
        for (int i = at.first; i < at.first + at.count; i++) {
            sum += cycle->shares[i].quota;
            PLAN_WORLD_EXPECT(world, cycle->shares[i].quota <= plan->nodes[i].limit,
                              "above its limit", i);
            PLAN_WORLD_EXPECT(
                world,
                plan->nodes[i].policy == PLAN_HYBRID ||
                    cycle->shares[i].quota >=
                        plan_min(cycle->shares[i].scaled, cycle->shares[i].claim),
                "less than it owns", i);
        }
        PLAN_WORLD_EXPECT(world, sum <= cycle->shares[p].quota, "more than its own", p);
    }
}

static void ownership_stays_apart(void **state)
{
    each_world(true, borders_hold);
}

/* ---------------------------------------------------------------- HOURS */

static bool is_at_or_below(const struct plan *plan, int node, int above)
{
    while (node != PLAN_NO_NODE && node != above) {
        node = plan->nodes[node].parent;
    }
    return node == above;
}

/* By the definition: what is used anywhere below, looked for node by node. */
static int64_t used_below(const struct plan *plan, const int64_t *used_ms, int node)
{
    int64_t sum_ms = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        sum_ms += is_at_or_below(plan, i, node) ? used_ms[i] : 0;
    }
    return sum_ms;
}

static void check_hours(struct plan_world *world, const struct plan_hours *hours,
                        const int64_t *used_ms)
{
    const struct plan *plan = &world->plan;
    for (int i = 0; i < plan->n_nodes; i++) {
        const char *spent_by = NULL;
        for (int above = i; above != PLAN_NO_NODE && spent_by == NULL;
             above = plan->nodes[above].parent) {
            const struct plan_node *node = &plan->nodes[above];
            bool is_spent = node->hours > 0 && used_below(plan, used_ms, above) >=
                                                   node->hours * QUOTA_HOUR_MS;
            spent_by = is_spent ? node->name : NULL;
        }
        PLAN_WORLD_EXPECT(world, hours[i].used_ms == used_below(plan, used_ms, i),
                          "hours are not those of all below", i);
        PLAN_WORLD_EXPECT(world, hours[i].spent_by == spent_by,
                          "is not bounded by the nearest node that is used up", i);
        PLAN_WORLD_EXPECT(world,
                          plan->nodes[i].hours > 0 || hours[i].level == QUOTA_FREE,
                          "a level without HOURS", i);
    }
}

static bool is_same_level(const struct plan *plan, const struct plan_hours *a,
                          const struct plan_hours *b)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        if (a[i].level != b[i].level) {
            return false;
        }
    }
    return true;
}

/* If as many slots stay in use, levels change at that instant and not before. */
static void check_next(struct plan_world *world, const struct plan_hours *hours,
                       const int64_t *used_ms, struct rng *rng)
{
    const struct plan *plan = &world->plan;
    int64_t now_ms = rng_below(rng, 30 * 24 * QUOTA_HOUR_MS), next_ms;
    int64_t end_ms = 31 * 24 * QUOTA_HOUR_MS; /* January 1970 */
    struct plan_hours_use uses[PLAN_WORLD_NODES_MAX] = {0};
    for (int i = 0; i < plan->n_nodes; i++) {
        uses[i].n_used = rng_percent(rng, 60) ? rng_below(rng, 9) : 0;
    }
    next_ms = plan_hours_next_ms(plan, hours, uses, now_ms, &world->arena);
    PLAN_WORLD_EXPECT(world, plan_hours_has_any(plan) == (next_ms != INT64_MAX),
                      "expects something without HOURS", PLAN_NO_NODE);
    for (int late = 0; late < 2 && next_ms != INT64_MAX; late++) {
        int64_t then_ms[PLAN_WORLD_NODES_MAX];
        for (int i = 0; i < plan->n_nodes; i++) {
            then_ms[i] = used_ms[i] + uses[i].n_used * (next_ms - 1 + late - now_ms);
        }
        bool is_same =
            is_same_level(plan, hours, plan_hours_all(plan, then_ms, &world->arena));
        PLAN_WORLD_EXPECT(world, is_same == (late == 0) || next_ms == end_ms,
                          late ? "expects a level too early" : "expects a level late",
                          PLAN_NO_NODE);
    }
}

static void hours_bound_what_is_below_them(void **state)
{
    for (uint64_t seed = plan_world_first(); seed <= plan_world_last(WORLDS); seed++) {
        struct plan_world world;
        struct rng rng;
        int64_t used_ms[PLAN_WORLD_NODES_MAX];
        plan_world_init(&world, seed, true);
        rng_init(&rng, seed);
        for (int i = 0; i < world.n_nodes; i++) {
            world.nodes[i].hours = rng_percent(&rng, 40) ? 1 + rng_below(&rng, 40) : 0;
        }
        plan_world_build(&world);
        for (int i = 0; i < world.plan.n_nodes; i++) {
            bool is_exact = rng_percent(&rng, 20); /* up to the last millisecond */
            used_ms[i] = rng_below(&rng, 12 * QUOTA_HOUR_MS);
            used_ms[i] = is_exact ? world.plan.nodes[i].hours * QUOTA_HOUR_MS -
                                        rng_below(&rng, 2)
                                  : used_ms[i];
            used_ms[i] = plan_max(used_ms[i], 0);
        }
        const struct plan_hours *hours =
            plan_hours_all(&world.plan, used_ms, &world.arena);
        check_hours(&world, hours, used_ms);
        check_next(&world, hours, used_ms, &rng);
        plan_world_release(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_keep_their_bounds),
        cmocka_unit_test(small_changes_have_small_effects),
        cmocka_unit_test(quotas_are_as_defined),
        cmocka_unit_test(ownership_stays_apart),
        cmocka_unit_test(hours_bound_what_is_below_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
