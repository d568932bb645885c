/* SPDX-License-Identifier: Apache-2.0 */
/* pool_switch.h: what a node keeps when its pool goes over to another policy.
 *
 * From one window's plan to the next: between ownership and hybrid the borrowed slots
 * are recalled, and what exceeds the ownership of the new plan; each recall with the
 * borrower's grace. Lent slots come home because their borrowers' are recalled. Where
 * the policy stays, nothing is special: the next quota decides.
 *
 * That is so level by level. What a node keeps beyond what its children own is shared
 * by these, in proportion to what they have beyond their own: ownership that is not
 * divided stays in the branch.
 *
 * Units: slots. Source: seed document 001, "Switching policies using time windows";
 * hybrid.md 3.9.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_SWITCH_H
#define SUBLET_BROKER_POOL_POOL_SWITCH_H

#include "broker/pool/pool.h"

struct pool_holding {
    int64_t used;     /* slots that it has, borrowed ones among them */
    int64_t borrowed; /* of these: beyond what it owns (ownership policy) */
};

/* Slots that it keeps; the rest of `used` is recalled. `own`: in the new plan. */
int64_t pool_switch_keep(enum plan_policy before, enum plan_policy after,
                         struct pool_holding holding, int64_t own);

/* The other plan, and the slots that there were in the latest cycle by it. */
struct pool_last_cycle {
    const struct plan *plan;
    int64_t slots;
};

/* The same of all nodes: into `forced` of the leaves' uses goes what they give back.
 * Node was[i] of the plan before has the name of node i of `plan` (PLAN_NO_NODE: none).
 * `slots` are those that exist now. */
void pool_switch_force(struct pool_last_cycle before, const int *was,
                       const struct plan *plan, int64_t slots, struct plan_use *uses,
                       struct arena *arena);

#endif
