/* SPDX-License-Identifier: Apache-2.0 */
/* place_order.h: the order in which a pass serves queues and classes of jobs.
 *
 * Queues are served by priority (higher first), then in file order. The queues of a
 * slot pool keep the positions that their priorities give them, and share these by what
 * they have used (fairshare.h). Such a queue is served while it is below its part; at
 * the position of the pool's last queue, slots that others have no use for are handed
 * out. A queue outside of pools is served as long as its jobs fit. Queues of one
 * FAIRSHARE_QUEUES are served as one, at the position of the first of them.
 *
 * Within a queue jobs are served in the order of their classes; with fairshare, by the
 * dynamic priority of users first (place_fairshare.h). The unused slots of a pool with
 * USE_PRIORITY_IN_POOL go to jobs of all its queues, by -sp (higher first), then by the
 * order of queues.
 *
 * A class is dropped for the pass when its first job cannot start. Nothing is sorted
 * before the first class is asked for.
 *
 * Ownership: all of it lives in the arena; the snapshot is borrowed. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_ORDER_H
#define SUBLET_SCHED_PLACE_PLACE_ORDER_H

#include "sched/place/place.h"
#include "sched/place/place_fairshare.h"
#include "sched/place/place_slot_pool.h"

/* A queue with pending classes, or all of FAIRSHARE_QUEUES. */
struct place_order_unit {
    int queue;
    int pool;                      /* -1: in none */
    bool is_last;                  /* of its pool */
    int *heap, n_heap;             /* classes; without fairshare */
    struct place_fairshare *share; /* with fairshare */
};

/* The sort key of a class's next job, copied here because it is compared thousands of
 * times in a pass. */
struct place_order_key {
    struct job_class_entry entry;
    int queue, priority; /* the queue's */
};

struct place_order {
    const struct place_snapshot *snapshot;
    int *next_entry;                     /* by class */
    struct place_order_key *keys;        /* by class; only of classes with jobs left */
    struct place_order_builder *builder; /* NULL after the first class was asked for */
    struct place_order_unit *units;
    int n_units;
    int at; /* the unit whose position is served */
    struct place_order_unit *current;
    struct place_slot_pools pools;
};

void place_order_init(struct place_order *order, struct arena *arena,
                      const struct place_snapshot *snapshot);
/* The class whose job is next; -1: none is left. */
int place_order_top(struct place_order *order);
/* Slots that MAX_SLOTS_IN_POOL leaves a job of that class; `limit` becomes its name if
 * they are below `n_min`. Reduces `n_max` to what is left of the queue's part of the
 * pool, but not below `n_min`. */
int place_order_max_slots(const struct place_order *order, int n_min, int *n_max,
                          const char **limit);
/* That job starts with so many slots. True if it was the last of its class. */
bool place_order_advance(struct place_order *order, int n_slots);
/* Drops that class for the rest of the pass. */
void place_order_drop(struct place_order *order);

#endif
