/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.h: jobs that have begun and stand still: why, and when they go on.
 *
 * Several causes may hold at a time: a user's stop, slots that went to another job
 * (preemption), its queue's window, load. While any holds the job's run is ordered to
 * stand still, and the order is on record before its host hears of it. A job that
 * yields gives its slots away once its host has said that all of it stands still; it
 * goes on only when the scheduler has found slots for it again (suspend_resume). One
 * that does not yield keeps its slots, and goes on when its last cause falls away.
 *
 * A job yields where it was preempted, and, where the site has preemption, whatever the
 * cause (LSF counts suspended jobs nowhere on a host then).
 *
 * Units: milliseconds. Order: orders to a run have growing numbers, the latest counts.
 * Source: lsf.md 3.3, 3.5; ADR 0021. Layer: site. */
#ifndef SUBLET_SITE_JOB_SUSPEND_H
#define SUBLET_SITE_JOB_SUSPEND_H

#include "model/effect.h"
#include "site/job/lifecycle.h"

/* Of a job with an attempt. `by`: the job that it gives way to (HALT_PREEMPT); 0. */
void suspend_add_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                       uint64_t by, int64_t now_ms, struct effects *effects);
/* The cause falls away. A job that has yielded then waits for slots (HALT_PREEMPT); one
 * that is still being stopped has them, and goes on. */
void suspend_clear_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                         int64_t now_ms, struct effects *effects);
/* The system wants it to stand still. Where its queue says TERMINATE_WHEN for that
 * cause it is ended: one that may be rerun waits again, another is EXIT. Where
 * JOB_CONTROLS suspend by requeueing it waits again in any case. Else as
 * suspend_add_cause. */
void suspend_or_terminate(struct lifecycle *life, struct job *job,
                          enum halt_cause cause, uint64_t by, int64_t now_ms,
                          struct effects *effects);
/* Its slots are there: it goes on. */
void suspend_resume(struct lifecycle *life, struct job *job, int64_t now_ms,
                    struct effects *effects);

#endif
