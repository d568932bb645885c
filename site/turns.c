/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c: see turns.h. What is common to all jobs, and executions on own hosts. */
#include "site/turns.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"
#include "site/attempt.h"
#include "site/endings.h"
#include "site/halts.h"
#include "site/job_lookup.h"
#include "site/keep.h"
#include "site/lifecycle_parts.h"
#include "site/rules.h"
#include "site/run_limit.h"

/* Jobs dropped in one tick: a burst of ends an hour ago must not stop the site now. */
enum { CLEAN_MAX = 1000 };

/* ---------------------------------------------------------------- start */

void turns_expect(struct lifecycle *life, int n_starts, struct effects *effects)
{
    uint64_t last = life->last_attempt + (uint64_t)n_starts;
    if (last > life->stored_attempt) {
        life->stored_attempt = last;
        effects_store(effects,
                      &(struct row){.kind = ROW_COUNTER, .counter = {"attempt", last}});
    }
}

static uint64_t take_attempt(struct lifecycle *life, struct effects *effects)
{
    turns_expect(life, 1, effects);
    return ++life->last_attempt;
}

static const char *id_text(struct effects *effects, const struct job *job)
{
    return job_id_text(&effects->arena, job->id, job->index);
}

/* The job's, as its queue and its application have it executed. */
static const struct job_spec *spec_to_run(const struct lifecycle *life,
                                          const struct job *job, int64_t now_ms,
                                          struct effects *effects)
{
    struct job_spec *spec = arena_copy(&effects->arena, job->spec, sizeof(*spec));
    struct job_rules_stack stack =
        rules_stack(life->parts.config, job->queue, spec->app);
    job_rules_apply(&effects->arena, &stack, spec);
    spec->run_limit_ms = run_limit_ms(job, now_ms);
    return spec;
}

/* The run of its attempt on own hosts, without what it executes. */
static struct row_run taken_row(const struct lifecycle *life, const struct job *job,
                                struct effects *effects)
{
    return (struct row_run){
        .run = {.site = life->parts.site, .attempt = job->attempt},
        .job = id_text(effects, job),
        .lease = "",
        .record = RUN_RECORD_TAKEN,
        .hosts = job->hosts,
        .n_hosts = job->n_hosts,
        .end_by_ms = job->backfill.of != 0 ? job->backfill.until_ms : 0,
        .exit = {.text = ""},
    };
}

static void start_here(struct lifecycle *life, struct job *job,
                       const struct place_start *start, const char *reserved,
                       int64_t now_ms, struct effects *effects)
{
    jobs_begin(life->parts.jobs, job, take_attempt(life, effects), "", 0, start,
               reserved);
    const struct job_spec *spec = spec_to_run(life, job, now_ms, effects);
    job->is_taken = submission_says(job->submission, spec);
    jobs_store(job, effects);
    struct row_run row = taken_row(life, job, effects);
    row.spec = spec;
    runs_add(life->parts.runs, &row, job->is_taken ? job->submission : NULL, now_ms,
             effects);
}

/* "n1@north" at its provider is "n1". */
static struct host_slots *names_there(struct effects *effects, const struct job *job)
{
    struct host_slots *hosts =
        arena_alloc(&effects->arena, (size_t)job->n_hosts, sizeof(*hosts));
    for (int i = 0; i < job->n_hosts; i++) {
        const char *name = job->hosts[i].host;
        hosts[i].host = arena_strn(&effects->arena, name, strcspn(name, "@"));
        hosts[i].n_slots = job->hosts[i].n_slots;
    }
    return hosts;
}

/* The spec as it goes to the provider: with SUBLET_RECALL_GRACE in its environment if
 * the lease is of a leaf of a pool (recalls.h). */
static const struct job_spec *grace_spec(const struct lifecycle *life,
                                         const struct job *job,
                                         const struct job_spec *from,
                                         struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct msg_contract contract;
    if (!consumer_find_contract(life->parts.consumer, job->lease, &contract) ||
        contract.type != LEASE_POOL || from->n_env >= ENV_MAX) {
        return from;
    }
    struct job_spec *spec = arena_copy(arena, from, sizeof(*spec));
    const char **env = arena_alloc(arena, (size_t)spec->n_env + 1, sizeof(*env));
    for (int i = 0; i < spec->n_env; i++) {
        env[i] = spec->env[i];
    }
    env[spec->n_env++] = arena_printf(arena, "SUBLET_RECALL_GRACE=%lld",
                                      (long long)(contract.grace_ms / 1000));
    spec->env = env;
    return spec;
}

static struct consumer_attempt attempt_of(const struct lifecycle *life,
                                          const struct job *job, int64_t now_ms,
                                          struct effects *effects)
{
    return (struct consumer_attempt){
        .attempt = job->attempt,
        .job = id_text(effects, job),
        .lease = job->lease,
        .epoch = job->epoch,
        .hosts = names_there(effects, job),
        .n_hosts = job->n_hosts,
        .spec = grace_spec(life, job, spec_to_run(life, job, now_ms, effects), effects),
        .priority =
            job->queue >= 0 ? life->parts.config->queues[job->queue].priority : 0,
        .end_by_ms = job->backfill.of != 0 ? job->backfill.until_ms : 0,
        .is_taken = job->is_decided,
        .has_out_file = job->spec->out_file[0] != '\0',
        .has_err_file = job->spec->err_file[0] != '\0',
        .control = job->control,
    };
}

static uint64_t epoch_of(const struct lifecycle *life, const char *lease)
{
    for (int i = 0; i < consumer_count_hosts(life->parts.consumer); i++) {
        struct consumer_host host;
        consumer_host_at(life->parts.consumer, i, &host);
        if (strcmp(host.lease, lease) == 0) {
            return host.epoch;
        }
    }
    return 0;
}

static void start_there(struct lifecycle *life, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects)
{
    jobs_begin(life->parts.jobs, job, take_attempt(life, effects), start->lease,
               epoch_of(life, start->lease), start, reserved);
    jobs_store(job, effects);
    struct consumer_attempt attempt = attempt_of(life, job, now_ms, effects);
    consumer_start(life->parts.consumer, &attempt, now_ms, effects);
}

void turns_start(struct lifecycle *life, struct job *job,
                 const struct place_start *start, const char *reserved, int64_t now_ms,
                 struct effects *effects)
{
    accepts_note(life->parts.accepts, start->hosts, start->n_hosts, now_ms);
    if (start->lease[0] == '\0') {
        start_here(life, job, start, reserved, now_ms, effects);
    } else {
        start_there(life, job, start, reserved, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- begin */

static void note_begun(struct lifecycle *life, struct job *job, enum job_state state,
                       int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    if (state != JOB_RUN) {
        state = jobs_suspended_state(job);
        pass_request_set(life->parts.pass_request); /* its slots may be others' now */
    }
    bool is_news = jobs_note_suspension(job, state, now_ms) || job->state != state ||
                   job->start_ms == 0 || !job->is_decided;
    if (!is_news || !jobs_move(life->parts.jobs, job, state)) {
        return;
    }
    if (job->start_ms == 0) {
        job->start_ms = start_ms != 0 ? start_ms : now_ms;
        if (job->ledger != NULL) {
            pass_request_set(
                life->parts.pass_request); /* durations of what it reserves begin */
        }
    }
    if (job->is_growing) {
        pass_request_set(life->parts.pass_request); /* who runs may have more */
    }
    shares_change(life->parts.shares, job, now_ms);
    job->is_decided = true;
    jobs_store(job, effects);
}

void turns_begun(struct lifecycle *life, struct job *job, enum job_state state,
                 int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    note_begun(life, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        endings_begun(life, job, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- orders */

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

/* On record, so that it is known for how long. */
void turns_lose_sight(struct lifecycle *life, struct job *job, struct effects *effects)
{
    bool is_news = job->state != JOB_UNKWN;
    if (jobs_move(life->parts.jobs, job, JOB_UNKWN) && is_news) {
        jobs_store(job, effects);
    }
}

/* ---------------------------------------------------------------- own hosts */

void turns_run_changed(struct lifecycle *life, struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    struct job *job = jobs_find_attempt(life->parts.jobs, run->id.attempt);
    if (run->record == RUN_RECORD_ENDED) {
        if (job != NULL) {
            turns_finish(life, job, &run->exit, now_ms, effects);
        }
        /* Output that went to no file stays at the host for peek, with the job. */
        bool is_kept = job != NULL && jobs_is_ended(job) &&
                       run->exit.out_bytes + run->exit.err_bytes > 0;
        if (!is_kept) {
            runs_forget(life->parts.runs, run, effects);
        }
        return;
    }
    if (job == NULL) {
        return;
    }
    job->is_taken = false; /* whatever has become of it has a row of its own */
    if (job->resize.event != RESIZE_NONE && run->resize_done >= job->resize.number) {
        life->parts.on_resized(life->parts.arg, job, run, now_ms, effects);
    }
    if (run->is_away) {
        turns_lose_sight(life, job, effects);
    } else if (run->phase == RUN_RUNNING) {
        turns_begun(life, job, JOB_RUN, run->start_ms, now_ms, effects);
    } else if (run->phase == RUN_SUSPENDED) {
        turns_begun(life, job, JOB_SSUSP, run->start_ms, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- restart, cleaning */

void turns_load_counter(struct lifecycle *life, uint64_t last_attempt)
{
    life->last_attempt = last_attempt;
}

void turns_load_run(struct lifecycle *life, const struct row_run *row)
{
    const struct job *job = NULL;
    if (row->spec == NULL && row->lease[0] == '\0') {
        job = job_lookup_one(life->parts.jobs, row->job);
    }
    runs_load(life->parts.runs, row, job != NULL ? job->submission : NULL);
}

static void restore_runs(struct lifecycle *life, struct effects *effects)
{
    const struct run_table *table = runs_table(life->parts.runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run == NULL || !run_table_is_own(table, run)) {
            continue;
        }
        const struct job *job = job_lookup_one(life->parts.jobs, run->job);
        bool is_ours = job != NULL && job->attempt == run->id.attempt;
        if (!is_ours || jobs_is_ended(job) != (run->record == RUN_RECORD_ENDED)) {
            /* No batch leaves this behind; its host is told when it lists the run. */
            effects_log(effects, LOG_LEVEL_WARNING,
                        "attempt %llu belongs to no job: forgotten",
                        (unsigned long long)run->id.attempt);
            runs_forget(life->parts.runs, run, effects);
        }
    }
}

static void restore_job(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects)
{
    if (job->lease[0] != '\0') {
        struct consumer_attempt attempt = attempt_of(life, job, now_ms, effects);
        consumer_resume(life->parts.consumer, &attempt, now_ms);
        return;
    }
    struct run *run = attempt_run(life, job);
    if (run == NULL && job->is_taken) {
        struct row_run row = taken_row(life, job, effects);
        runs_load(life->parts.runs, &row, job->submission);
        run = attempt_run(life, job);
    }
    if (run != NULL) {
        job->control.reasons = job->halt.causes;
        run->control.yields = job->control.yields; /* not in its row */
        run->control.reasons = job->control.reasons;
        life->parts.on_restored(life->parts.arg, job, run);
    } else {
        struct run_exit exit = {.end = RUN_END_LOST,
                                .start_ms = job->start_ms,
                                .text = "it is not on record"};
        turns_finish(life, job, &exit, now_ms, effects);
    }
}

void turns_restore(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    restore_runs(life, effects);
    /* By id: what is open changes on the way. */
    for (int i = 0; i < jobs_count(life->parts.jobs); i++) {
        struct job *job = jobs_at(life->parts.jobs, i);
        if (job->is_open) {
            restore_job(life, job, now_ms, effects);
        }
    }
    runs_host_away(life->parts.runs, -1, now_ms, effects); /* hosts that are gone */
}

struct clean_call {
    struct lifecycle *life;
    struct effects *effects;
};

static void clean_job(void *arg, struct job *job)
{
    const struct clean_call *call = arg;
    struct run *run = job->attempt != 0 ? attempt_run(call->life, job) : NULL;
    if (run != NULL) {
        runs_forget(call->life->parts.runs, run, call->effects);
    }
}

void turns_clean(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    struct clean_call call = {.life = life, .effects = effects};
    jobs_clean(life->parts.jobs, now_ms - life->parts.config->clean_period_ms,
               CLEAN_MAX, clean_job, &call, effects);
}
