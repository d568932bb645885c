/* SPDX-License-Identifier: Apache-2.0 */
/* place_slot_pool.h: the slot pools of a pass: how many slots each queue of a pool may
 * have (fairshare.h), in the course of a pass.
 *
 * The slots of a pool are those of its hosts, whichever jobs use them, except slots
 * that a plan assigns to other queues and slots that limits of hosts let no job of the
 * pool use (limit_capacity). A closed host counts with the slots in use. The
 * demand of a queue is the slots that its jobs use, and those of its pending jobs until
 * one of them fits nowhere; then its part goes to the other queues. A part is a soft
 * limit: a queue that is below it may start a job that exceeds it.
 *
 * Units: slots. Ownership: the arena's; the snapshot is borrowed. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_SLOT_POOL_H
#define SUBLET_SCHED_PLACE_PLACE_SLOT_POOL_H

#include "sched/place/place.h"

struct place_slot_pool {
    const struct slot_pool *pool;
    struct slot_part *parts; /* in order */
    int *queues;             /* of the parts */
    int n_parts;
    int n_slots;    /* that there are to hand out */
    int64_t n_used; /* by all its queues */
    bool is_stale;  /* what a queue has a use for has changed since the allocation */
    bool is_second_round; /* USE_PRIORITY_IN_POOL: the first round is over */
};

struct place_slot_pools {
    struct place_slot_pool *pools;
    int n_pools;
    int64_t *used;    /* by queue, in the course of the pass */
    int64_t *demand;  /* by queue: slots it has a use for */
    int *position_of; /* by queue: its place in the pool's order; -1: in no pool */
};

/* Queues that `is_out` says share users' order with others are in no pool here. */
void place_slot_pool_init(struct place_slot_pools *pools, struct arena *arena,
                          const struct place_snapshot *snapshot, const bool *is_out);

/* Slots that a class can use after so many of its jobs have started. */
int64_t place_slot_pool_demand(const struct place_class *class, int n_started);
/* Slots that are left of the queue's part. A job of the queue may start if there are
 * any. */
int place_slot_pool_left_of_part(const struct place_slot_pools *pools, int pool,
                                 int queue);
/* Slots of the pool that are left below MAX_SLOTS_IN_POOL. */
int place_slot_pool_left_of_max(const struct place_slot_pools *pools, int pool);
/* A job has started; so many slots of waiting jobs have no place to go. */
void place_slot_pool_add_used(struct place_slot_pools *pools, int pool, int queue,
                              int n_slots);
void place_slot_pool_release(struct place_slot_pools *pools, int pool, int queue,
                             int64_t n_slots);
/* Distributes the slots again if something has changed. True if it did. */
bool place_slot_pool_reallocate(struct place_slot_pools *pools, int pool);

#endif
