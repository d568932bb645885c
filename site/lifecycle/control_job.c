/* SPDX-License-Identifier: Apache-2.0 */
/* control_job.c: see lifecycle.h. */

#include <signal.h>

#include "model/dup.h"
#include "site/lifecycle/lifecycle_parts.h"

static void control_pending(struct lifecycle *life, struct job *job,
                            enum control_action action, int64_t now_ms,
                            struct effects *effects)
{
    switch (action) {
    case CONTROL_KILL:
        job_end_unstarted(life, job, now_ms, effects);
        break;
    case CONTROL_RESUME:
        job->n_requeues = 0; /* the counts of failures begin anew */
        job->n_pre_fails = 0;
        job_set_avoided(job, "");
    /* fall through */
    case CONTROL_SUSPEND:
        dup_set_text(&job->reason, "");
        if (job_table_set_state(life->parts.jobs, job,
                                action == CONTROL_SUSPEND ? JOB_PSUSP : JOB_PEND)) {
            job_store(job, effects);
            pass_request_set(life->parts.pass_request);
        }
        break;
    case CONTROL_SIGNAL:
        break; /* there is no process to signal */
    }
}

void control_job_recall(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects)
{
    job->requeue_cause = REQUEUE_RECALL;
    dup_set_text(&job->reason, job_end_recalled);
    lifecycle_control(life, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

/* Output of a run that has ended is not waited for without end. */
static void kill_by_user(struct lifecycle *life, struct job *job, int signal,
                         int64_t now_ms, struct effects *effects)
{
    consumer_cut_output(life->parts.consumer, job->attempt, now_ms);
    lifecycle_kill(life, job, signal, now_ms, effects);
}

void control_job_requeue(struct lifecycle *life, struct job *job, const char *who,
                         int64_t now_ms, struct effects *effects)
{
    job->requeue_cause = REQUEUE_USER;
    dup_set_text(&job->reason, arena_printf(&effects->arena, "requeued by %s", who));
    kill_by_user(life, job, 0, now_ms, effects);
}

void control_job_apply(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, const char *who,
                       int64_t now_ms, struct effects *effects)
{
    if (action == CONTROL_KILL) {
        job->is_killed = true;
        dup_set_text(&job->reason,
                     arena_printf(&effects->arena, "killed by %s%s", who,
                                  job->attempt == 0 ? " before it began" : ""));
    }
    if (job->attempt == 0) {
        control_pending(life, job, action, now_ms, effects);
    } else if (action == CONTROL_SUSPEND) {
        suspend_add_cause(life, job, SUSPEND_USER, 0, now_ms, effects);
    } else if (action == CONTROL_RESUME) {
        suspend_clear_cause(life, job, SUSPEND_USER, now_ms, effects);
    } else if (action == CONTROL_KILL) {
        kill_by_user(life, job, signal, now_ms, effects);
    } else if (job->suspension.causes == 0) {
        /* A suspended job gets no signal: it would have to be resumed for that, on
         * slots that other jobs may use, and the order to suspend it is given only
         * once. */
        lifecycle_control(life, job, action, signal, now_ms, effects);
    }
}
