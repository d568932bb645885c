/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c: see turns.h. What is common to all jobs, and executions on own hosts. */
#include "site/turns.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"
#include "site/endings.h"
#include "site/halts.h"
#include "site/job_lookup.h"
#include "site/keep.h"
#include "site/parts.h"
#include "site/recalls.h"
#include "site/resizes.h"
#include "site/rules.h"
#include "site/run_limit.h"
#include "site/slot_reserves.h"
#include "site/wait.h"

/* Jobs dropped in one tick: a burst of ends an hour ago must not stop the site now. */
enum { CLEAN_MAX = 1000 };

static struct run *run_of(const struct site *site, const struct job *job)
{
    return runs_find(site->runs, &(struct run_id){.site = site->config->name,
                                                  .attempt = job->attempt});
}

/* ---------------------------------------------------------------- start */

void turns_expect(struct site *site, int n_starts, struct effects *effects)
{
    uint64_t last = site->last_attempt + (uint64_t)n_starts;
    if (last > site->stored_attempt) {
        site->stored_attempt = last;
        effects_store(effects,
                      &(struct row){.kind = ROW_COUNTER, .counter = {"attempt", last}});
    }
}

static uint64_t take_attempt(struct site *site, struct effects *effects)
{
    turns_expect(site, 1, effects);
    return ++site->last_attempt;
}

static const char *id_text(struct effects *effects, const struct job *job)
{
    return job_id_text(&effects->arena, job->id, job->index);
}

/* The job's, as its queue and its application have it executed. */
static const struct job_spec *
spec_to_run(const struct site *site, const struct job *job, struct effects *effects)
{
    struct job_spec *spec = arena_copy(&effects->arena, job->spec, sizeof(*spec));
    struct job_rules_stack stack = rules_stack(site->config, job->queue, spec->app);
    job_rules_apply(&effects->arena, &stack, spec);
    spec->run_limit_ms = run_limit_ms(job, site->now_ms);
    return spec;
}

/* The run of its attempt on own hosts, without what it executes. */
static struct row_run taken_row(const struct site *site, const struct job *job,
                                struct effects *effects)
{
    return (struct row_run){
        .run = {.site = site->config->name, .attempt = job->attempt},
        .job = id_text(effects, job),
        .lease = "",
        .record = RUN_RECORD_TAKEN,
        .hosts = job->hosts,
        .n_hosts = job->n_hosts,
        .end_by_ms = job->backfill.of != 0 ? job->backfill.until_ms : 0,
        .exit = {.text = ""},
    };
}

static void start_here(struct site *site, struct job *job,
                       const struct place_start *start, const char *reserved,
                       int64_t now_ms, struct effects *effects)
{
    jobs_begin(site->jobs, job, take_attempt(site, effects), "", 0, start, reserved);
    const struct job_spec *spec = spec_to_run(site, job, effects);
    job->is_taken = submission_says(job->submission, spec);
    jobs_store(job, effects);
    struct row_run row = taken_row(site, job, effects);
    row.spec = spec;
    runs_add(site->runs, &row, job->is_taken ? job->submission : NULL, now_ms, effects);
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

static struct consumer_attempt
attempt_of(const struct site *site, const struct job *job, struct effects *effects)
{
    return (struct consumer_attempt){
        .attempt = job->attempt,
        .job = id_text(effects, job),
        .lease = job->lease,
        .epoch = job->epoch,
        .hosts = names_there(effects, job),
        .n_hosts = job->n_hosts,
        .spec = recalls_spec(site, job, spec_to_run(site, job, effects), effects),
        .priority = job->queue >= 0 ? site->config->queues[job->queue].priority : 0,
        .end_by_ms = job->backfill.of != 0 ? job->backfill.until_ms : 0,
        .is_taken = job->is_decided,
        .has_out_file = job->spec->out_file[0] != '\0',
        .has_err_file = job->spec->err_file[0] != '\0',
        .control = job->control,
    };
}

static uint64_t epoch_of(const struct site *site, const char *lease)
{
    for (int i = 0; i < consumer_count_hosts(site->consumer); i++) {
        struct consumer_host host;
        consumer_host_at(site->consumer, i, &host);
        if (strcmp(host.lease, lease) == 0) {
            return host.epoch;
        }
    }
    return 0;
}

static void start_there(struct site *site, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects)
{
    jobs_begin(site->jobs, job, take_attempt(site, effects), start->lease,
               epoch_of(site, start->lease), start, reserved);
    jobs_store(job, effects);
    struct consumer_attempt attempt = attempt_of(site, job, effects);
    consumer_start(site->consumer, &attempt, now_ms, effects);
}

void turns_start(struct site *site, struct job *job, const struct place_start *start,
                 const char *reserved, int64_t now_ms, struct effects *effects)
{
    accepts_note(site->accepts, start->hosts, start->n_hosts, now_ms);
    if (start->lease[0] == '\0') {
        start_here(site, job, start, reserved, now_ms, effects);
    } else {
        start_there(site, job, start, reserved, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- begin */

static void note_begun(struct site *site, struct job *job, enum job_state state,
                       int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    if (state != JOB_RUN) {
        state = halts_state(job);
        pass_request_set(&site->pass_request); /* its slots may be others' now */
    }
    bool is_news = halts_note(job, state, now_ms) || job->state != state ||
                   job->start_ms == 0 || !job->is_decided;
    if (!is_news || !jobs_move(site->jobs, job, state)) {
        return;
    }
    if (job->start_ms == 0) {
        job->start_ms = start_ms != 0 ? start_ms : now_ms;
        if (job->ledger != NULL) {
            pass_request_set(
                &site->pass_request); /* durations of what it reserves begin */
        }
    }
    if (job->is_growing) {
        pass_request_set(&site->pass_request); /* who runs may have more */
    }
    shares_change(site->shares, job, now_ms);
    job->is_decided = true;
    jobs_store(job, effects);
}

void turns_begun(struct site *site, struct job *job, enum job_state state,
                 int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    note_begun(site, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        endings_begun(site, job, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- orders */

static void control_waiting(struct site *site, struct job *job,
                            enum control_action action, int64_t now_ms,
                            struct effects *effects)
{
    switch (action) {
    case CONTROL_KILL:
        turns_end_unbegun(site, job, now_ms, effects);
        break;
    case CONTROL_RESUME:
        job->n_requeues = 0; /* whoever lets it go on lets it try again */
        job->n_pre_fails = 0;
        jobs_set_avoided(job, "");
    /* fall through */
    case CONTROL_SUSPEND:
        keep_set_text(&job->reason, "");
        if (jobs_move(site->jobs, job,
                      action == CONTROL_SUSPEND ? JOB_PSUSP : JOB_PEND)) {
            jobs_store(job, effects);
            pass_request_set(&site->pass_request);
        }
        break;
    case CONTROL_SIGNAL:
        break; /* there is nobody to take it */
    }
}

void turns_order(struct site *site, struct job *job, enum control_action action,
                 int signal, int64_t now_ms, struct effects *effects)
{
    if (action == CONTROL_KILL && endings_put_off(site, job, signal, now_ms, effects)) {
        return;
    }
    bool is_yielding = job->halt.causes != 0 && job->halt.yields;
    job->end_by_ms = action == CONTROL_KILL ? 0 : job->end_by_ms;
    job->control.number++;
    job->control.action = action;
    /* Whose slots may be others' is not woken to end. */
    job->control.signal = action == CONTROL_KILL && is_yielding ? SIGKILL : signal;
    job->control.yields = action == CONTROL_SUSPEND && job->halt.yields;
    job->control.reasons = action == CONTROL_SUSPEND ? job->halt.causes : 0;
    jobs_store(job, effects);
    if (job->lease[0] != '\0') {
        /* Where nothing is decided yet, the order goes out with the decision. */
        if (job->is_decided) {
            consumer_control(site->consumer, job->attempt, &job->control, now_ms,
                             effects);
        }
        return;
    }
    struct run *run = run_of(site, job);
    if (run != NULL) {
        struct run_control control = job->control; /* the job may end in the call */
        runs_control(site->runs, run, &control, now_ms, effects);
    }
}

void turns_recall(struct site *site, struct job *job, int64_t now_ms,
                  struct effects *effects)
{
    job->requeue_cause = REQUEUE_RECALL;
    keep_set_text(&job->reason, turns_recalled);
    turns_order(site, job, CONTROL_KILL, SIGKILL, now_ms, effects);
}

void turns_requeue(struct site *site, struct job *job, const char *who, int64_t now_ms,
                   struct effects *effects)
{
    job->requeue_cause = REQUEUE_USER;
    keep_set_text(&job->reason, arena_printf(&effects->arena, "requeued by %s", who));
    turns_order(site, job, CONTROL_KILL, 0, now_ms, effects);
}

void turns_control(struct site *site, struct job *job, enum control_action action,
                   int signal, const char *who, int64_t now_ms, struct effects *effects)
{
    if (action == CONTROL_KILL) {
        job->is_killed = true;
        keep_set_text(&job->reason,
                      arena_printf(&effects->arena, "killed by %s%s", who,
                                   job->attempt == 0 ? " before it began" : ""));
    }
    if (job->attempt == 0) {
        control_waiting(site, job, action, now_ms, effects);
    } else if (action == CONTROL_SUSPEND) {
        halts_add(site, job, HALT_USER, 0, now_ms, effects);
    } else if (action == CONTROL_RESUME) {
        halts_lift(site, job, HALT_USER, now_ms, effects);
    } else if (action == CONTROL_KILL || job->halt.causes == 0) {
        /* Nobody signals what is to stand still: it would go on for that, on slots that
         * others may have; and the order to stand still is given once. */
        turns_order(site, job, action, signal, now_ms, effects);
    }
}

/* On record, so that it is known for how long. */
void turns_lose_sight(struct site *site, struct job *job, struct effects *effects)
{
    bool is_news = job->state != JOB_UNKWN;
    if (jobs_move(site->jobs, job, JOB_UNKWN) && is_news) {
        jobs_store(job, effects);
    }
}

/* ---------------------------------------------------------------- own hosts */

void turns_run_changed(struct site *site, struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    struct job *job = jobs_find_attempt(site->jobs, run->id.attempt);
    if (run->record == RUN_RECORD_ENDED) {
        if (job != NULL) {
            turns_finish(site, job, &run->exit, now_ms, effects);
        }
        /* Output that went to no file stays at the host for peek, with the job. */
        bool is_kept = job != NULL && jobs_is_ended(job) &&
                       run->exit.out_bytes + run->exit.err_bytes > 0;
        if (!is_kept) {
            runs_forget(site->runs, run, effects);
        }
        return;
    }
    if (job == NULL) {
        return;
    }
    job->is_taken = false; /* whatever has become of it has a row of its own */
    if (job->resize.event != RESIZE_NONE && run->resize_done >= job->resize.number) {
        resizes_answered(site, job, run, now_ms, effects);
    }
    if (run->is_away) {
        turns_lose_sight(site, job, effects);
    } else if (run->phase == RUN_RUNNING) {
        turns_begun(site, job, JOB_RUN, run->start_ms, now_ms, effects);
    } else if (run->phase == RUN_SUSPENDED) {
        turns_begun(site, job, JOB_SSUSP, run->start_ms, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- restart, cleaning */

void turns_load_run(struct site *site, const struct row_run *row)
{
    const struct job *job = NULL;
    if (row->spec == NULL && row->lease[0] == '\0') {
        job = job_lookup_one(site->jobs, row->job);
    }
    runs_load(site->runs, row, job != NULL ? job->submission : NULL);
}

static void restore_runs(struct site *site, struct effects *effects)
{
    const struct run_table *table = runs_table(site->runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run == NULL || !run_table_is_own(table, run)) {
            continue;
        }
        const struct job *job = job_lookup_one(site->jobs, run->job);
        bool is_ours = job != NULL && job->attempt == run->id.attempt;
        if (!is_ours || jobs_is_ended(job) != (run->record == RUN_RECORD_ENDED)) {
            /* No batch leaves this behind; its host is told when it lists the run. */
            effects_log(effects, LOG_LEVEL_WARNING,
                        "attempt %llu belongs to no job: forgotten",
                        (unsigned long long)run->id.attempt);
            runs_forget(site->runs, run, effects);
        }
    }
}

static void restore_job(struct site *site, struct job *job, int64_t now_ms,
                        struct effects *effects)
{
    if (job->lease[0] != '\0') {
        struct consumer_attempt attempt = attempt_of(site, job, effects);
        consumer_resume(site->consumer, &attempt, now_ms);
        return;
    }
    struct run *run = run_of(site, job);
    if (run == NULL && job->is_taken) {
        struct row_run row = taken_row(site, job, effects);
        runs_load(site->runs, &row, job->submission);
        run = run_of(site, job);
    }
    if (run != NULL) {
        job->control.reasons = job->halt.causes;
        run->control.yields = job->control.yields; /* not in its row */
        run->control.reasons = job->control.reasons;
        resizes_restore(site, job, run);
    } else {
        struct run_exit exit = {.end = RUN_END_LOST,
                                .start_ms = job->start_ms,
                                .text = "it is not on record"};
        turns_finish(site, job, &exit, now_ms, effects);
    }
}

void turns_restore(struct site *site, int64_t now_ms, struct effects *effects)
{
    restore_runs(site, effects);
    /* By id: what is open changes on the way. */
    for (int i = 0; i < jobs_count(site->jobs); i++) {
        struct job *job = jobs_at(site->jobs, i);
        if (job->is_open) {
            restore_job(site, job, now_ms, effects);
        }
    }
    runs_host_away(site->runs, -1, now_ms, effects); /* hosts that are gone */
}

struct clean_call {
    struct site *site;
    struct effects *effects;
};

static void clean_job(void *arg, struct job *job)
{
    const struct clean_call *call = arg;
    struct run *run = job->attempt != 0 ? run_of(call->site, job) : NULL;
    if (run != NULL) {
        runs_forget(call->site->runs, run, call->effects);
    }
}

void turns_clean(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct clean_call call = {.site = site, .effects = effects};
    jobs_clean(site->jobs, now_ms - site->config->clean_period_ms, CLEAN_MAX, clean_job,
               &call, effects);
}
