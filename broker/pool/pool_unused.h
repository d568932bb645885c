/* SPDX-License-Identifier: Apache-2.0 */
/* pool_unused.h: leaves whose waiting jobs cannot use the slots that they are granted.
 *
 * The broker does not know why a job waits: for a resource that no host of the pool
 * has, for more slots than its leaf may have, or for another job of its user. It sees
 * that a leaf has idle slots for a whole cycle and starts nothing on them, although
 * jobs wait; or that twice in turn no job waits any more once it has slots, and none
 * has started. Then the demand of the leaf is what it uses, as long as other leaves
 * lack slots, and so its idle slots go to them. It is asked again, which means that its
 * whole demand counts, if
 *
 *     more of its jobs wait than since the last time, or jobs that require other things
 *     its quota is more than the slots with which it failed, or the pool has grown; if
 *         it fails again under that quota, it is asked when the quota grows
 *     a host of the pool takes jobs that did not: it has come, is open again, or its
 *         window has begun (pool_news.h)
 *     its site has been connected again, perhaps with another configuration
 *     it starts more jobs than it could then, on slots that nobody else wanted
 *     a pause is over: PAUSE_MS, twice as long after each failure, at most
 * PAUSE_MAX_MS; nobody reports the load of hosts where the leaf has no slots
 *
 * All but the last two hold for the next cycle, so that a leaf is asked at most once in
 * two cycles. Slots in use by others are recalled for it only then. A host that goes is
 * no reason to ask.
 *
 * Units: slots; milliseconds. Source: docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_UNUSED_H
#define SUBLET_BROKER_POOL_POOL_UNUSED_H

#include "broker/plan/plan.h"

/* Slots that are waited for, and its quota if they all count; the look has the needs.
 */
struct pool_unused_asked {
    int64_t n_waiting, quota;
    uint64_t needs;
};

/* Of one leaf, from cycle to cycle; all zero at first. */
struct pool_unused {
    bool is_capped; /* its demand is `cap` while others lack slots */
    int64_t cap;
    int64_t n_used;    /* in the last cycle */
    int64_t since_ms;  /* it has had idle slots and waiting jobs since then; 0: not */
    int64_t n_tried;   /* the slots with which it failed, */
    int64_t quota;     /* its quota then, */
    int64_t n_waiting; /* the fewest slots that have been waited for since, */
    int64_t n_pool;    /* the slots of the pool, */
    uint64_t needs;    /* what its jobs required, */
    uint64_t session;  /* its site's connection, */
    int64_t news;      /* and the news of the pool until then */
    int64_t pause_ms, again_ms;
    struct pool_unused_asked asked; /* when it last had no idle slots; n_waiting 0: it
                                       has got some since */
    int n_vanished; /* so often in turn no job waited once it had some */
};

/* A leaf in a cycle. */
struct pool_unused_look {
    int64_t n_used, n_granted; /* of its slots; granted ones are not there yet */
    int64_t quota;             /* if its whole demand counts */
    int64_t n_pool, news;      /* of the pool */
    uint64_t needs;            /* digest of what its waiting jobs require */
    uint64_t session;          /* of its site */
    bool is_collecting; /* its jobs need more than its idle slots, and its quota has
                           room for them: the others are on their way */
    int64_t cycle_ms, now_ms;
};

/* What is known after this cycle. */
struct pool_unused pool_unused_next(const struct pool_unused *before,
                                    const struct plan_use *use,
                                    const struct pool_unused_look *look);

#endif
