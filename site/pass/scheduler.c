/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c: the scheduler of pass.h. */
#include "site/pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/lifecycle/lifecycle.h"

/* Limits the starts of one tick: the site must answer its hosts between ticks. */
enum { SCHEDULER_STARTS_MAX = 1000 };

struct lease_waiting {
    char lease[LEASE_ID_SIZE];
    int n_slots;
};

struct scheduler {
    struct scheduler_parts parts;
    int64_t plan_ms;    /* when a host accepts jobs again, or a job has another
                           alternative, that the last pass waited for */
    int64_t reserve_ms; /* when a rusage that pending jobs could wait for decreases */
    int waiting_own;    /* of the last complete pass */
    struct lease_waiting *leases;
    int n_leases, capacity;
    struct class_snapshot *snapshot;
    struct arena scratch;
};

struct scheduler *scheduler_new(void)
{
    struct scheduler *scheduler = mem_alloc(1, sizeof(*scheduler));
    scheduler->plan_ms = scheduler->reserve_ms = INT64_MAX;
    arena_init(&scheduler->scratch);
    return scheduler;
}

void scheduler_set_parts(struct scheduler *scheduler,
                         const struct scheduler_parts *parts)
{
    /* What it knows is of the caches before. */
    class_snapshot_free(scheduler->snapshot);
    scheduler->snapshot = class_snapshot_new();
    scheduler->parts = *parts;
    scheduler->parts.pass.snapshot = scheduler->snapshot;
}

void scheduler_free(struct scheduler *scheduler)
{
    if (scheduler == NULL) {
        return;
    }
    free(scheduler->leases);
    class_snapshot_free(scheduler->snapshot);
    arena_release(&scheduler->scratch);
    free(scheduler);
}

/* ---------------------------------------------------------------- waiting slots */

static void add_lease(struct scheduler *scheduler, const char *lease, int n_slots)
{
    if (scheduler->n_leases == scheduler->capacity) {
        scheduler->capacity = scheduler->capacity == 0 ? 8 : scheduler->capacity * 2;
        scheduler->leases = mem_grow(scheduler->leases, (size_t)scheduler->capacity,
                                     sizeof(*scheduler->leases));
    }
    struct lease_waiting *added = &scheduler->leases[scheduler->n_leases++];
    snprintf(added->lease, sizeof(added->lease), "%s", lease);
    added->n_slots = n_slots;
}

static int compare_leases(const void *a, const void *b)
{
    return strcmp(((const struct lease_waiting *)a)->lease,
                  ((const struct lease_waiting *)b)->lease); /* each is there once */
}

static void note_waiting(struct scheduler *scheduler,
                         const struct place_snapshot *snapshot,
                         const struct place_plan *plan)
{
    scheduler->waiting_own = plan->waiting_own;
    scheduler->n_leases = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        if (plan->waiting_lease[i] > 0) {
            add_lease(scheduler, snapshot->hosts[i].lease, plan->waiting_lease[i]);
        }
    }
    if (scheduler->n_leases > 1) {
        qsort(scheduler->leases, (size_t)scheduler->n_leases,
              sizeof(*scheduler->leases), compare_leases);
    }
}

int scheduler_waiting_lease(const struct scheduler *scheduler, const char *lease)
{
    int from = 0, to = scheduler->n_leases;
    while (from < to) {
        int middle = from + (to - from) / 2;
        int order = strcmp(lease, scheduler->leases[middle].lease);
        if (order == 0) {
            return scheduler->leases[middle].n_slots;
        }
        from = order > 0 ? middle + 1 : from;
        to = order > 0 ? to : middle;
    }
    return 0;
}

/* ---------------------------------------------------------------- execution */

static int count_begins(const struct place_plan *plan)
{
    int n_begins = 0;
    for (int i = 0; i < plan->n_starts; i++) {
        n_begins += !plan->starts[i].is_grow;
    }
    return n_begins;
}

/* Verdicts come first: a class goes with its last job. */
static void execute_plan(struct scheduler_parts *parts, struct pass *pass,
                         struct effects *effects)
{
    const struct place_plan *plan = &pass->plan;
    struct job_table *jobs = parts->pass.jobs;
    job_table_set_verdicts(jobs, plan->verdicts);
    resize_requests_set_verdicts(parts->pass.resize_requests, plan->verdicts);
    job_dispatch_reserve_numbers(parts->life, count_begins(plan), effects);
    for (int i = 0; i < plan->n_resumes; i++) {
        struct job *job = job_table_find(jobs, plan->resumes[i]);
        load_suspend_note_resumed(parts->pass.load_suspend, job, pass->now_ms);
        preempt_claims_note_resumed(parts->pass.claims, job);
        suspend_resume(parts->life, job, pass->now_ms, effects);
    }
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        struct job *job = job_table_find(jobs, start->job);
        if (start->is_grow) {
            resize_requests_grow(parts->pass.resize_requests, job, start, pass->now_ms,
                                 effects);
            continue;
        }
        job_dispatch_start(
            parts->life, job, start,
            rusage_pass_text(pass->rusages, &effects->arena, start->rusage),
            pass->now_ms, effects);
    }
}

/* ---------------------------------------------------------------- when */

/* When time alone makes a pass due, except for held jobs. */
static int64_t next_ms(const struct scheduler *scheduler)
{
    const struct pass_parts *parts = &scheduler->parts.pass;
    const int64_t times[] = {preempt_claims_wake_ms(parts->claims),
                             reservation_table_wake_ms(parts->reservations),
                             resize_requests_wake_ms(parts->resize_requests),
                             scheduler->reserve_ms, scheduler->plan_ms};
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        next_ms = times[i] < next_ms ? times[i] : next_ms;
    }
    return next_ms;
}

int64_t scheduler_wake_ms(const struct scheduler *scheduler, int64_t now_ms)
{
    int64_t hold_ms = job_table_wake_ms(scheduler->parts.pass.jobs);
    int64_t wake_ms = next_ms(scheduler);
    return scheduler->parts.pass_request->is_set ? now_ms
           : hold_ms < wake_ms                   ? hold_ms
                                                 : wake_ms;
}

/* True if a pass could only find that no job waits: every unfinished job runs, and
 * neither time nor a record of the pass before calls for anything. */
static bool has_nothing_to_place(const struct scheduler *scheduler)
{
    const struct pass_parts *parts = &scheduler->parts.pass;
    const enum job_state waiting[] = {JOB_PEND, JOB_PSUSP, JOB_USUSP, JOB_SSUSP,
                                      JOB_UNKWN};
    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
        if (job_table_count_state(parts->jobs, waiting[i]) > 0) {
            return false;
        }
    }
    return job_table_count_growing(parts->jobs) == 0 &&
           preempt_claims_is_empty(parts->claims) &&
           reservation_table_count(parts->reservations) == 0 &&
           parts->config->pools.n_pools == 0 && next_ms(scheduler) == INT64_MAX;
}

static void note_none_waiting(struct scheduler *scheduler)
{
    fairshare_ledger_rank(scheduler->parts.pass.fairshare);
    scheduler->waiting_own = scheduler->n_leases = 0;
    provider_set_waiting(scheduler->parts.provider, 0);
}

bool scheduler_run(struct scheduler *scheduler, int64_t now_ms, int64_t utc_offset_ms,
                   struct effects *effects)
{
    struct scheduler_parts *parts = &scheduler->parts;
    struct pass_request *request = parts->pass_request;
    bool is_hold_over = job_table_tick(parts->pass.jobs, now_ms);
    struct pass pass;
    if (!request->is_set && !is_hold_over && next_ms(scheduler) > now_ms) {
        return false;
    }
    capacity_sync_provider(parts->pass.capacity);
    if (has_nothing_to_place(scheduler)) {
        request->is_set = false;
        note_none_waiting(scheduler);
        return true;
    }
    arena_clear(&scheduler->scratch);
    pass_make(&pass, &parts->pass, &scheduler->scratch, SCHEDULER_STARTS_MAX, now_ms,
              utc_offset_ms, effects);
    request->is_set = pass.plan.is_cut;
    scheduler->plan_ms = pass.plan.next_ms;
    fairshare_ledger_set_waiting(parts->pass.fairshare, pass.plan.queue_waits);
    preempt_claims_mark_victims(parts->pass.claims, pass.plan.preempt, true);
    execute_plan(parts, &pass, effects);
    preempt_claims_mark_victims(parts->pass.claims, pass.plan.preempt, false);
    if (preempt_claims_suspend_victims(parts->pass.claims, pass.plan.preempt,
                                       pass.rusages, now_ms, effects)) {
        pass_request_set(request);
    }
    preempt_claims_store_kept(parts->pass.claims, &pass.plan, now_ms);
    reservation_table_store(parts->pass.reservations, pass.rusages, pass.arena,
                            pass.snapshot, pass.plan.reservations);
    scheduler->reserve_ms = rusage_pass_wake_ms(pass.rusages);
    capacity_sync_provider(parts->pass.capacity);
    if (!pass.plan.is_cut) {
        note_waiting(scheduler, pass.snapshot, &pass.plan);
        provider_set_waiting(parts->provider, scheduler->waiting_own);
    }
    return true;
}
