/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.c: see lifecycle.h. */

#include "model/dup.h"
#include "model/job_id.h"
#include "site/config/site_config.h"
#include "site/lifecycle/lifecycle_parts.h"

void suspend_add_cause(struct lifecycle *life, struct job *job,
                       enum suspend_cause cause, uint64_t by, int64_t now_ms,
                       struct effects *effects)
{
    struct job_suspension *suspension = &job->suspension;
    bool was_running = suspension->causes == 0;
    if ((suspension->causes & (int)cause) != 0 || job_is_kill_deferred(job)) {
        return;
    }
    suspension->causes |= (int)cause;
    if (cause == SUSPEND_PREEMPT) {
        suspension->by = by;
        suspension->n_preempted++;
    }
    if (was_running && cause != SUSPEND_LOAD) {
        job_set_overload(job, "");
    }
    if (was_running) {
        /* Other jobs may not use the hosts of an exclusive job. */
        suspension->yields =
            cause == SUSPEND_PREEMPT ||
            (life->parts.config->preempt.is_enabled && !job->spec->is_exclusive);
        lifecycle_control(life, job, CONTROL_SUSPEND, 0, now_ms, effects);
        return;
    }
    if (job->state == JOB_SSUSP || job->state == JOB_USUSP) {
        job_table_set_state(life->parts.jobs, job, job_suspended_state(job));
    }
    job_store(job, effects);
}

static void resume(struct lifecycle *life, struct job *job, int64_t now_ms,
                   struct effects *effects)
{
    job->suspension.causes = 0;
    job->kept_since_ms = 0;
    /* The limits count the job as running from now on. */
    job_table_set_state(life->parts.jobs, job, job->state);
    lifecycle_control(life, job, CONTROL_RESUME, 0, now_ms, effects);
}

void suspend_clear_cause(struct lifecycle *life, struct job *job,
                         enum suspend_cause cause, int64_t now_ms,
                         struct effects *effects)
{
    struct job_suspension *suspension = &job->suspension;
    if ((suspension->causes & (int)cause) == 0) {
        return;
    }
    suspension->causes &= ~(int)cause;
    /* Until its suspension is confirmed, no other job was given its slots. */
    bool has_slots = job->state == JOB_RUN && !lifecycle_is_suspended(life, job);
    if (suspension->causes == 0 && (!suspension->yields || has_slots)) {
        resume(life, job, now_ms, effects);
        return;
    }
    if (suspension->causes == 0) {
        suspension->causes = SUSPEND_PREEMPT;
        suspension->by = 0; /* no job has preempted it, but others may use its slots */
    }
    if (job->state == JOB_SSUSP || job->state == JOB_USUSP) {
        job_table_set_state(life->parts.jobs, job, job_suspended_state(job));
    }
    job_store(job, effects);
    pass_request_set(life->parts.pass_request);
}

/* As LSF has them in bjobs -l. */
static const char *end_text(struct effects *effects, const struct job *job,
                            enum suspend_cause cause, uint64_t by)
{
    struct arena *arena = &effects->arena;
    switch (cause) {
    case SUSPEND_PREEMPT:
        return arena_printf(
            arena, "TERM_PREEMPT: job killed after preemption by job <%s>",
            job_id_text(arena, job_id_key_number(by), job_id_key_index(by)));
    case SUSPEND_WINDOW:
        return "TERM_WINDOW: job killed after queue run window closed";
    case SUSPEND_LOAD:
        return arena_printf(arena,
                            "TERM_LOAD: job killed after load exceeds threshold: %s",
                            job->overload != NULL ? job->overload : "");
    case SUSPEND_USER:
    case SUSPEND_CAUSES:
        break;
    }
    return "";
}

static void end(struct lifecycle *life, struct job *job, enum suspend_cause cause,
                uint64_t by, bool is_requeued, int64_t now_ms, struct effects *effects)
{
    struct job_suspension *suspension = &job->suspension;
    const char *text = end_text(effects, job, cause, by);
    if (suspension->causes == 0) {
        suspension->yields = false; /* it has its slots, and gets the usual signals */
    }
    suspension->causes |= (int)cause;
    if (cause == SUSPEND_PREEMPT) {
        suspension->by = by;
        suspension->n_preempted++;
    }
    if (is_requeued) {
        job->requeue_cause = cause == SUSPEND_WINDOW ? REQUEUE_WINDOW
                             : cause == SUSPEND_LOAD ? REQUEUE_LOAD
                                                     : REQUEUE_PREEMPT;
        text = arena_printf(&effects->arena, "requeued for its queue: %s", text);
    } else {
        job->is_killed = true;
    }
    dup_set_text(&job->reason, text);
    lifecycle_kill(life, job, 0, now_ms, effects);
}

void suspend_or_terminate(struct lifecycle *life, struct job *job,
                          enum suspend_cause cause, uint64_t by, int64_t now_ms,
                          struct effects *effects)
{
    struct job_rules rules;
    site_config_rules(life->parts.config, job->queue, job->spec->app, &rules);
    bool is_requeued = job_controls_requeue(&rules.controls);
    if ((job->suspension.causes & (int)cause) != 0 || job_is_kill_deferred(job)) {
        return;
    }
    if (is_requeued ||
        preempt_policy_terminates(&life->parts.config->preempt, job->queue, cause)) {
        end(life, job, cause, by, is_requeued || job->spec->is_rerunnable, now_ms,
            effects);
    } else {
        suspend_add_cause(life, job, cause, by, now_ms, effects);
    }
}

void suspend_resume(struct lifecycle *life, struct job *job, int64_t now_ms,
                    struct effects *effects)
{
    resume(life, job, now_ms, effects);
}
