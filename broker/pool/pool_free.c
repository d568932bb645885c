/* SPDX-License-Identifier: Apache-2.0 */
/* pool_free.c: how many idle slots each node could get (pool.h): a figure for people.
 *
 * While some leaf wants more than its quota, only reserves are free: of a leaf what it
 * reserves and does not have; of a parent the sum of these, or its own if that is more.
 * Otherwise all idle slots are free. They are shared downwards by configured ownership,
 * or in equal parts among siblings that own nothing. A subtree of ownership policy is
 * computed apart. */
#include "base/max_min_fill.h"
#include "broker/plan/plan.h"
#include "broker/pool/pool_steps.h"

static bool is_owned(const struct plan_node *node)
{
    return node->policy == PLAN_OWNERSHIP;
}

/* Some leaf that is not of ownership policy wants more than it may have. */
static bool is_contended(const struct pool_cycle *cycle)
{
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        if (plan_is_leaf(node) && !is_owned(node) &&
            plan_min(cycle->uses[i].demand, node->limit) > cycle->shares[i].quota) {
            return true;
        }
    }
    return false;
}

static void count_reserves(struct pool_cycle *cycle)
{
    for (int i = cycle->plan->n_nodes - 1; i >= 0; i--) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        if (is_owned(node)) {
            continue;
        }
        cycle->moves[i].free = pool_grant_missing(cycle, i, cycle->moves[i].free);
        if (node->parent != PLAN_NO_NODE) {
            cycle->moves[node->parent].free += cycle->moves[i].free;
        }
    }
}

struct scratch {
    struct max_min_fill_item *items;
    int *members;
};

/* By ownership, or ratio, over those siblings that have some; if none does,
 * equally. */
static void apportion(struct pool_cycle *cycle, const struct scratch *scratch,
                      int64_t amount, int first, int count, bool owned)
{
    bool has_owner = false;
    int n_items = 0;
    for (int i = first; i < first + count; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        has_owner = has_owner || (is_owned(node) == owned && node->own > 0);
    }
    for (int i = first; i < first + count; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        if (is_owned(node) == owned && (node->own > 0 || !has_owner)) {
            scratch->items[n_items] = (struct max_min_fill_item){
                .weight = has_owner ? node->own : 1, .hi = amount};
            scratch->members[n_items++] = i;
        }
    }
    max_min_fill_shares(amount, scratch->items, n_items);
    for (int k = 0; k < n_items; k++) {
        cycle->moves[scratch->members[k]].free = scratch->items[k].share;
    }
}

/* Below each parent of ownership policy, or of another. */
static void apportion_below(struct pool_cycle *cycle, const struct scratch *scratch,
                            bool owned)
{
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        const struct plan_node *node = &cycle->plan->nodes[i];
        if (is_owned(node) == owned && !plan_is_leaf(node)) {
            apportion(cycle, scratch, cycle->moves[i].free, node->first_child,
                      node->n_children, owned);
        }
    }
}

/* The hybrid part's idle slots; those of ownership subtrees go to their `free`. */
static int64_t count_idle(struct pool_cycle *cycle)
{
    int64_t idle = plan_scale_parts(cycle->plan, cycle->slots).slots;
    for (int i = 0; i < cycle->plan->n_top; i++) {
        int64_t held = pool_held(cycle, i);
        if (!is_owned(&cycle->plan->nodes[i])) {
            idle -= held;
        } else {
            cycle->moves[i].free = plan_max(cycle->shares[i].quota - held, 0);
        }
    }
    return plan_max(idle, 0);
}

void pool_free(struct pool_cycle *cycle, struct arena *arena)
{
    size_t n_nodes = (size_t)cycle->plan->n_nodes;
    struct scratch scratch = {
        .items = arena_alloc(arena, n_nodes, sizeof(struct max_min_fill_item)),
        .members = arena_alloc(arena, n_nodes, sizeof(int)),
    };
    int64_t idle = count_idle(cycle);
    apportion_below(cycle, &scratch, true);
    if (is_contended(cycle)) {
        count_reserves(cycle);
    } else {
        apportion(cycle, &scratch, idle, 0, cycle->plan->n_top, false);
        apportion_below(cycle, &scratch, false);
    }
}
