/* SPDX-License-Identifier: Apache-2.0 */
/* pool_grant.c: idle slots to nodes below their quota (pool.h).
 *
 * The levels are computed downwards, and siblings in order of rank. Each gets all that
 * it may get before the next one gets anything, so that the last ones wait for recalled
 * slots. What a sibling reserves and does not have is not given to others. A leaf gets
 * no more than it wants: a reserve stays idle and is not granted. A leaf whose policy
 * has changed gets nothing before it has given back what it had beyond its ownership,
 * and nothing in the cycle that sees it done: others come first.
 *
 * What is missing of a node's reserve is the larger of its own missing part and the sum
 * of its children's: a child that uses much does not make up for what another child has
 * reserved and does not have. A reserve counts up to the quota, because in an
 * overcommitted plan all reserves together may exceed the pool.
 *
 * Example: /x reserves 3 and is idle, /y has 5 of a quota of 7, /z has 2 of 0; 10
 * slots, 3 are idle. /y may take 3 - 3 (held for /x) = 0: nothing is granted, and 2 are
 * recalled from /z (pool_recall.c). */
#include "broker/pool/pool_steps.h"

int64_t pool_grant_missing(const struct pool_cycle *cycle, int node, int64_t below)
{
    int64_t res = plan_min(cycle->shares[node].res, cycle->shares[node].quota);
    return plan_max(res - pool_held(cycle, node), below);
}

struct grants {
    struct pool_cycle *cycle;
    int64_t *missing; /* of the reserve of each node */
};

/* Upwards, from what the children miss. */
static void look_at_reserves(const struct grants *grants)
{
    const struct plan *plan = grants->cycle->plan;
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        int parent = plan->nodes[i].parent;
        grants->missing[i] = pool_grant_missing(grants->cycle, i, grants->missing[i]);
        if (parent != PLAN_NO_NODE) {
            grants->missing[parent] += grants->missing[i];
        }
    }
}

static int64_t wanted_by_leaf(const struct plan_use *use)
{
    return use->is_switching || use->forced > 0 ? 0
                                                : plan_max(use->demand - use->alloc, 0);
}

static int64_t sum_missing(const struct grants *grants, int first, int count)
{
    int64_t sum = 0;
    for (int i = first; i < first + count; i++) {
        sum += grants->missing[i];
    }
    return sum;
}

/* Gives siblings up to `available`; returns what they took. As deep as the tree, whose
 * depth the length of a path bounds. */
static int64_t give(const struct grants *grants, int64_t available, int first,
                    int count)
{
    struct pool_cycle *cycle = grants->cycle;
    int64_t held = sum_missing(grants, first, count), taken = 0;
    for (int i = first; i < first + count && taken < available; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        struct pool_move *move = &cycle->moves[i];
        held -= grants->missing[i];
        int64_t usable = plan_min(available - taken - held,
                                  cycle->shares[i].quota - cycle->uses[i].alloc);
        if (usable > 0) {
            move->grant =
                plan_is_leaf(node)
                    ? plan_min(usable, wanted_by_leaf(&cycle->uses[i]))
                    : give(grants, usable, node->first_child, node->n_children);
            grants->missing[i] = pool_grant_missing(
                cycle, i, sum_missing(grants, node->first_child, node->n_children));
        }
        taken += move->grant;
        held += grants->missing[i];
    }
    return taken;
}

void pool_grant(struct pool_cycle *cycle, struct arena *arena)
{
    const struct plan *plan = cycle->plan;
    struct grants grants = {
        .cycle = cycle,
        .missing = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(int64_t)),
    };
    int64_t idle = cycle->slots;
    for (int i = 0; i < plan->n_top; i++) {
        idle -= cycle->uses[i].alloc;
    }
    look_at_reserves(&grants);
    give(&grants, idle, 0, plan->n_top);
}
