/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.c: see lifecycle.h. */
#include "site/config/site_config.h"
#include "site/job/submission.h"
#include "site/lifecycle/lifecycle_parts.h"

#include <signal.h>
#include <stdlib.h>

struct lifecycle *lifecycle_new(const struct lifecycle_parts *parts)
{
    struct lifecycle *life = mem_alloc(1, sizeof(*life));
    life->parts = *parts;
    return life;
}

void lifecycle_free(struct lifecycle *life)
{
    free(life);
}

void lifecycle_reload(struct lifecycle *life, const struct site_config *config,
                      struct fairshare_ledger *fairshare)
{
    life->parts.config = config;
    life->parts.fairshare = fairshare;
}

void lifecycle_reload_resources(struct lifecycle *life,
                                const struct host_resources *host_resources)
{
    life->parts.host_resources = host_resources;
}

/* ---------------------------------------------------------------- the run of an
 * attempt */

struct job_rules_stack lifecycle_rules_stack(const struct lifecycle *life,
                                             const struct job *job, struct arena *arena)
{
    const char *codes = job->terms->requeue_codes;
    struct job_rules_stack stack =
        site_config_rules_stack(life->parts.config, job->queue, job->spec->app);
    if (codes != NULL && codes[0] != '\0') {
        struct job_rules *own = arena_alloc(arena, 1, sizeof(*own));
        job_rules_init(own);
        if (job_rules_read_requeue(arena, codes, own, NULL) == 0) {
            stack.job = own;
        }
    }
    return stack;
}

double lifecycle_cpu_factor(const struct lifecycle *life, const struct job *job,
                            const struct job_rules_stack *stack)
{
    return job_rules_needs_factor(stack, job->spec, job->terms)
               ? host_resources_cpu_factor(life->parts.host_resources,
                                           job->hosts[0].host)
               : 1;
}

void lifecycle_set_run_limit(const struct lifecycle *life, struct job *job,
                             struct arena *arena)
{
    struct job_rules_stack stack = lifecycle_rules_stack(life, job, arena);
    double factor = lifecycle_cpu_factor(life, job, &stack);
    int64_t limit_ms = job_rules_run_limit(&stack, job->spec, job->terms, factor);
    job->run_limit_ms = limit_ms != job->spec->run_limit_ms ? limit_ms : 0;
}

struct run_id lifecycle_run_id(const struct lifecycle *life, const struct job *job)
{
    return (struct run_id){.site = life->parts.site,
                           .attempt = job->attempt,
                           .nonce = job->submission->row->nonce};
}

struct run *lifecycle_run(const struct lifecycle *life, const struct job *job)
{
    return runs_find(life->parts.runs, &(struct run_id){.site = life->parts.site,
                                                        .attempt = job->attempt});
}

bool lifecycle_is_suspended(const struct lifecycle *life, const struct job *job)
{
    if (job->lease[0] != '\0') {
        return consumer_is_yielded(life->parts.consumer, job->attempt);
    }
    const struct run *run = lifecycle_run(life, job);
    return run != NULL && run->is_suspended;
}

bool lifecycle_is_resumable(const struct lifecycle *life, const struct job *job)
{
    bool is_to_end = job->is_killed || job_is_requeued(job);
    return job->suspension.causes == SUSPEND_PREEMPT && job->state == JOB_SSUSP &&
           (!is_to_end || job_is_kill_deferred(job)) &&
           lifecycle_is_suspended(life, job);
}

void lifecycle_control(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, int64_t now_ms,
                       struct effects *effects)
{
    bool is_yielding = job->suspension.causes != 0 && job->suspension.yields;
    job->end_by_ms = action == CONTROL_KILL ? 0 : job->end_by_ms;
    job->control.number = run_control_next(job->control.number);
    job->control.action = action;
    /* A job whose slots may be in use by others is not resumed in order to end it. */
    job->control.signal = action == CONTROL_KILL && is_yielding ? SIGKILL : signal;
    job->control.yields = action == CONTROL_SUSPEND && job->suspension.yields;
    job->control.reasons = action == CONTROL_SUSPEND ? job->suspension.causes : 0;
    job_store(job, effects);
    if (job->lease[0] != '\0') {
        /* Until the provider has accepted the attempt, the action waits for that. */
        if (job->is_decided) {
            consumer_control(life->parts.consumer, job->attempt, &job->control, now_ms,
                             effects);
        }
        return;
    }
    struct run *run = lifecycle_run(life, job);
    if (run != NULL) {
        struct run_control control = job->control; /* the job may end in the call */
        runs_control(life->parts.runs, run, &control, now_ms, effects);
    }
}

void lifecycle_change_limits(struct lifecycle *life, struct job *job,
                             bool has_run_limit, int64_t mem_limit_kib, int64_t now_ms,
                             struct effects *effects)
{
    enum control_action action = job->control.action;
    bool repeats = job->control.number != 0 &&
                   (action == CONTROL_SUSPEND || action == CONTROL_RESUME);
    if (has_run_limit) {
        lifecycle_set_run_limit(life, job, &effects->arena);
        job->control.run_limit_ms = job_own_run_limit_ms(job);
    }
    if (mem_limit_kib != 0) {
        job->control.mem_limit_kib = mem_limit_kib;
    }
    lifecycle_control(life, job, repeats ? action : CONTROL_SIGNAL, 0, now_ms, effects);
}

/* ---------------------------------------------------------------- kills */

enum { PATIENCE_MS = 600000 }; /* if JOB_POSTPROC_TIMEOUT is not set */

static int64_t patience_ms(const struct lifecycle *life, const struct job *job)
{
    struct job_rules rules;
    site_config_rules(life->parts.config, job->queue, job->spec->app, &rules);
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
    struct job_suspension *suspension = &job->suspension;
    bool has_yielded = suspension->causes != 0 && suspension->yields &&
                       lifecycle_is_suspended(life, job);
    if (signal == SIGKILL || !has_yielded ||
        !site_config_has_post(life->parts.config, job->queue, job->spec)) {
        return false;
    }
    if (job->end_by_ms == 0) {
        job->end_by_ms = now_ms + patience_ms(life, job);
    }
    suspension->by = (suspension->causes & SUSPEND_PREEMPT) != 0 ? suspension->by : 0;
    suspension->causes = SUSPEND_PREEMPT; /* nothing but slots is missing */
    job_set_overload(job, "");
    if (job->state == JOB_USUSP) {
        job_table_set_state(life->parts.jobs, job, job_suspended_state(job));
    }
    job_store(job, effects);
    schedule_wake(life, job);
    pass_request_set(life->parts.pass_request);
    return true;
}

void lifecycle_kill(struct lifecycle *life, struct job *job, int signal, int64_t now_ms,
                    struct effects *effects)
{
    if (!defer(life, job, signal, now_ms, effects)) {
        lifecycle_control(life, job, CONTROL_KILL, signal, now_ms, effects);
    }
}

int64_t lifecycle_kill_wake_ms(const struct lifecycle *life)
{
    return life->deferred_ms;
}

void lifecycle_kill_resumed(struct lifecycle *life, struct job *job, int64_t now_ms,
                            struct effects *effects)
{
    if (job_is_kill_deferred(job) && job->suspension.causes == 0) {
        lifecycle_control(life, job, CONTROL_KILL, 0, now_ms, effects);
    }
}

void lifecycle_kill_now(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects)
{
    lifecycle_control(life, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

/* Backwards, since a job may end in the loop, which moves those behind it up. */
void lifecycle_kill_tick(struct lifecycle *life, int64_t now_ms,
                         struct effects *effects)
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
            lifecycle_kill_now(life, job, now_ms, effects);
        } else {
            schedule_wake(life, job);
        }
    }
}
