/* SPDX-License-Identifier: Apache-2.0 */
/* job_attempt.c: see job_attempt.h. */
#include "site/job/job_attempt.h"

#include <signal.h>

#include "site/job/lifecycle_parts.h"

struct run *job_attempt_run(const struct lifecycle *life, const struct job *job)
{
    return runs_find(life->parts.runs, &(struct run_id){.site = life->parts.site,
                                                        .attempt = job->attempt});
}

bool job_attempt_is_suspended(const struct lifecycle *life, const struct job *job)
{
    if (job->lease[0] != '\0') {
        return consumer_is_yielded(life->parts.consumer, job->attempt);
    }
    const struct run *run = job_attempt_run(life, job);
    return run != NULL && run->is_still;
}

bool job_attempt_is_resumable(const struct lifecycle *life, const struct job *job)
{
    bool is_to_end = job->is_killed || job_is_requeued(job);
    return job->halt.causes == HALT_PREEMPT && job->state == JOB_SSUSP &&
           (!is_to_end || job_is_kill_deferred(job)) &&
           job_attempt_is_suspended(life, job);
}

void job_attempt_control(struct lifecycle *life, struct job *job,
                         enum control_action action, int signal, int64_t now_ms,
                         struct effects *effects)
{
    bool is_yielding = job->halt.causes != 0 && job->halt.yields;
    job->end_by_ms = action == CONTROL_KILL ? 0 : job->end_by_ms;
    job->control.number++;
    job->control.action = action;
    /* A job whose slots may be in use by others is not resumed in order to end it. */
    job->control.signal = action == CONTROL_KILL && is_yielding ? SIGKILL : signal;
    job->control.yields = action == CONTROL_SUSPEND && job->halt.yields;
    job->control.reasons = action == CONTROL_SUSPEND ? job->halt.causes : 0;
    job_store(job, effects);
    if (job->lease[0] != '\0') {
        /* Until the provider has accepted the attempt, the action waits for that. */
        if (job->is_decided) {
            consumer_control(life->parts.consumer, job->attempt, &job->control, now_ms,
                             effects);
        }
        return;
    }
    struct run *run = job_attempt_run(life, job);
    if (run != NULL) {
        struct run_control control = job->control; /* the job may end in the call */
        runs_control(life->parts.runs, run, &control, now_ms, effects);
    }
}
