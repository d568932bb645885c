/* SPDX-License-Identifier: Apache-2.0 */
/* pool_switch.h: what a node may keep when its pool changes to another policy.
 *
 * When the plan of the next window replaces ownership by hybrid policy, or the other
 * way round, borrowed slots are recalled, and slots beyond the ownership of the new
 * plan; each recall has the borrower's grace. Lent slots return because the borrowers'
 * slots are recalled. If the policy stays, the next quota decides alone.
 *
 * The rule applies level by level, so that what a child has borrowed from a sibling is
 * recalled like any other borrowed slot. If a node owns more than its children own
 * together, before and after the switch, the children share the difference in
 * proportion to what they have beyond their own: ownership that is not divided stays in
 * the branch.
 *
 * Units: slots. Source: Symphony, "Switching policies using time windows";
 * docs/design/plans.md "Windows". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_SWITCH_H
#define SUBLET_BROKER_POOL_POOL_SWITCH_H

#include "broker/pool/pool.h"

struct pool_holding {
    int64_t used;     /* slots that it has, borrowed ones among them */
    int64_t borrowed; /* of these: beyond what it owns (ownership policy) */
};

/* Slots that it may keep; the rest of `used` is recalled. `own` is of the new plan. */
int64_t pool_switch_keep(enum plan_policy before, enum plan_policy after,
                         struct pool_holding holding, int64_t own);

/* The plan before, and the slots of the latest cycle by it. */
struct pool_last_cycle {
    const struct plan *plan;
    int64_t slots;
};

/* The same for all nodes: sets `forced` of the leaves' uses to what they give back.
 * Node was[i] of the plan before has the name of node i of `plan` (PLAN_NO_NODE: none).
 * `slots` exist now. */
void pool_switch_force(struct pool_last_cycle before, const int *was,
                       const struct plan *plan, int64_t slots, struct plan_use *uses,
                       struct arena *arena);

#endif
