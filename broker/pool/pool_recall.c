/* SPDX-License-Identifier: Apache-2.0 */
/* pool_recall.c: slots that nodes above their quota give back (pool.h).
 *
 * The levels are computed downwards. Each is a pool of its own, of `room` slots. On the
 * first level these are all slots of the pool. Below a parent they are the parent's
 * quota if a node below it has less than its quota, because that node gets nothing
 * while the parent is above its own; else they are what the parent still has.
 *
 *     missing   what siblings have less than their quota
 *     idle      room less what they have; negative if they have too much
 *     short     missing - idle: so many must come back from siblings above their quota
 *     floor     a sibling's quota; with EGO_DISABLE_RECLAIM_HYBRID_OWN, while the pool
 *               is smaller than configured, its configured ownership if that is more
 *
 * That key protects jobs, and not slots: what a node has between its quota and the
 * higher floor is recalled without a deadline, and so comes back as its jobs end. It is
 * computed like the others, with the quota as the floor and with what is recalled
 * already as the least that each node gives.
 *
 * A leaf whose HOURS are used up likewise gives back without a deadline all that it has
 * borrowed and is not recalled within its grace, even if nothing is short.
 *
 * A node above its floor gives back in proportion to the difference, and the node of
 * the lowest rank gives the odd slot. While nothing is short, nodes give back only what
 * exceeds a limit, and what a change of policy takes (REBALANCE), which may go below
 * the floor. Slots that an earlier cycle has recalled count first, so that a recall
 * never moves from one node to another. Young slots are not recalled (MIN_HOLD).
 * MAX_RECALL_PER_CYCLE reduces the new recalls of a cycle in proportion.
 *
 * Example: 10 slots, /p (quota 6) has 8, all at /p/a (quota 3), none at /p/b (quota 3);
 * /r (quota 4) has 2.
 *     first level   missing 2 (/r), idle 0, short 2: /p gives 2, and keeps 6
 *     below /p      missing 3 (/p/b), idle 6 - 8 = -2, short 5: /p/a gives 5
 *
 * In docs/design/plans.md "Cycle" this is computed upwards, and a parent above its
 * quota gives back even if nothing is short. "Decided" there says why it differs here.
 */
#include "base/max_min_fill.h"
#include "broker/pool/pool_steps.h"

struct recalls {
    struct pool_cycle *cycle;
    bool keeps_owned;     /* EGO_DISABLE_RECLAIM_HYBRID_OWN is in force */
    bool *misses;         /* a node below it has less than its quota */
    int64_t *available;   /* each node can give so much */
    int64_t *earlier;     /* earlier recalls take so much. What waits for jobs to end
                             because HOURS are used up is no reason to end these first */
    int64_t *wanted;      /* and gives so much, earlier recalls among them */
    const int64_t *least; /* it gives at least so much; NULL: nothing */
    int64_t *room;        /* of a parent: slots for its children */
    struct max_min_fill_item *items;
    int *members;
};

static int64_t floor_of(const struct recalls *recalls, int node)
{
    const struct plan *plan = recalls->cycle->plan;
    int64_t quota = recalls->cycle->shares[node].quota;
    int64_t own = plan->nodes[node].own / plan->unit;
    return recalls->keeps_owned && plan->nodes[node].policy != PLAN_SHARE
               ? plan_max(quota, plan_min(own, plan->nodes[node].limit))
               : quota;
}

/* Upwards: a parent gives no more than its children can. */
static void look_at_all(const struct recalls *recalls)
{
    const struct pool_cycle *cycle = recalls->cycle;
    for (int i = cycle->plan->n_nodes - 1; i >= 0; i--) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        int64_t excess = plan_max(pool_held(cycle, i) - floor_of(recalls, i), 0);
        int64_t most = plan_is_leaf(node)
                           ? plan_max(cycle->uses[i].alloc - cycle->uses[i].young, 0)
                           : recalls->available[i];
        recalls->available[i] = plan_max(plan_min(excess, most), cycle->uses[i].forced);
        if (plan_is_leaf(node)) {
            const struct plan_use *use = &cycle->uses[i];
            recalls->earlier[i] =
                use->recalled - (use->spent_by != NULL ? use->waiting : 0);
        }
        if (node->parent != PLAN_NO_NODE) {
            recalls->available[node->parent] += recalls->available[i];
            recalls->earlier[node->parent] += recalls->earlier[i];
            recalls->misses[node->parent] |=
                recalls->misses[i] || pool_held(cycle, i) < cycle->shares[i].quota;
        }
    }
}

/* Slots above its limit after a change of the plan, or beyond what it may keep from
 * another policy; and what is settled already. */
static int64_t forced(const struct recalls *recalls, int node)
{
    const struct plan *plan = recalls->cycle->plan;
    int64_t over = pool_held(recalls->cycle, node) - plan->nodes[node].limit;
    int64_t least = plan_max(over, recalls->cycle->uses[node].forced);
    least = plan->settings.rebalances ? plan_max(least, 0) : 0;
    least = recalls->least != NULL ? plan_max(least, recalls->least[node]) : least;
    return plan_min(least, recalls->available[node]);
}

static int64_t short_of(const struct pool_cycle *cycle, int64_t room, int first,
                        int count)
{
    int64_t missing = 0, idle = room;
    for (int i = first; i < first + count; i++) {
        int64_t held = pool_held(cycle, i);
        missing += plan_max(cycle->shares[i].quota - held, 0);
        idle -= held;
    }
    return missing - idle;
}

/* Items for all that can give, lowest rank first; what is forced is the least. Returns
 * how many; `*forced_sum` and what earlier recalls would bring in `*earlier_sum`. */
static int collect(const struct recalls *recalls, int first, int count,
                   int64_t *forced_sum, int64_t *earlier_sum)
{
    int n_items = 0;
    *forced_sum = *earlier_sum = 0;
    for (int i = first + count - 1; i >= first; i--) {
        int64_t available = recalls->available[i];
        if (available == 0) {
            continue;
        }
        int64_t least = forced(recalls, i);
        recalls->items[n_items] = (struct max_min_fill_item){
            .weight = available, .lo = least, .hi = available};
        recalls->members[n_items++] = i;
        *forced_sum += least;
        *earlier_sum += plan_max(least, plan_min(recalls->earlier[i], available));
    }
    return n_items;
}

/* Earlier recalls count first: all of them if they are not enough, else they alone. */
static void prefer_earlier(const struct recalls *recalls, int n_items, bool enough)
{
    for (int k = 0; k < n_items; k++) {
        struct max_min_fill_item *item = &recalls->items[k];
        int64_t earlier = recalls->earlier[recalls->members[k]];
        earlier = plan_max(item->lo, plan_min(earlier, item->hi));
        if (enough) {
            item->hi = earlier;
        } else {
            item->lo = earlier;
        }
    }
}

static void recall_level(const struct recalls *recalls, int64_t room, int first,
                         int count)
{
    int64_t forced_sum, earlier_sum;
    int n_items = collect(recalls, first, count, &forced_sum, &earlier_sum);
    int64_t amount = plan_max(short_of(recalls->cycle, room, first, count), forced_sum);
    prefer_earlier(recalls, n_items, earlier_sum >= amount);
    max_min_fill_shares(amount, recalls->items, n_items);
    for (int k = 0; k < n_items; k++) {
        recalls->wanted[recalls->members[k]] = recalls->items[k].share;
    }
    for (int i = first; i < first + count; i++) {
        int64_t quota = recalls->cycle->shares[i].quota;
        int64_t kept = pool_held(recalls->cycle, i) - recalls->wanted[i];
        recalls->room[i] = recalls->misses[i] ? quota : plan_max(quota, kept);
    }
}

/* MAX_RECALL_PER_CYCLE, of the leaves' new recalls. */
static void cut(const struct recalls *recalls, struct arena *arena)
{
    const struct pool_cycle *cycle = recalls->cycle;
    int n_nodes = cycle->plan->n_nodes;
    /* At least one host, as less cannot be recalled. */
    int64_t most = plan_max(cycle->plan->settings.max_recall / cycle->plan->unit, 1);
    struct max_min_fill_item *items =
        arena_alloc(arena, (size_t)n_nodes, sizeof(*items));
    int *members = arena_alloc(arena, (size_t)n_nodes, sizeof(*members));
    int n_items = 0;
    for (int i = n_nodes - 1; i >= 0; i--) {
        int64_t recall = cycle->moves[i].recall;
        if (recall > 0) {
            items[n_items] = (struct max_min_fill_item){.weight = recall, .hi = recall};
            members[n_items++] = i;
        }
    }
    max_min_fill_shares(most, items, n_items);
    for (int k = 0; k < n_items; k++) {
        cycle->moves[members[k]].recall = items[k].share;
    }
}

/* The recalls of leaves that are new, and those that are cancelled. */
static void set_changes(const struct recalls *recalls)
{
    struct pool_cycle *cycle = recalls->cycle;
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        if (plan_is_leaf(&cycle->plan->nodes[i])) {
            const struct plan_use *use = &cycle->uses[i];
            int64_t change = recalls->wanted[i] - (use->recalled - use->waiting);
            cycle->moves[i].recall = plan_max(change, 0);
            cycle->moves[i].cancel = plan_max(-change, 0);
        }
    }
}

static struct recalls recall_all(struct pool_cycle *cycle, bool keeps_owned,
                                 const int64_t *least, struct arena *arena)
{
    const struct plan *plan = cycle->plan;
    size_t n_nodes = (size_t)plan->n_nodes;
    struct recalls recalls = {
        .cycle = cycle,
        .keeps_owned = keeps_owned,
        .misses = arena_alloc(arena, n_nodes, sizeof(bool)),
        .available = arena_alloc(arena, n_nodes, sizeof(int64_t)),
        .earlier = arena_alloc(arena, n_nodes, sizeof(int64_t)),
        .wanted = arena_alloc(arena, n_nodes, sizeof(int64_t)),
        .least = least,
        .room = arena_alloc(arena, n_nodes, sizeof(int64_t)),
        .items = arena_alloc(arena, n_nodes, sizeof(struct max_min_fill_item)),
        .members = arena_alloc(arena, n_nodes, sizeof(int)),
    };
    look_at_all(&recalls);
    recall_level(&recalls, cycle->slots, 0, plan->n_top);
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (!plan_is_leaf(node)) {
            recall_level(&recalls, recalls.room[i], node->first_child,
                         node->n_children);
        }
    }
    return recalls;
}

/* What leaves give back as their jobs end, beyond the other recalls. */
static void set_waits(const struct recalls *recalls, struct arena *arena)
{
    struct pool_cycle *cycle = recalls->cycle;
    struct recalls all = recall_all(cycle, false, recalls->wanted, arena);
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        if (plan_is_leaf(&cycle->plan->nodes[i])) {
            cycle->moves[i].wait = plan_max(all.wanted[i] - recalls->wanted[i], 0);
        }
    }
}

/* Leaves whose HOURS are used up keep no borrowed slot beyond the jobs that run. */
static void set_spent_waits(const struct recalls *recalls)
{
    struct pool_cycle *cycle = recalls->cycle;
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        const struct plan_use *use = &cycle->uses[i];
        if (plan_is_leaf(&cycle->plan->nodes[i]) && use->spent_by != NULL) {
            cycle->moves[i].wait = plan_max(use->borrowed - recalls->wanted[i], 0);
        }
    }
}

void pool_recall(struct pool_cycle *cycle, struct arena *arena)
{
    const struct plan *plan = cycle->plan;
    bool keeps_owned =
        plan->settings.keeps_scaled && cycle->slots * plan->unit < plan->configured;
    struct recalls recalls = recall_all(cycle, keeps_owned, NULL, arena);
    set_changes(&recalls);
    if (keeps_owned) {
        set_waits(&recalls, arena);
    }
    set_spent_waits(&recalls);
    if (plan->settings.max_recall < PLAN_UNLIMITED) {
        cut(&recalls, arena);
    }
}
