/* SPDX-License-Identifier: Apache-2.0 */
/* plan_level.h: one level of a plan: an amount shared over siblings.
 *
 * Hybrid policy: nodes that own something share by ownership. What they do not want is
 * shared in equal parts by nodes that own nothing.
 * Even mode: owners share by ownership, but get at most what they own. The rest is
 * shared in equal parts by all nodes that want more. Ownership policy: each node gets
 * what it owns and wants. Idle slots go to nodes that want more, in order of rank.
 *
 * Order: the siblings' own. Source: Symphony, "Hybrid policy"; docs/design/plans.md
 * "Quotas", "Fill". Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_LEVEL_H
#define SUBLET_BROKER_PLAN_PLAN_LEVEL_H

#include "base/max_min_fill.h"
#include "broker/plan/plan.h"

struct plan_level {
    const struct plan *plan;
    const struct plan_use *uses; /* with sums */
    struct plan_quota *shares;   /* in: scaled, res, claim; out: the rest */
    struct max_min_fill_item
        *items;   /* scratch for as many items as there are siblings */
    int *members; /* likewise: the node of each item */
};

/* Over the siblings nodes[first .. first + count). On a first level of both policies
 * the hybrid share leaves nodes of ownership policy alone. */
void plan_level_hybrid(const struct plan_level *level, int64_t amount, int first,
                       int count);
void plan_level_ownership(const struct plan_level *level, int64_t amount, int first,
                          int count);

#endif
