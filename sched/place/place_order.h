/* SPDX-License-Identifier: Apache-2.0 */
/* place_order.h: whose turn it is in a pass.
 *
 * Queues stand by priority (higher first), then as in the file. Those of a slot pool
 * keep the places that their priorities give them, and stand in these by what they have
 * used (slot_pool.h); one goes on while it is below its part, and in the place of the
 * pool's last queue what the others have no use for is handed on. A queue outside of
 * pools goes on as long as it can. Queues of one FAIRSHARE_QUEUES stand as one, in the
 * place of the first of them.
 *
 * In a queue jobs stand as in line (job_class.h); with fairshare, users by their
 * dynamic priority first (place_fairshare.h). The unused slots of a pool with
 * USE_PRIORITY_IN_POOL go to jobs of all its queues, by -sp (higher first), then by the
 * queues' order.
 *
 * A line is dropped for the pass when its first job cannot start. Nothing is sorted
 * before someone asks for the first line.
 *
 * Ownership: all of it lives in the arena; the snapshot is borrowed.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_PLACE_PLACE_ORDER_H
#define SUBLET_SCHED_PLACE_PLACE_ORDER_H

#include "sched/place/place.h"
#include "sched/place/place_fairshare.h"
#include "sched/place/place_slot_pool.h"

/* A queue with lines, or all of FAIRSHARE_QUEUES. */
struct place_order_unit {
    int queue;
    int pool;                      /* -1: in none */
    bool is_last;                  /* of its pool */
    int *heap, n_heap;             /* lines, as they stand; without fairshare */
    struct place_fairshare *share; /* with it */
};

/* A line's next job as it is compared: thousands of times in a pass, so it stands
 * here instead of all over the memory of the jobs. */
struct place_order_key {
    struct job_class_entry entry;
    int queue, priority; /* the queue's */
};

struct place_order {
    const struct place_snapshot *snapshot;
    int *next_entry;              /* by line */
    struct place_order_key *keys; /* by line; not of those that are through */
    struct place_order_builder
        *builder; /* until the first line is asked for; else NULL */
    struct place_order_unit *units;
    int n_units;
    int at; /* the unit that goes on */
    struct place_order_unit *current;
    struct place_slot_pools pools;
};

void place_order_init(struct place_order *order, struct arena *arena,
                      const struct place_snapshot *snapshot);
/* The line whose next job is looked at now; -1: all are through. */
int place_order_top(struct place_order *order);
/* Slots that a job of that line may take as far as MAX_SLOTS_IN_POOL goes; where that
 * is below `n_min`, `limit` names it. One that may take fewer or more gets no more than
 * its queue's part of the pool has left (`n_max`), but `n_min` at least. */
int place_order_room(const struct place_order *order, int n_min, int *n_max,
                     const char **limit);
/* That job starts with so many slots: true where it was its line's last. */
bool place_order_advance(struct place_order *order, int n_slots);
/* Nothing more of that line starts in this pass. */
void place_order_drop(struct place_order *order);

#endif
