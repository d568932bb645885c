/* SPDX-License-Identifier: Apache-2.0 */
/* job_dispatch.c: see lifecycle.h; and how attempts are found again after a restart,
 * see lifecycle.h. */

#include <string.h>

#include "model/job_id.h"
#include "site/config/site_config.h"
#include "site/job/job.h"
#include "site/lifecycle/lifecycle_parts.h"
#include "site/resource/host_resources.h"

/* ---------------------------------------------------------------- start */

void job_dispatch_reserve_numbers(struct lifecycle *life, int n_starts,
                                  struct effects *effects)
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
    job_dispatch_reserve_numbers(life, 1, effects);
    return ++life->last_attempt;
}

static const char *id_text(struct effects *effects, const struct job *job)
{
    return job_id_text(&effects->arena, job->id, job->index);
}

/* The spec of the job with what its queue and its application profile add to it. */
static const struct job_spec *spec_to_run(const struct lifecycle *life,
                                          const struct job *job, int64_t now_ms,
                                          struct effects *effects)
{
    struct job_spec *spec = arena_copy(&effects->arena, job->spec, sizeof(*spec));
    struct job_rules_stack stack = lifecycle_rules_stack(life, job, &effects->arena);
    job_rules_apply(&effects->arena, &stack, lifecycle_cpu_factor(life, job, &stack),
                    spec);
    spec->run_limit_ms = job_run_limit_ms(job, now_ms);
    return spec;
}

/* When other jobs need its slots, or its termination time, if that is sooner; 0: never.
 */
static int64_t end_by_ms(const struct job *job)
{
    int64_t gap_ms = job->backfill.lender != 0 ? job->backfill.until_ms : 0;
    int64_t deadline_ms = job->terms->terminate_ms;
    bool is_deadline = deadline_ms != 0 && (gap_ms == 0 || deadline_ms < gap_ms);
    return is_deadline ? deadline_ms : gap_ms;
}

/* The row of the run of its attempt on own hosts, without its spec. */
static struct row_run taken_row(const struct lifecycle *life, const struct job *job,
                                struct effects *effects)
{
    return (struct row_run){
        .run = lifecycle_run_id(life, job),
        .job = id_text(effects, job),
        .lease = "",
        .record = RUN_RECORD_TAKEN,
        .hosts = job->hosts,
        .n_hosts = job->n_hosts,
        .end_by_ms = end_by_ms(job),
        .exit = {.text = ""},
        .binding = "",
    };
}

static void start_own(struct lifecycle *life, struct job *job,
                      const struct place_start *start, const char *reserved,
                      int64_t now_ms, struct effects *effects)
{
    job_table_begin(life->parts.jobs, job, take_attempt(life, effects), "", 0, start,
                    reserved);
    lifecycle_set_run_limit(life, job, &effects->arena);
    const struct job_spec *spec = spec_to_run(life, job, now_ms, effects);
    bool is_bound = start->binding != NULL;
    job->is_taken = !is_bound && submission_is_same_spec(job->submission, spec);
    job_store(job, effects);
    struct row_run row = taken_row(life, job, effects);
    row.spec = spec;
    row.binding = is_bound ? start->binding : "";
    runs_add(life->parts.runs, &row, job->is_taken ? job->submission : NULL, now_ms,
             effects);
}

/* The provider calls the host "n1@north" "n1". */
static struct host_slots *names_at_provider(struct effects *effects,
                                            const struct job *job)
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
 * the lease is of a leaf of a pool (exchange.h). */
static const struct job_spec *spec_with_grace(const struct lifecycle *life,
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
        .nonce = job->submission->row->nonce,
        .job = id_text(effects, job),
        .lease = job->lease,
        .epoch = job->epoch,
        .hosts = names_at_provider(effects, job),
        .n_hosts = job->n_hosts,
        .spec = spec_with_grace(life, job, spec_to_run(life, job, now_ms, effects),
                                effects),
        .priority =
            job->queue >= 0 ? life->parts.config->queues[job->queue].priority : 0,
        .end_by_ms = end_by_ms(job),
        .is_admitted = job->is_decided,
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

static void start_borrowed(struct lifecycle *life, struct job *job,
                           const struct place_start *start, const char *reserved,
                           int64_t now_ms, struct effects *effects)
{
    job_table_begin(life->parts.jobs, job, take_attempt(life, effects), start->lease,
                    epoch_of(life, start->lease), start, reserved);
    lifecycle_set_run_limit(life, job, &effects->arena);
    job_store(job, effects);
    struct consumer_attempt attempt = attempt_of(life, job, now_ms, effects);
    consumer_start(life->parts.consumer, &attempt, now_ms, effects);
}

void job_dispatch_start(struct lifecycle *life, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects)
{
    accept_times_set(life->parts.accept_times, start->hosts, start->n_hosts, now_ms);
    if (start->lease[0] == '\0') {
        start_own(life, job, start, reserved, now_ms, effects);
    } else {
        start_borrowed(life, job, start, reserved, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- restart */

void job_dispatch_load_counter(struct lifecycle *life, uint64_t last_attempt)
{
    life->last_attempt = last_attempt;
}

uint64_t job_dispatch_last_attempt(const struct lifecycle *life)
{
    return life->last_attempt;
}

void job_dispatch_raise(struct lifecycle *life, uint64_t last_attempt)
{
    life->last_attempt = last_attempt;
    if (life->stored_attempt < last_attempt) {
        life->stored_attempt = last_attempt;
    }
}

void job_dispatch_load_run(struct lifecycle *life, const struct row_run *row)
{
    const struct job *job = NULL;
    if (row->spec == NULL && row->lease[0] == '\0') {
        job = job_table_lookup(life->parts.jobs, row->job);
    }
    runs_load(life->parts.runs, row, job != NULL ? job->submission : NULL);
}

static void restore_runs(struct lifecycle *life, struct effects *effects)
{
    const struct run_table *table = runs_table(life->parts.runs);
    for (int i = 0; i < run_table_count(table); i++) {
        struct run *run = run_table_at(table, i);
        if (run == NULL || run->is_orphan || !run_table_is_own(table, run)) {
            continue;
        }
        const struct job *job = job_table_lookup(life->parts.jobs, run->job);
        bool is_ours = job != NULL && job->attempt == run->id.attempt;
        if (!is_ours || job_is_ended(job) != (run->record == RUN_RECORD_ENDED)) {
            /* No committed batch leaves this behind. The host is told to end the run
             * when it lists its runs. */
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
    struct run *run = lifecycle_run(life, job);
    if (run == NULL && job->is_taken) {
        struct row_run row = taken_row(life, job, effects);
        runs_load(life->parts.runs, &row, job->submission);
        run = lifecycle_run(life, job);
    }
    if (run != NULL) {
        job->control.reasons = job->suspension.causes;
        run->control.yields = job->control.yields; /* not in its row */
        run->control.reasons = job->control.reasons;
        resize_requests_restore(life->parts.resize_requests, job, run);
    } else {
        struct run_exit exit = {.end = RUN_END_LOST,
                                .start_ms = job->start_ms,
                                .text = "it is not on record"};
        job_end_run(life, job, &exit, now_ms, effects);
    }
}

void job_dispatch_restore(struct lifecycle *life, int64_t now_ms,
                          struct effects *effects)
{
    restore_runs(life, effects);
    /* Walked by id, since the list of open attempts changes in the loop. */
    for (int i = 0; i < job_table_count(life->parts.jobs); i++) {
        struct job *job = job_table_at(life->parts.jobs, i);
        if (job->is_open) {
            restore_job(life, job, now_ms, effects);
        }
    }
    runs_host_away(life->parts.runs, -1, now_ms,
                   effects); /* hosts that are not configured */
}
