/* SPDX-License-Identifier: Apache-2.0 */
/* turns_control.c: kill, stop, resume, signal and requeue of a job: see turns.h. */
#include "site/turns.h"

#include <signal.h>

#include "site/attempt.h"
#include "site/endings.h"
#include "site/halts.h"
#include "site/keep.h"
#include "site/lifecycle_parts.h"

static void control_waiting(struct lifecycle *life, struct job *job,
                            enum control_action action, int64_t now_ms,
                            struct effects *effects)
{
    switch (action) {
    case CONTROL_KILL:
        turns_end_unbegun(life, job, now_ms, effects);
        break;
    case CONTROL_RESUME:
        job->n_requeues = 0; /* whoever lets it go on lets it try again */
        job->n_pre_fails = 0;
        jobs_set_avoided(job, "");
    /* fall through */
    case CONTROL_SUSPEND:
        keep_set_text(&job->reason, "");
        if (jobs_move(life->parts.jobs, job,
                      action == CONTROL_SUSPEND ? JOB_PSUSP : JOB_PEND)) {
            jobs_store(job, effects);
            pass_request_set(life->parts.pass_request);
        }
        break;
    case CONTROL_SIGNAL:
        break; /* there is nobody to take it */
    }
}

void turns_recall(struct lifecycle *life, struct job *job, int64_t now_ms,
                  struct effects *effects)
{
    job->requeue_cause = REQUEUE_RECALL;
    keep_set_text(&job->reason, turns_recalled);
    attempt_order(life, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

void turns_requeue(struct lifecycle *life, struct job *job, const char *who,
                   int64_t now_ms, struct effects *effects)
{
    job->requeue_cause = REQUEUE_USER;
    keep_set_text(&job->reason, arena_printf(&effects->arena, "requeued by %s", who));
    endings_order(life, job, 0, now_ms, effects);
}

void turns_control(struct lifecycle *life, struct job *job, enum control_action action,
                   int signal, const char *who, int64_t now_ms, struct effects *effects)
{
    if (action == CONTROL_KILL) {
        job->is_killed = true;
        keep_set_text(&job->reason,
                      arena_printf(&effects->arena, "killed by %s%s", who,
                                   job->attempt == 0 ? " before it began" : ""));
    }
    if (job->attempt == 0) {
        control_waiting(life, job, action, now_ms, effects);
    } else if (action == CONTROL_SUSPEND) {
        halts_add(life, job, HALT_USER, 0, now_ms, effects);
    } else if (action == CONTROL_RESUME) {
        halts_lift(life, job, HALT_USER, now_ms, effects);
    } else if (action == CONTROL_KILL) {
        endings_order(life, job, signal, now_ms, effects);
    } else if (job->halt.causes == 0) {
        /* Nobody signals what is to stand still: it would go on for that, on slots that
         * others may have; and the order to stand still is given once. */
        attempt_order(life, job, action, signal, now_ms, effects);
    }
}
