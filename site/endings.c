/* SPDX-License-Identifier: Apache-2.0 */
/* endings.c: see endings.h. */
#include "site/endings.h"

#include <signal.h>

#include "site/halts.h"
#include "site/parts.h"
#include "site/rules.h"
#include "site/turns.h"

enum { PATIENCE_MS = 600000 }; /* where JOB_POSTPROC_TIMEOUT says nothing */

static int64_t patience_ms(const struct site *site, const struct job *job)
{
    struct job_rules rules;
    rules_of(site->config, job, &rules);
    int64_t post_ms = rules.soft.values[JOB_RLIMIT_POST_TIME];
    return post_ms != JOB_RLIMIT_NONE ? post_ms : PATIENCE_MS;
}

bool endings_is_waiting(const struct job *job)
{
    return job->attempt != 0 && (job->is_killed || jobs_is_requeued(job)) &&
           job->control.number != 0 && job->control.action != CONTROL_KILL;
}

static void expect(struct site *site, const struct job *job)
{
    if (job->end_by_ms < site->ending_ms) {
        site->ending_ms = job->end_by_ms;
    }
}

bool endings_put_off(struct site *site, struct job *job, int signal, int64_t now_ms,
                     struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    bool has_given = halt->causes != 0 && halt->yields && halts_is_still(site, job);
    if (signal == SIGKILL || !has_given || !rules_has_post(site->config, job)) {
        return false;
    }
    if (job->end_by_ms == 0) {
        job->end_by_ms = now_ms + patience_ms(site, job);
    }
    halt->by = (halt->causes & HALT_PREEMPT) != 0 ? halt->by : 0;
    halt->causes = HALT_PREEMPT; /* nothing but slots is missing */
    jobs_set_overload(job, "");
    if (job->state == JOB_USUSP) {
        jobs_move(site->jobs, job, halts_state(job));
    }
    jobs_store(job, effects);
    expect(site, job);
    pass_request_set(&site->pass_request);
    return true;
}

void endings_begun(struct site *site, struct job *job, int64_t now_ms,
                   struct effects *effects)
{
    if (endings_is_waiting(job) && job->halt.causes == 0) {
        turns_order(site, job, CONTROL_KILL, 0, now_ms, effects);
    }
}

void endings_force(struct site *site, struct job *job, int64_t now_ms,
                   struct effects *effects)
{
    turns_order(site, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

/* From the last: a job may end where it is told to, and those behind it move up. */
void endings_tick(struct site *site, int64_t now_ms, struct effects *effects)
{
    if (now_ms < site->ending_ms) {
        return;
    }
    site->ending_ms = INT64_MAX;
    for (int i = jobs_count_open(site->jobs) - 1; i >= 0; i--) {
        struct job *job = jobs_open_at(site->jobs, i);
        if (!endings_is_waiting(job)) {
            continue;
        }
        if (job->end_by_ms == 0) { /* since before a restart */
            job->end_by_ms = now_ms + patience_ms(site, job);
        }
        if (now_ms >= job->end_by_ms) {
            endings_force(site, job, now_ms, effects);
        } else {
            expect(site, job);
        }
    }
}
