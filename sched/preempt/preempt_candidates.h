/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_candidates.h: the running jobs that a class of pending jobs may preempt, in
 * the order of preempt_order.h. They are on hosts where jobs of the class may run, or
 * hold resources that these reserve. Classes that may preempt the same queues, may use
 * the same hosts and reserve the same share their candidates.
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
    int alternative;                     /* of the class; of parts 0 */
    bool has_parts;        /* they are those of all parts of a compound requirement */
    const int64_t *demand; /* by pool: preempt_resources.h; NULL: likewise */
    int n_victims;         /* in all */
    int n_groups;          /* that have one */
    int *victims;          /* indexes of jobs, as far as they were asked for */
    int n_listed, n_seen;  /* of these, and of the order's places */
    int first;             /* those before it are taken */
    bool may_suffice; /* for the current class: no resource is lacking that none of them
                         can release */
    struct pending_reason_preempt reason;
    int64_t next_ms; /* a NO_PREEMPT_INTERVAL is over; INT64_MAX: none */
    struct preempt_candidates *next;
};

/* The candidates of a class whose queue may preempt others, with one alternative of its
 * rusage. */
struct preempt_candidates *preempt_candidates_of(struct preempt_running *running,
                                                 const struct place_class *class,
                                                 int alternative);
/* The candidates of a class with a compound requirement: on hosts of any part. */
struct preempt_candidates *preempt_candidates_of_parts(struct preempt_running *running,
                                                       const struct place_class *class);
/* The job at that place of the order, which is below n_victims. */
int preempt_candidates_at(const struct preempt_running *running,
                          struct preempt_candidates *view, int place);
/* Slots that the job would free on these hosts. An exclusive job frees all slots of its
 * hosts, or none. */
int preempt_candidates_gain(const struct preempt_running *running,
                            const struct preempt_candidates *view,
                            const struct preempt_job *job);

#endif
