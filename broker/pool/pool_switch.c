/* SPDX-License-Identifier: Apache-2.0 */
/* pool_switch.c: see pool_switch.h.
 *
 * Example: 60 slots; /x has owned 40 by ownership policy and owns 30 from now on,
 * hybrid; its leaves own 10 each and have 25 and 15.
 *
 *     /x    min(40 - 0, 30) = 30
 *     /x/a  min(25 - 15, 10) = 10 at least
 *     /x/b  min(15 - 5, 10) = 10 at least
 *
 * The branch keeps 10 more. /x owned 20 that it did not divide, and owns 10 of that
 * kind now: so these 10 are not borrowed. They are shared 15 to 5, by what the leaves
 * have beyond their own: 17.5 and 12.5. /x/a keeps 18 and gives 7, /x/b keeps 12 and
 * gives 3.
 *
 * If /x/a and /x/b own 20 and 10 in the new plan and owned 20 each in the old one, /x
 * divides all. 25 at /x/a and 15 at /x/b become 20 and 10: /x/a returns the 5 that it
 * has borrowed from /x/b. */
#include "broker/pool/pool_switch.h"

#include "base/max_min_fill.h"
#include "broker/plan/plan.h"

int64_t pool_switch_keep(enum plan_policy before, enum plan_policy after,
                         struct pool_holding holding, int64_t own)
{
    if ((before == PLAN_OWNERSHIP) == (after == PLAN_OWNERSHIP)) {
        return holding.used;
    }
    int64_t mine =
        before == PLAN_OWNERSHIP ? holding.used - holding.borrowed : holding.used;
    return after == PLAN_SHARE ? mine : plan_min(mine, own);
}

struct switching {
    const struct plan *before;
    const struct plan_quota *owned; /* scaled, by the plan before */
    const int *was;
    const struct plan *plan;
    const struct plan_use *uses; /* with the sums of parents */
    struct plan_quota *shares;   /* scaled, by the new plan */
    int64_t *keeps;
    struct max_min_fill_item *items;
};

/* A whole branch has its policy from the first level. */
static bool is_switched(const struct switching *switching, int node)
{
    const struct plan *plan = switching->plan;
    while (plan->nodes[node].parent != PLAN_NO_NODE) {
        node = plan->nodes[node].parent;
    }
    int was = switching->was[node];
    return was != PLAN_NO_NODE &&
           (switching->before->nodes[was].policy == PLAN_OWNERSHIP) !=
               (plan->nodes[node].policy == PLAN_OWNERSHIP);
}

/* A node that is not in the old plan has borrowed nothing by it. */
static int64_t keep_alone(const struct switching *switching, int node)
{
    enum plan_policy after = switching->plan->nodes[node].policy;
    enum plan_policy before = after == PLAN_OWNERSHIP ? PLAN_HYBRID : PLAN_OWNERSHIP;
    int was = switching->was[node];
    int64_t used = switching->uses[node].alloc;
    int64_t owned = was != PLAN_NO_NODE ? switching->owned[was].scaled : used;
    return pool_switch_keep(before, after,
                            (struct pool_holding){used, plan_max(used - owned, 0)},
                            switching->shares[node].scaled);
}

/* What the node owns and its children do not. */
static int64_t undivided(const struct plan *plan, const struct plan_quota *shares,
                         int node)
{
    const struct plan_node *of = &plan->nodes[node];
    int64_t left = shares[node].scaled;
    for (int i = of->first_child; i < of->first_child + of->n_children; i++) {
        left -= shares[i].scaled;
    }
    return plan_max(left, 0);
}

/* What the children may keep together beyond their own: ownership that is not divided,
 * after the switch and, if what is beyond that was borrowed, before it. */
static int64_t keep_beyond(const struct switching *switching, int parent)
{
    int was = switching->was[parent];
    int64_t most = undivided(switching->plan, switching->shares, parent);
    return switching->plan->nodes[parent].policy != PLAN_OWNERSHIP &&
                   was != PLAN_NO_NODE
               ? plan_min(most, undivided(switching->before, switching->owned, was))
               : most;
}

static void keep_below(const struct switching *switching, int parent)
{
    const struct plan_node *of = &switching->plan->nodes[parent];
    for (int k = 0; k < of->n_children; k++) {
        int child = of->first_child + k;
        int64_t lo = keep_alone(switching, child);
        int64_t hi = switching->uses[child].alloc;
        switching->items[k] =
            (struct max_min_fill_item){.weight = plan_max(hi - lo, 1), .hi = hi - lo};
        switching->keeps[child] = lo;
    }
    int64_t left = switching->keeps[parent];
    for (int k = 0; k < of->n_children; k++) {
        left -= switching->keeps[of->first_child + k];
    }
    left = plan_min(left, keep_beyond(switching, parent));
    max_min_fill_shares(plan_max(left, 0), switching->items, of->n_children);
    for (int k = 0; k < of->n_children; k++) {
        switching->keeps[of->first_child + k] += switching->items[k].share;
    }
}

void pool_switch_force(struct pool_last_cycle before, const int *was,
                       const struct plan *plan, int64_t slots, struct plan_use *uses,
                       struct arena *arena)
{
    size_t n_nodes = (size_t)plan->n_nodes;
    struct plan_quota *owned =
        arena_alloc(arena, (size_t)before.plan->n_nodes, sizeof(*owned));
    plan_scale(before.plan, before.slots, owned, arena);
    struct switching switching = {
        .before = before.plan,
        .owned = owned,
        .was = was,
        .plan = plan,
        .uses = plan_quota_sum(plan, uses, arena),
        .shares = arena_alloc(arena, n_nodes, sizeof(struct plan_quota)),
        .keeps = arena_alloc(arena, n_nodes, sizeof(int64_t)),
        .items = arena_alloc(arena, n_nodes, sizeof(struct max_min_fill_item)),
    };
    plan_scale(plan, slots, switching.shares, arena);
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (!is_switched(&switching, i)) {
            continue;
        }
        if (node->parent == PLAN_NO_NODE) {
            switching.keeps[i] = keep_alone(&switching, i);
        }
        if (plan_is_leaf(node)) {
            uses[i].forced = uses[i].alloc - switching.keeps[i];
        } else {
            keep_below(&switching, i);
        }
    }
}
