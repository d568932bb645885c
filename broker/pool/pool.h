/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h: one cycle of a pool: quotas, then idle slots for nodes below their quota,
 * then recalls from nodes above it, as many as others are short of.
 *
 * This is a decision and nothing more: a snapshot goes in, and what should be moved
 * comes out. A cycle states all that is wanted: an earlier recall that is not needed
 * any more comes out as a cancel; the others are not repeated. Recalled slots are idle
 * in a later cycle.
 *
 * Units: slots; milliseconds. Arrays are in the order of plan->nodes.
 * Ownership: results live in the arena given.
 * Order: grants go to siblings in order of rank until each has its quota (not in
 * proportion); of recalls the lowest rank bears the odd slot.
 * Source: Symphony, "Hybrid policy"; docs/design/plans.md "Cycle", "Free slots",
 * "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_H
#define SUBLET_BROKER_POOL_POOL_H

#include "base/value.h"
#include "broker/plan/plan.h"

/* Why slots of a node are recalled. */
enum pool_why {
    POOL_WHY_SHORT,     /* others have less than their quota */
    POOL_WHY_LIMIT,     /* it is above its limit */
    POOL_WHY_SWITCH,    /* its policy has changed with the time window */
    POOL_WHY_UNPLANNED, /* the plan in force does not have it */
    POOL_WHY_HOURS,     /* its slot hours are used up */
};

struct pool_move {
    int64_t grant;  /* idle slots that it gets now */
    int64_t recall; /* slots that it is asked to give back from now on */
    int64_t cancel; /* of its earlier recalls: not needed any more */
    int64_t wait;   /* slots that it gives back when the jobs on them end, earlier ones
                       included; neither in recall nor in cancel */
    int64_t free;   /* idle slots that it could get, after the grants */
};

struct pool_cycle {
    const struct plan *plan;
    int64_t slots;
    int64_t unit;                /* slots that shares were rounded to: a host's, or 1 */
    const struct plan_use *uses; /* with the sums of parents */
    struct plan_quota *shares;
    struct pool_move
        *moves; /* of parents: sums; free as docs/design/plans.md "Free slots" */
};

/* Only the uses of leaves count; recalled, young, forced and borrowed are at most
 * alloc, and waiting is at most recalled. If more is allocated than there are slots, it
 * is recalled. slots 0 .. PLAN_SLOTS_MAX. */
void pool_cycle(const struct plan *plan, int64_t slots, const struct plan_use *uses,
                struct pool_cycle *cycle, struct arena *arena);

/* The same for exclusive placement, in `n_hosts` whole hosts of `host_slots` each. A
 * use counts the hosts that it needs. The results are slots again; a node has all slots
 * of its hosts. */
void pool_cycle_hosts(const struct plan *plan, int64_t n_hosts, int64_t host_slots,
                      const struct plan_use *uses, struct pool_cycle *cycle,
                      struct arena *arena);

/* Why the cycle recalls slots of the node by a deadline; never POOL_WHY_UNPLANNED or
 * POOL_WHY_HOURS, which sets none. */
enum pool_why pool_why(const struct pool_cycle *cycle, int node);
/* "others have less than their quota". */
const char *pool_why_text(enum pool_why why);

/* What the node has after the grants. */
static inline int64_t pool_held(const struct pool_cycle *cycle, int node)
{
    return cycle->uses[node].alloc + cycle->moves[node].grant;
}

/* ------------------------------------------------------------ pool_explain.c */

/* "demand", "limit", "reserve", "floor", "level" ... */
const char *pool_explain_rule(enum plan_rule rule);

/* "gets 9 of 20: its scaled ownership (OWNED 10 of 100, at 90 slots); ..." */
const char *pool_explain(const struct pool_cycle *cycle, int node, struct arena *arena);

/* "10 slots recalled, as others have less than their quota": what the cycle moves, and
 * why; of a node of which it moves some. */
const char *pool_explain_move(const struct pool_cycle *cycle, int node,
                              struct arena *arena);

/* What is shown of a cycle of a pool: a row for each node.
 *
 * Order: nodes in file order. No limit, and a demand without bound, are null.
 * Source: docs/design/interfaces.md "JSON", `plan quota`. */

/* {"schema_version":1,"slots":N,"nodes":[...]}; with `why`, each node has its rule and
 * the sentence of pool_explain too. */
struct value *pool_explain_cycle(const struct pool_cycle *cycle, bool with_why,
                                 struct arena *arena);

/* A number of slots; PLAN_UNLIMITED is null. */
void pool_explain_add_count(struct arena *arena, struct value *row, const char *key,
                            int64_t slots);

#endif
