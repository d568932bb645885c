/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.c: see lifecycle.h. */

#include "model/dup.h"
#include "model/job_id.h"
#include "site/job/effective_rules.h"
#include "site/job/lifecycle_parts.h"

void suspend_add_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                       uint64_t by, int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    bool was_running = halt->causes == 0;
    if ((halt->causes & (int)cause) != 0 || job_is_kill_deferred(job)) {
        return;
    }
    halt->causes |= (int)cause;
    if (cause == HALT_PREEMPT) {
        halt->by = by;
        halt->n_preempted++;
    }
    if (was_running && cause != HALT_LOAD) {
        job_set_overload(job, "");
    }
    if (was_running) {
        /* Other jobs may not use the hosts of an exclusive job. */
        halt->yields =
            cause == HALT_PREEMPT ||
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
    job->halt.causes = 0;
    /* The limits count the job as running from now on. */
    job_table_set_state(life->parts.jobs, job, job->state);
    lifecycle_control(life, job, CONTROL_RESUME, 0, now_ms, effects);
}

void suspend_clear_cause(struct lifecycle *life, struct job *job, enum halt_cause cause,
                         int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    if ((halt->causes & (int)cause) == 0) {
        return;
    }
    halt->causes &= ~(int)cause;
    /* Until its suspension is confirmed, no other job was given its slots. */
    bool has_slots = job->state == JOB_RUN && !lifecycle_is_suspended(life, job);
    if (halt->causes == 0 && (!halt->yields || has_slots)) {
        resume(life, job, now_ms, effects);
        return;
    }
    if (halt->causes == 0) {
        halt->causes = HALT_PREEMPT;
        halt->by = 0; /* no job has preempted it, but others may use its slots */
    }
    if (job->state == JOB_SSUSP || job->state == JOB_USUSP) {
        job_table_set_state(life->parts.jobs, job, job_suspended_state(job));
    }
    job_store(job, effects);
    pass_request_set(life->parts.pass_request);
}

/* As LSF has them in bjobs -l. */
static const char *end_text(struct effects *effects, const struct job *job,
                            enum halt_cause cause, uint64_t by)
{
    struct arena *arena = &effects->arena;
    switch (cause) {
    case HALT_PREEMPT:
        return arena_printf(
            arena, "TERM_PREEMPT: job killed after preemption by job <%s>",
            job_id_text(arena, job_id_key_number(by), job_id_key_index(by)));
    case HALT_WINDOW:
        return "TERM_WINDOW: job killed after queue run window closed";
    case HALT_LOAD:
        return arena_printf(arena,
                            "TERM_LOAD: job killed after load exceeds threshold: %s",
                            job->overload != NULL ? job->overload : "");
    case HALT_USER:
    case HALT_CAUSES:
        break;
    }
    return "";
}

static void end(struct lifecycle *life, struct job *job, enum halt_cause cause,
                uint64_t by, bool is_requeued, int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    const char *text = end_text(effects, job, cause, by);
    if (halt->causes == 0) {
        halt->yields = false; /* it has its slots, and gets the usual signals */
    }
    halt->causes |= (int)cause;
    if (cause == HALT_PREEMPT) {
        halt->by = by;
        halt->n_preempted++;
    }
    if (is_requeued) {
        job->requeue_cause = cause == HALT_WINDOW ? REQUEUE_WINDOW
                             : cause == HALT_LOAD ? REQUEUE_LOAD
                                                  : REQUEUE_PREEMPT;
        text = arena_printf(&effects->arena, "requeued for its queue: %s", text);
    } else {
        job->is_killed = true;
    }
    dup_set_text(&job->reason, text);
    lifecycle_kill(life, job, 0, now_ms, effects);
}

void suspend_or_terminate(struct lifecycle *life, struct job *job,
                          enum halt_cause cause, uint64_t by, int64_t now_ms,
                          struct effects *effects)
{
    struct job_rules rules;
    effective_rules_of(life->parts.config, job, &rules);
    bool is_requeued = job_controls_requeue(&rules.controls);
    if ((job->halt.causes & (int)cause) != 0 || job_is_kill_deferred(job)) {
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
