/* SPDX-License-Identifier: Apache-2.0 */
/* lost_order.c: a run has carried out an order that its job's record does not have,
 * because the journal was replaced by an older copy. The numbers of orders go on above
 * it, and the record decides what the run should do. */
#include "site/lifecycle/lifecycle_parts.h"

/* Nothing in the record says why. Others may have its slots, so it is resumed when it
 * can have them, as a job that was preempted. */
static void keep_suspended(struct lifecycle *life, struct job *job, int64_t now_ms,
                           struct effects *effects)
{
    struct run *run = lifecycle_run(life, job);
    job->control.action = CONTROL_SUSPEND;
    job->control.yields = true;
    job->suspension.causes = SUSPEND_PREEMPT;
    job->suspension.by = 0;
    job->suspension.yields = true;
    if (run != NULL) {
        runs_keep_suspended(life->parts.runs, run, now_ms, effects);
    } else {
        consumer_keep_suspended(life->parts.consumer, job->attempt);
    }
    pass_request_set(life->parts.pass_request);
}

void lost_order_note(struct lifecycle *life, struct job *job, uint64_t done,
                     bool is_suspended, int64_t now_ms, struct effects *effects)
{
    if (done <= job->control.number || done >= INT64_MAX) {
        return;
    }
    struct run_control wanted = job->control;
    bool was_ordered = wanted.number != 0;
    job->control.number = done;
    if (was_ordered && wanted.action == CONTROL_KILL) {
        lifecycle_control(life, job, CONTROL_KILL, wanted.signal, now_ms, effects);
    } else if (job->suspension.causes != 0 && !is_suspended) {
        lifecycle_control(life, job, CONTROL_SUSPEND, 0, now_ms, effects);
    } else if (job->suspension.causes == 0 && is_suspended) {
        keep_suspended(life, job, now_ms, effects);
    }
    job_store(job, effects);
}
