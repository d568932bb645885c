/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.h: suspension of running jobs, its causes, and when a job is resumed.
 *
 * Several causes may hold at a time: a user has stopped the job, its slots went to
 * another job (preemption), the window of its queue or host is closed, its host is
 * overloaded. While any of them holds, the job's run is suspended; that order is stored
 * before the host hears of it.
 *
 * A job yields if its slots are released while it is suspended: once its host has
 * confirmed that all of it is suspended, other jobs may use them. A yielded job is
 * resumed only when a scheduling pass has found slots for it again (suspend_resume). A
 * job that does not yield keeps its slots, and is resumed when its last cause is gone.
 *
 * A job yields if it was preempted. If the site has preemption, a job yields whatever
 * the cause, since LSF does not count suspended jobs on a host then; an exclusive job
 * yields only to preemption.
 *
 * Units: milliseconds. Order: control actions are numbered; only the latest one counts.
 * Source: lsf.md 3.3, 3.5; ADR 0021. Layer: site. */
#ifndef SUBLET_SITE_JOB_SUSPEND_H
#define SUBLET_SITE_JOB_SUSPEND_H

#include "model/effect.h"
#include "site/job/lifecycle.h"

/* Adds a cause; the job has an attempt. `by`: the job that preempts it (HALT_PREEMPT),
 * else 0. */
void suspend_add_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                       uint64_t by, int64_t now_ms, struct effects *effects);
/* The cause is gone. If it was the last one, a yielded job waits for slots
 * (HALT_PREEMPT); any other job, and one whose suspension its host has not confirmed
 * yet, is resumed. */
void suspend_clear_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                         int64_t now_ms, struct effects *effects);
/* The system adds a cause. If TERMINATE_WHEN of the queue names that cause, the job is
 * ended: it is requeued if it is rerunnable, else it is EXIT. If JOB_CONTROLS suspends
 * by requeueing, the job is requeued in any case. Else as suspend_add_cause. */
void suspend_or_terminate(struct lifecycle *life, struct job *job,
                          enum halt_cause cause, uint64_t by, int64_t now_ms,
                          struct effects *effects);
/* The job has its slots again: its run is resumed. */
void suspend_resume(struct lifecycle *life, struct job *job, int64_t now_ms,
                    struct effects *effects);

#endif
