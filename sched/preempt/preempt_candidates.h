/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_candidates.h: of the running jobs that a line's queue may preempt
 * (preempt_order.h) those that are on hosts where its jobs may run, or hold what they
 * reserve: in the same order. Lines that may preempt the same jobs, see the same hosts
 * and reserve the same, with one alternative of that, share a view.
 *
 * Ownership: the arena's. Order: preempt.h. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_CANDIDATES_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_CANDIDATES_H

#include "sched/place/candidates.h"
#include "sched/preempt/preempt_order.h"

struct preempt_candidates {
    struct preempt_order *order;
    const uint8_t *allowed;              /* by host: open, and the job may run there */
    const struct rusage_request *rusage; /* NULL: it reserves nothing */
    const struct place_span *span;       /* NULL: slots may lie anywhere */
    const int64_t *demand; /* by pool: preempt_resources.h; NULL: likewise */
    int n_victims;         /* in all */
    int n_groups;          /* that have one */
    int *victims;          /* indexes of jobs, as far as they were asked for */
    int n_known, n_seen;   /* of these, and of the order's places */
    int first;             /* those before it are taken */
    bool may_suffice; /* for the line that is looked at: nothing is lacking that none of
                    them gives */
    struct pending_reason_preempt why;
    int64_t next_ms; /* a NO_PREEMPT_INTERVAL is over; INT64_MAX: none */
    struct preempt_candidates *next;
};

/* The candidates of a class whose queue may preempt others, with one alternative of its
 * rusage. */
struct preempt_candidates *preempt_candidates_of(struct preempt_running *running,
                                                 const struct place_class *class,
                                                 int alternative);
/* The job that is taken in that place, below n_victims. */
int preempt_candidates_at(const struct preempt_running *running,
                          struct preempt_candidates *view, int place);
/* Slots that the job would give on hosts of the view; an exclusive one gives hosts, as
 * many as they have at most, or none. */
int preempt_candidates_gain(const struct preempt_running *running,
                            const struct preempt_candidates *view,
                            const struct preempt_job *job);

#endif
