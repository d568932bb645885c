/* SPDX-License-Identifier: Apache-2.0 */
/* pool_grant.c: idle slots to nodes below their quota (pool.h).
 *
 * The levels are computed downwards, and siblings in order of rank. Each gets all that
 * it may get before the next one gets anything, so that the last ones wait for recalled
 * slots. What a sibling reserves and does not have is not given to others. A leaf gets
 * no more than it wants: a reserve stays idle and is not granted. A leaf whose policy
 * has changed gets nothing before it has given back what it had beyond its ownership.
 *
 * Example: /x reserves 3 and is idle, /y has 5 of a quota of 7, /z has 2 of 0; 10
 * slots, 3 are idle. /y may take 3 - 3 (held for /x) = 0: nothing is granted, and 2 are
 * recalled from /z (pool_recall.c). */
#include "broker/pool/pool_steps.h"

static int64_t missing_reserve(const struct pool_cycle *cycle, int node)
{
    return plan_max(cycle->shares[node].res - pool_held(cycle, node), 0);
}

static int64_t wanted_by_leaf(const struct plan_use *use)
{
    return use->forced > 0 ? 0 : plan_max(use->demand - use->alloc, 0);
}

/* Gives siblings up to `available`; returns what they took. As deep as the tree, whose
 * depth the length of a path bounds. */
static int64_t give(struct pool_cycle *cycle, int64_t available, int first, int count)
{
    int64_t held = 0, taken = 0;
    for (int i = first; i < first + count; i++) {
        held += missing_reserve(cycle, i);
    }
    for (int i = first; i < first + count && taken < available; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        struct pool_move *move = &cycle->moves[i];
        held -= missing_reserve(cycle, i);
        int64_t usable = plan_min(available - taken - held,
                                  cycle->shares[i].quota - cycle->uses[i].alloc);
        if (usable > 0) {
            move->grant =
                plan_is_leaf(node)
                    ? plan_min(usable, wanted_by_leaf(&cycle->uses[i]))
                    : give(cycle, usable, node->first_child, node->n_children);
        }
        taken += move->grant;
        held += missing_reserve(cycle, i);
    }
    return taken;
}

void pool_grant(struct pool_cycle *cycle)
{
    int64_t idle = cycle->slots;
    for (int i = 0; i < cycle->plan->n_top; i++) {
        idle -= cycle->uses[i].alloc;
    }
    give(cycle, idle, 0, cycle->plan->n_top);
}
