/* SPDX-License-Identifier: Apache-2.0 */
/* plan_scale.c: ownership at the size that a pool has right now (plan.h).
 *
 * A scale is a fraction num/den by which OWNED of a node is multiplied: the slots that
 * exist over the slots that are configured. If the scaled ownership of a node exceeds
 * its limit, the node owns the limit, and the scale of its subtree is limit/own.
 *
 * Example: 100 configured, 150 exist; /p owns 60 with LIMIT 75, /p/a 40, /r 40.
 *     /p    60 * 150/100 = 90 > 75: 75, and 75/60 from here on
 *     /p/a  40 * 75/60   = 50
 *     /r    40 * 150/100 = 60
 * Only the floor is used. The rest is distributed when quotas are rounded.
 *
 * Source: Symphony, "How many slots does the consumer own?" and "Mixing";
 * docs/design/plans.md "Scaled ownership", "Windows". */
#include "broker/plan/plan.h"

struct scale {
    int64_t num, den;
};

struct plan_scale_parts plan_scale_parts(const struct plan *plan, int64_t slots)
{
    int64_t own = 0, apart = 0;
    for (int i = 0; i < plan->n_top; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (node->policy == PLAN_OWNERSHIP) {
            own += node->own;
            apart +=
                node->own / plan->unit; /* whole hosts, where these are exclusive */
        }
    }
    apart = plan_min(apart, slots);
    int64_t configured = plan_max(plan->configured - own, 0);
    return (struct plan_scale_parts){apart, slots - apart, configured};
}

/* The node's floor, and the scale of its children. */
static int64_t apply(const struct plan_node *node, struct scale scale,
                     struct scale *below)
{
    *below = scale;
    if (scale.den == 0) {
        return 0;
    }
    if (node->limit != PLAN_UNLIMITED &&
        node->own * scale.num > node->limit * scale.den) {
        *below = (struct scale){node->limit, node->own};
        return node->limit;
    }
    int64_t floor = node->own * scale.num / scale.den;
    return floor < PLAN_SLOTS_MAX ? floor : PLAN_SLOTS_MAX;
}

void plan_scale(const struct plan *plan, int64_t slots, struct plan_quota *shares,
                struct arena *arena)
{
    struct scale *below = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*below));
    struct plan_scale_parts parts = plan_scale_parts(plan, slots);
    int64_t apart = parts.owned_apart;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        struct scale scale = {parts.slots, parts.configured};
        if (node->parent != PLAN_NO_NODE) {
            scale = below[node->parent];
        } else if (node->policy == PLAN_OWNERSHIP) {
            int64_t own = node->own / plan->unit;
            own = own < apart ? own : apart;
            apart -= own;
            scale = (struct scale){own, node->own};
        }
        shares[i].scaled =
            node->policy != PLAN_SHARE ? apply(node, scale, &below[i]) : 0;
    }
}
