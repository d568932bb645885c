/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_view.h: the running jobs that lines of one queue, one -m and one requirement
 * may preempt, with one alternative of what they reserve, in the order in which they
 * are taken, and where.
 *
 * Ownership: the arena's. Order: preempt.h. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PREEMPT_VIEW_H
#define SUBLET_SCHED_PREEMPT_VIEW_H

#include "sched/preempt.h"

struct preempt_view {
    int queue;
    const struct asked *asked;
    const struct place_filter *filter;
    const struct reserve_asks *asks; /* NULL: it reserves nothing */
    const int64_t *wants; /* by pool: preempt_give.h; NULL: it reserves nothing */
    uint8_t *allowed;     /* by host: open, and the job may run there */
    int *victims;         /* indexes of jobs, in order */
    int *levels;          /* by queue: of preference; -1: it may not be preempted */
    int n_victims;
    int first;   /* those before it are taken */
    bool may_do; /* for the line that is looked at: nothing is lacking that none of them
                    gives */
    struct reason_preempt why;
    int64_t next_ms; /* a NO_PREEMPT_INTERVAL is over; INT64_MAX: none */
    struct preempt_view *next;
};

/* What all views of a plan share. */
struct preempt_world {
    const struct preempt_snapshot *snapshot;
    const struct preempt_job *jobs;
    int n_jobs;
    struct arena *arena;
    int *group_of; /* by host: 0 own, then one for each lease */
    int n_groups;
    struct preempt_view *views;
};

void preempt_view_init(struct preempt_world *world, struct arena *arena,
                       const struct preempt_snapshot *snapshot);
/* With one of the line's alternatives (NULL: it has none). */
struct preempt_view *preempt_view_of(struct preempt_world *world,
                                     const struct place_line *line,
                                     const struct reserve_asks *asks);
/* Slots that the job would give on hosts of the view; an exclusive one gives hosts, as
 * many as they have at most, or none. */
int preempt_view_gain(const struct preempt_world *world,
                      const struct preempt_view *view, const struct preempt_job *job);

#endif
