/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h: one cycle of a pool: quotas, then idle slots to who is below its quota, then
 * recalls from who is above it, as many as somebody misses.
 *
 * A decision, nothing more: a snapshot goes in, what should be moved comes out. A cycle
 * states the whole of what is wanted: a recall of an earlier cycle that nobody needs
 * any more comes out as a cancel, the others are not repeated. What a recall brings
 * back is idle in a later cycle.
 *
 * Units: slots; milliseconds. Arrays are in the order of plan->nodes.
 * Ownership: results live in the arena given.
 * Order: grants go to siblings in order of rank until each has its quota (not in
 * proportion); of recalls the lowest rank bears the odd slot.
 * Source: seed document 001; hybrid.md 3.7, 3.8; docs/adr/0013.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_H
#define SUBLET_BROKER_POOL_POOL_H

#include "broker/plan/plan_quota.h"

/* Why slots of a node are recalled. */
enum pool_why {
    POOL_WHY_SHORT,     /* others have less than their quota */
    POOL_WHY_LIMIT,     /* it is above its limit */
    POOL_WHY_SWITCH,    /* its policy has changed with the time window */
    POOL_WHY_UNPLANNED, /* the plan that is in force has it not */
};

struct pool_move {
    int64_t grant;  /* idle slots that it gets now */
    int64_t recall; /* slots that it is asked to give back, from now on */
    int64_t cancel; /* of its earlier recalls: no longer needed */
    int64_t free;   /* idle slots that are there for it, after the grants */
};

struct pool_cycle {
    const struct plan *plan;
    int64_t slots;
    int64_t unit;                /* slots that shares were rounded to: a host's, or 1 */
    const struct plan_use *uses; /* with the sums of parents */
    struct plan_quota *shares;
    struct pool_move *moves; /* of parents: sums; free as hybrid.md 3.8 */
};

/* Of `uses` only the leaves' count: recalled, young and forced at most alloc. More may
 * be allocated than there are slots: they are recalled. slots 0 .. PLAN_SLOTS_MAX. */
void pool_cycle(const struct plan *plan, int64_t slots, const struct plan_use *uses,
                struct pool_cycle *cycle, struct arena *arena);

/* The same in whole hosts of `host_slots` each, `n_hosts` of them, for exclusive
 * placement; a use counts the hosts that it needs. The results are slots again, those
 * that a node has of a host are all of it. */
void pool_cycle_hosts(const struct plan *plan, int64_t n_hosts, int64_t host_slots,
                      const struct plan_use *uses, struct pool_cycle *cycle,
                      struct arena *arena);

/* The steps (pool_grant.c, pool_recall.c, pool_free.c): each fills its fields of the
 * leaves' moves, free of all. */
void pool_grant(struct pool_cycle *cycle);
void pool_recall(struct pool_cycle *cycle, struct arena *arena);
void pool_free(struct pool_cycle *cycle, struct arena *arena);

/* Why the cycle recalls slots of the node; of POOL_WHY_UNPLANNED no cycle knows. */
enum pool_why pool_why(const struct pool_cycle *cycle, int node);
/* "others have less than their quota": behind "as". */
const char *pool_why_text(enum pool_why why);

/* What the node has after the grants. */
static inline int64_t pool_held(const struct pool_cycle *cycle, int node)
{
    return cycle->uses[node].alloc + cycle->moves[node].grant;
}

#endif
