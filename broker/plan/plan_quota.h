/* SPDX-License-Identifier: Apache-2.0 */
/* plan_quota.h: what each node of a plan is entitled to right now: its quota.
 *
 * From the plan, the slots that exist and what the leaves want. Three passes: scaled
 * ownership downwards (plan_scale.c), claims upwards, shares downwards, level by level
 * (plan_level.c).
 *
 * Units: slots; in a plan counted in hosts (plan_in_hosts), hosts.
 * Ownership: results live in the arena given; arrays are in the order of plan->nodes.
 * Order: plan.h; equal entitlement goes to the earlier sibling.
 * Source: Symphony, "Hybrid policy"; docs/design/plans.md "Scaled ownership", "Claims",
 * "Quotas", "Fill". Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_QUOTA_H
#define SUBLET_BROKER_PLAN_PLAN_QUOTA_H

#include "broker/plan/plan.h"

/* What a leaf wants and has. Those of parents are sums (plan_quota_sum). */
struct plan_use {
    int64_t demand;   /* running and waiting; PLAN_UNLIMITED: no bound */
    int64_t alloc;    /* slots it has, with recalled ones that are not back yet */
    int64_t recalled; /* of these: recalled in an earlier cycle */
    int64_t waiting;  /* of the recalled ones: without a deadline (pool_move) */
    int64_t young;    /* of these: moved to it less than MIN_HOLD ago */
    int64_t forced;   /* of these: to be given back in any case, because its policy has
                         changed (pool_switch.h); until then it gets no others */
    bool is_capped;   /* its jobs beyond what it uses could not start (pool_unused.h) */
    bool is_switching; /* it has had forced slots since the last cycle, and gets no
                          others in this one */
};

/* Which rule set a quota. */
enum plan_rule {
    PLAN_RULE_NONE,      /* wants nothing */
    PLAN_RULE_DEMAND,    /* all that it wants */
    PLAN_RULE_LIMIT,     /* its limit, though it wants more */
    PLAN_RULE_RESERVE,   /* its reserve, though it wants less */
    PLAN_RULE_FLOOR,     /* its scaled ownership: the level of the others is lower */
    PLAN_RULE_LEVEL,     /* its part by ownership of what its siblings leave */
    PLAN_RULE_EVEN,      /* an equal part */
    PLAN_RULE_LAST,      /* owns nothing, and its siblings take all */
    PLAN_RULE_OWNERSHIP, /* ownership policy: what it owns */
    PLAN_RULE_BORROWED,  /* ownership policy: and idle slots of its siblings */
};

struct plan_quota {
    int64_t scaled; /* floor of the scaled ownership */
    int64_t res;    /* the part of it that is never lent */
    int64_t claim;  /* what the quota is at most */
    int64_t quota;
    enum plan_rule rule;
    bool is_odd;         /* with a slot that rounding left */
    int64_t rest, whole; /* before rounding it was quota - is_odd + rest / whole */
};

/* What leaves have, with the sums of their parents. Of `uses` only the leaves' count.
 */
struct plan_use *plan_quota_sum(const struct plan *plan, const struct plan_use *uses,
                                struct arena *arena);

/* `uses` as plan_quota_sum made them; slots 0 .. PLAN_SLOTS_MAX. */
struct plan_quota *plan_quota_all(const struct plan *plan, int64_t slots,
                                  const struct plan_use *uses, struct arena *arena);

/* ---------------------------------------------------------------- plan_scale.c */

/* Hybrid nodes own a part of the configured slots, and scale with the pool. Nodes of
 * ownership policy own a fixed number; the hybrid ones scale with the rest of the pool.
 * If there are not enough slots, ownership subtrees get theirs in order of rank. */

/* How a pool is divided between the two policies. */
struct plan_scale_parts {
    int64_t owned_apart;       /* slots that ownership subtrees get */
    int64_t slots, configured; /* of the hybrid part */
};
struct plan_scale_parts plan_scale_parts(const struct plan *plan, int64_t slots);

/* Fills `scaled` of every node. */
void plan_scale(const struct plan *plan, int64_t slots, struct plan_quota *shares,
                struct arena *arena);

#endif
