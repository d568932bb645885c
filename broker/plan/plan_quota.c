/* SPDX-License-Identifier: Apache-2.0 */
/* plan_quota.c: see plan.h.
 *
 * Example: 60 slots, all owned; /x owns 10, /y 50; below each two leaves that own
 * nothing and want more than there is.
 *
 *     scaled   /x 10  /y 50                       (plan_scale.c)
 *     claims   each leaf inf, so /x and /y inf    upwards
 *     shares   60 over /x, /y: 10, 50             downwards (plan_level.c)
 *              10 over /x's leaves: 5, 5; 50 over /y's: 25, 25
 *
 * A parent claims what its leaves claim, up to its limit. So slots that a leaf does not
 * want go to its siblings before they go to other branches. If a parent reserves more
 * than its leaves claim, it holds the difference, and its leaves do not get it. */
#include "broker/plan/plan.h"

#include "broker/plan/plan_level.h"

/* PLAN_UNLIMITED is the largest sum. */
static int64_t add(int64_t a, int64_t b)
{
    return plan_min(a + b, PLAN_UNLIMITED);
}

struct plan_use *plan_quota_sum(const struct plan *plan, const struct plan_use *uses,
                                struct arena *arena)
{
    struct plan_use *sums = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*sums));
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        if (plan_is_leaf(&plan->nodes[i])) {
            sums[i] = uses[i];
        }
        if (plan->nodes[i].parent != PLAN_NO_NODE) {
            struct plan_use *parent = &sums[plan->nodes[i].parent];
            parent->demand = add(parent->demand, sums[i].demand);
            parent->alloc = add(parent->alloc, sums[i].alloc);
            parent->recalled = add(parent->recalled, sums[i].recalled);
            parent->waiting = add(parent->waiting, sums[i].waiting);
            parent->young = add(parent->young, sums[i].young);
            parent->forced = add(parent->forced, sums[i].forced);
            parent->borrowed = add(parent->borrowed, sums[i].borrowed);
        }
    }
    return sums;
}

/* What the children of each node reserve and claim. */
struct below {
    int64_t res, claim;
    bool may_borrow; /* a leaf among them, whose HOURS are not used up */
};

static void claim_node(const struct plan_node *node, const struct plan_use *use,
                       const struct below *below, struct plan_quota *share)
{
    share->res = plan_min(node->reserve, share->scaled);
    if (plan_is_leaf(node)) {
        /* Nothing is held that it could not get. */
        share->res =
            use->spent_by != NULL ? plan_min(share->res, use->demand) : share->res;
        share->claim = plan_max(share->res, plan_min(use->demand, node->limit));
    } else {
        share->res = below->may_borrow ? plan_max(share->res, below->res) : below->res;
        share->res = plan_min(node->limit, share->res);
        share->claim = plan_max(share->res, plan_min(node->limit, below->claim));
    }
    if (node->policy == PLAN_OWNERSHIP && node->parent == PLAN_NO_NODE) {
        /* Exactly what it owns; nothing crosses its border. */
        share->res = share->claim = share->scaled;
    }
}

/* Upwards; returns what the nodes of the first level claim together that
 * are not of ownership policy. */
static int64_t claim_all(const struct plan *plan, const struct plan_use *uses,
                         struct plan_quota *shares, struct below *below)
{
    int64_t claims = 0;
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        const struct plan_node *node = &plan->nodes[i];
        claim_node(node, &uses[i], &below[i], &shares[i]);
        below[i].may_borrow |= plan_is_leaf(node) && uses[i].spent_by == NULL;
        if (node->parent != PLAN_NO_NODE) {
            struct below *parent = &below[node->parent];
            parent->may_borrow |= below[i].may_borrow;
            parent->res = add(parent->res, shares[i].res);
            parent->claim = add(parent->claim, shares[i].claim);
        } else if (node->policy != PLAN_OWNERSHIP) {
            claims = add(claims, shares[i].claim);
        }
    }
    return claims;
}

static int widest(const struct plan *plan)
{
    int width = plan->n_top;
    for (int i = 0; i < plan->n_nodes; i++) {
        int n_children = plan->nodes[i].n_children;
        width = n_children > width ? n_children : width;
    }
    return width;
}

static void share_top(const struct plan_level *level, int64_t amount)
{
    for (int i = 0; i < level->plan->n_top; i++) {
        if (level->plan->nodes[i].policy == PLAN_OWNERSHIP) {
            level->shares[i].quota = level->shares[i].claim;
            level->shares[i].rule = PLAN_RULE_OWNERSHIP;
        }
    }
    plan_level_hybrid(level, amount, 0, level->plan->n_top);
}

struct plan_quota *plan_quota_all(const struct plan *plan, int64_t slots,
                                  const struct plan_use *uses, struct arena *arena)
{
    size_t n_nodes = (size_t)plan->n_nodes, n_siblings = (size_t)widest(plan);
    struct plan_quota *shares = arena_alloc(arena, n_nodes, sizeof(*shares));
    struct below *below = arena_alloc(arena, n_nodes, sizeof(*below));
    struct plan_level level = {
        .plan = plan,
        .uses = uses,
        .shares = shares,
        .items = arena_alloc(arena, n_siblings, sizeof(*level.items)),
        .members = arena_alloc(arena, n_siblings, sizeof(*level.members)),
    };
    plan_scale(plan, slots, shares, arena);
    int64_t claims = claim_all(plan, uses, shares, below);
    share_top(&level, plan_min(plan_scale_parts(plan, slots).slots, claims));
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (plan_is_leaf(node)) {
            continue;
        }
        int64_t amount = plan_min(shares[i].quota, below[i].claim);
        if (node->policy == PLAN_OWNERSHIP) {
            plan_level_ownership(&level, amount, node->first_child, node->n_children);
        } else {
            plan_level_hybrid(&level, amount, node->first_child, node->n_children);
        }
    }
    return shares;
}
