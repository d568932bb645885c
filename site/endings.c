/* SPDX-License-Identifier: Apache-2.0 */
/* endings.c: see endings.h. */
#include "site/endings.h"

#include <signal.h>

#include "site/attempt.h"
#include "site/lifecycle_parts.h"
#include "site/rules.h"

enum { PATIENCE_MS = 600000 }; /* where JOB_POSTPROC_TIMEOUT says nothing */

static int64_t patience_ms(const struct lifecycle *life, const struct job *job)
{
    struct job_rules rules;
    rules_of(life->parts.config, job, &rules);
    int64_t post_ms = rules.soft.values[JOB_RLIMIT_POST_TIME];
    return post_ms != JOB_RLIMIT_NONE ? post_ms : PATIENCE_MS;
}

static void expect(struct lifecycle *life, const struct job *job)
{
    if (job->end_by_ms < life->deferred_ms) {
        life->deferred_ms = job->end_by_ms;
    }
}

static bool put_off(struct lifecycle *life, struct job *job, int signal, int64_t now_ms,
                    struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    bool has_given = halt->causes != 0 && halt->yields && attempt_is_still(life, job);
    if (signal == SIGKILL || !has_given || !rules_has_post(life->parts.config, job)) {
        return false;
    }
    if (job->end_by_ms == 0) {
        job->end_by_ms = now_ms + patience_ms(life, job);
    }
    halt->by = (halt->causes & HALT_PREEMPT) != 0 ? halt->by : 0;
    halt->causes = HALT_PREEMPT; /* nothing but slots is missing */
    jobs_set_overload(job, "");
    if (job->state == JOB_USUSP) {
        jobs_move(life->parts.jobs, job, jobs_suspended_state(job));
    }
    jobs_store(job, effects);
    expect(life, job);
    pass_request_set(life->parts.pass_request);
    return true;
}

void endings_order(struct lifecycle *life, struct job *job, int signal, int64_t now_ms,
                   struct effects *effects)
{
    if (!put_off(life, job, signal, now_ms, effects)) {
        attempt_order(life, job, CONTROL_KILL, signal, now_ms, effects);
    }
}

int64_t endings_wake_ms(const struct lifecycle *life)
{
    return life->deferred_ms;
}

void endings_begun(struct lifecycle *life, struct job *job, int64_t now_ms,
                   struct effects *effects)
{
    if (jobs_is_end_deferred(job) && job->halt.causes == 0) {
        attempt_order(life, job, CONTROL_KILL, 0, now_ms, effects);
    }
}

void endings_force(struct lifecycle *life, struct job *job, int64_t now_ms,
                   struct effects *effects)
{
    attempt_order(life, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

/* From the last: a job may end where it is told to, and those behind it move up. */
void endings_tick(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    if (now_ms < life->deferred_ms) {
        return;
    }
    life->deferred_ms = INT64_MAX;
    for (int i = jobs_count_open(life->parts.jobs) - 1; i >= 0; i--) {
        struct job *job = jobs_open_at(life->parts.jobs, i);
        if (!jobs_is_end_deferred(job)) {
            continue;
        }
        if (job->end_by_ms == 0) { /* since before a restart */
            job->end_by_ms = now_ms + patience_ms(life, job);
        }
        if (now_ms >= job->end_by_ms) {
            endings_force(life, job, now_ms, effects);
        } else {
            expect(life, job);
        }
    }
}
