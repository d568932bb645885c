/* SPDX-License-Identifier: Apache-2.0 */
/* halts.c: see halts.h. */
#include "site/halts.h"

#include "model/job_id.h"
#include "site/endings.h"
#include "site/keep.h"
#include "site/parts.h"
#include "site/rules.h"
#include "site/turns.h"

void halts_add(struct site *site, struct job *job, enum halt_cause cause, uint64_t by,
               int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    bool was_to_run = halt->causes == 0;
    if ((halt->causes & (int)cause) != 0 || endings_is_waiting(job)) {
        return;
    }
    halt->causes |= (int)cause;
    if (cause == HALT_PREEMPT) {
        halt->by = by;
        halt->n_preempted++;
    }
    if (was_to_run && cause != HALT_LOAD) {
        jobs_set_overload(job, "");
    }
    if (was_to_run) {
        /* An exclusive job's hosts stay its own. */
        halt->yields = cause == HALT_PREEMPT ||
                       (site->config->preempt.is_enabled && !job->spec->is_exclusive);
        turns_order(site, job, CONTROL_SUSPEND, 0, now_ms, effects);
        return;
    }
    if (job->state == JOB_SSUSP || job->state == JOB_USUSP) {
        jobs_move(site->jobs, job, halts_state(job));
    }
    jobs_store(job, effects);
}

static void go_on(struct site *site, struct job *job, int64_t now_ms,
                  struct effects *effects)
{
    job->halt.causes = 0;
    jobs_move(site->jobs, job, job->state); /* to the limits it runs from now on */
    turns_order(site, job, CONTROL_RESUME, 0, now_ms, effects);
}

void halts_lift(struct site *site, struct job *job, enum halt_cause cause,
                int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    if ((halt->causes & (int)cause) == 0) {
        return;
    }
    halt->causes &= ~(int)cause;
    /* As long as it counts as running nobody else was given its slots. */
    bool has_slots = job->state == JOB_RUN && !halts_is_still(site, job);
    if (halt->causes == 0 && (!halt->yields || has_slots)) {
        go_on(site, job, now_ms, effects);
        return;
    }
    if (halt->causes == 0) {
        halt->causes = HALT_PREEMPT;
        halt->by = 0; /* nobody's doing: others may have its slots */
    }
    if (job->state == JOB_SSUSP || job->state == JOB_USUSP) {
        jobs_move(site->jobs, job, halts_state(job));
    }
    jobs_store(job, effects);
    pass_request_set(&site->pass_request);
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

static void end(struct site *site, struct job *job, enum halt_cause cause, uint64_t by,
                bool is_requeued, int64_t now_ms, struct effects *effects)
{
    struct job_halt *halt = &job->halt;
    const char *text = end_text(effects, job, cause, by);
    if (halt->causes == 0) {
        halt->yields = false; /* it has its slots, and may hear its end */
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
    keep_set_text(&job->reason, text);
    turns_order(site, job, CONTROL_KILL, 0, now_ms, effects);
}

void halts_impose(struct site *site, struct job *job, enum halt_cause cause,
                  uint64_t by, int64_t now_ms, struct effects *effects)
{
    struct job_rules rules;
    rules_of(site->config, job, &rules);
    bool is_requeued = job_controls_requeue(&rules.controls);
    if ((job->halt.causes & (int)cause) != 0 || endings_is_waiting(job)) {
        return;
    }
    if (is_requeued ||
        preempt_policy_terminates(&site->config->preempt, job->queue, cause)) {
        end(site, job, cause, by, is_requeued || job->spec->is_rerunnable, now_ms,
            effects);
    } else {
        halts_add(site, job, cause, by, now_ms, effects);
    }
}

void halts_resume(struct site *site, struct job *job, int64_t now_ms,
                  struct effects *effects)
{
    overloads_begin(site->overloads, job, now_ms);
    go_on(site, job, now_ms, effects);
}

bool halts_is_still(const struct site *site, const struct job *job)
{
    if (job->lease[0] != '\0') {
        return consumer_is_still(site->consumer, job->attempt);
    }
    const struct run *run =
        runs_find(site->runs, &(struct run_id){.site = site->config->name,
                                               .attempt = job->attempt});
    return run != NULL && run->is_still;
}

bool halts_is_ready(const struct site *site, const struct job *job)
{
    bool is_to_end = job->is_killed || jobs_is_requeued(job);
    return job->halt.causes == HALT_PREEMPT && job->state == JOB_SSUSP &&
           (!is_to_end || endings_is_waiting(job)) && halts_is_still(site, job);
}

enum job_state halts_state(const struct job *job)
{
    return (job->halt.causes & HALT_USER) != 0 ? JOB_USUSP : JOB_SSUSP;
}

bool halts_note(struct job *job, enum job_state state, int64_t now_ms)
{
    struct job_halt *halt = &job->halt;
    bool is_still = state != JOB_RUN;
    if (is_still == (halt->since_ms != 0)) {
        return false;
    }
    if (!is_still) {
        halt->total_ms += now_ms > halt->since_ms ? now_ms - halt->since_ms : 0;
        halt->resumed_ms = now_ms;
    }
    halt->since_ms = is_still ? now_ms : 0;
    return true;
}

int64_t halts_ran_ms(const struct job *job, int64_t now_ms)
{
    const struct job_halt *halt = &job->halt;
    int64_t until_ms = jobs_is_ended(job)    ? job->end_ms
                       : halt->since_ms != 0 ? halt->since_ms
                                             : now_ms;
    int64_t ran_ms = until_ms - job->start_ms - halt->total_ms;
    return job->start_ms != 0 && ran_ms > 0 ? ran_ms : 0;
}
