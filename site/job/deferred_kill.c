/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_kill.c: see deferred_kill.h. */
#include "site/job/deferred_kill.h"

#include <signal.h>

#include "site/job/effective_rules.h"
#include "site/job/job_attempt.h"
#include "site/job/lifecycle_parts.h"

enum { PATIENCE_MS = 600000 }; /* if JOB_POSTPROC_TIMEOUT is not set */

static int64_t patience_ms(const struct lifecycle *life, const struct job *job)
{
    struct job_rules rules;
    effective_rules_of(life->parts.config, job, &rules);
    int64_t post_ms = rules.soft.values[JOB_RLIMIT_POST_TIME];
    return post_ms != JOB_RLIMIT_NONE ? post_ms : PATIENCE_MS;
}

static void schedule_wake(struct lifecycle *life, const struct job *job)
{
    if (job->end_by_ms < life->deferred_ms) {
        life->deferred_ms = job->end_by_ms;
    }
}

static bool defer(struct lifecycle *life, struct job *job, int signal, int64_t now_ms,
                  struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    bool has_yielded =
        halt->causes != 0 && halt->yields && job_attempt_is_suspended(life, job);
    if (signal == SIGKILL || !has_yielded ||
        !effective_rules_has_post(life->parts.config, job)) {
        return false;
    }
    if (job->end_by_ms == 0) {
        job->end_by_ms = now_ms + patience_ms(life, job);
    }
    halt->by = (halt->causes & HALT_PREEMPT) != 0 ? halt->by : 0;
    halt->causes = HALT_PREEMPT; /* nothing but slots is missing */
    job_set_overload(job, "");
    if (job->state == JOB_USUSP) {
        job_table_set_state(life->parts.jobs, job, job_suspended_state(job));
    }
    job_store(job, effects);
    schedule_wake(life, job);
    pass_request_set(life->parts.pass_request);
    return true;
}

void deferred_kill_start(struct lifecycle *life, struct job *job, int signal,
                         int64_t now_ms, struct effects *effects)
{
    if (!defer(life, job, signal, now_ms, effects)) {
        job_attempt_control(life, job, CONTROL_KILL, signal, now_ms, effects);
    }
}

int64_t deferred_kill_wake_ms(const struct lifecycle *life)
{
    return life->deferred_ms;
}

void deferred_kill_resumed(struct lifecycle *life, struct job *job, int64_t now_ms,
                           struct effects *effects)
{
    if (job_is_kill_deferred(job) && job->halt.causes == 0) {
        job_attempt_control(life, job, CONTROL_KILL, 0, now_ms, effects);
    }
}

void deferred_kill_now(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects)
{
    job_attempt_control(life, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

/* Backwards, since a job may end in the loop, which moves those behind it up. */
void deferred_kill_tick(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    if (now_ms < life->deferred_ms) {
        return;
    }
    life->deferred_ms = INT64_MAX;
    for (int i = job_table_count_open(life->parts.jobs) - 1; i >= 0; i--) {
        struct job *job = job_table_open_at(life->parts.jobs, i);
        if (!job_is_kill_deferred(job)) {
            continue;
        }
        if (job->end_by_ms == 0) { /* since before a restart */
            job->end_by_ms = now_ms + patience_ms(life, job);
        }
        if (now_ms >= job->end_by_ms) {
            deferred_kill_now(life, job, now_ms, effects);
        } else {
            schedule_wake(life, job);
        }
    }
}
