/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_order.h: the running jobs that a queue may preempt, on any host, in the order
 * in which they become victims. Queues that may preempt the same queues share an order.
 * Jobs are sorted only as far as needed, because a plan takes few of thousands.
 *
 * Ownership: the arena's. Order: preempt.h. Layer: sched. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_ORDER_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_ORDER_H

#include "sched/place/candidates.h"
#include "sched/preempt/preempt.h"

/* A job of such a queue. */
struct preempt_order_job {
    int job;  /* index */
    int host; /* where it executes */
    bool is_on_many_hosts;
    enum preempt_protection_kind protection; /* REASON_UNPROTECTED: it may be taken */
    int64_t until_ms; /* its NO_PREEMPT_INTERVAL is over; INT64_MAX: it has none */
};

struct preempt_order_rank;
struct preempt_order {
    int *preferences; /* of preference, by queue; -1: it may not be preempted */
    int n_queues;     /* that may be */
    struct preempt_order_job *jobs; /* in any order; NULL: not needed yet */
    int n_jobs;
    struct preempt_order_rank
        *heap; /* those that may be taken and are not sorted yet */
    int n_heap;
    int *sorted; /* indexes of jobs */
    int n_sorted;
    struct preempt_candidates *candidates; /* a list */
    struct preempt_order *next;
};

/* What all orders and views of a plan share. */
struct preempt_running {
    const struct place_snapshot *place;
    const struct preempt_snapshot *snapshot;
    struct arena *arena;
    struct place_state *state;       /* of the pass */
    struct preempt_order *orders;    /* a list */
    struct preempt_order **order_of; /* by queue; NULL: not looked for yet */
};

/* For classes of that queue; the jobs are filled in by preempt_order_fill. */
struct preempt_order *preempt_order_of(struct preempt_running *running, int queue);
/* The candidates are there from then on. */
void preempt_order_fill(struct preempt_running *running, struct preempt_order *order);
/* The job that is taken in that place; -1: there are no more. */
int preempt_order_at(const struct preempt_running *running, struct preempt_order *order,
                     int place);

#endif
