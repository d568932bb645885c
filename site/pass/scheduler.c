/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c: see scheduler.h. */
#include "site/pass/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/job/lifecycle.h"

/* Jobs started in one tick: a site must answer its hosts in between. */
enum { SCHEDULER_STARTS_MAX = 1000 };

struct lease_waiting {
    char lease[LEASE_ID_SIZE];
    int n_slots;
};

struct scheduler {
    struct scheduler_parts parts;
    int64_t accept_ms;  /* hosts take jobs again that lines of the last pass wait for */
    int64_t reserve_ms; /* a reservation that they could wait for becomes less */
    int waiting_own;    /* of the last whole pass */
    struct lease_waiting *leases;
    int n_leases, capacity;
    struct class_snapshot *shown;
    struct arena scratch;
};

struct scheduler *scheduler_new(void)
{
    struct scheduler *schedule = mem_alloc(1, sizeof(*schedule));
    schedule->accept_ms = schedule->reserve_ms = INT64_MAX;
    schedule->shown = class_snapshot_new();
    arena_init(&schedule->scratch);
    return schedule;
}

void scheduler_set_parts(struct scheduler *schedule,
                         const struct scheduler_parts *parts)
{
    schedule->parts = *parts;
    schedule->parts.pass.shown = schedule->shown;
}

void scheduler_free(struct scheduler *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->leases);
    class_snapshot_free(schedule->shown);
    arena_release(&schedule->scratch);
    free(schedule);
}

/* ---------------------------------------------------------------- waiting slots */

static void add_lease(struct scheduler *schedule, const char *lease, int n_slots)
{
    if (schedule->n_leases == schedule->capacity) {
        schedule->capacity = schedule->capacity == 0 ? 8 : schedule->capacity * 2;
        schedule->leases = mem_grow(schedule->leases, (size_t)schedule->capacity,
                                    sizeof(*schedule->leases));
    }
    struct lease_waiting *added = &schedule->leases[schedule->n_leases++];
    snprintf(added->lease, sizeof(added->lease), "%s", lease);
    added->n_slots = n_slots;
}

static void note_waiting(struct scheduler *schedule,
                         const struct place_snapshot *snapshot,
                         const struct place_plan *plan)
{
    schedule->waiting_own = plan->waiting_own;
    schedule->n_leases = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        if (plan->waiting_lease[i] > 0) {
            add_lease(schedule, snapshot->hosts[i].lease, plan->waiting_lease[i]);
        }
    }
}

int scheduler_waiting_lease(const struct scheduler *schedule, const char *lease)
{
    for (int i = 0; i < schedule->n_leases; i++) {
        if (strcmp(schedule->leases[i].lease, lease) == 0) {
            return schedule->leases[i].n_slots;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- carried out */

static int count_begins(const struct place_plan *plan)
{
    int n_begins = 0;
    for (int i = 0; i < plan->n_starts; i++) {
        n_begins += !plan->starts[i].is_grow;
    }
    return n_begins;
}

/* Verdicts first: lines go with their last job. */
static void carry_out(const struct scheduler_parts *parts, struct pass *pass,
                      struct effects *effects)
{
    const struct place_plan *plan = &pass->plan;
    struct job_table *jobs = parts->pass.jobs;
    job_table_set_verdicts(jobs, plan->verdicts);
    resize_requests_set_verdicts(parts->pass.resizes, plan->verdicts);
    job_dispatch_reserve_numbers(parts->life, count_begins(plan), effects);
    for (int i = 0; i < plan->n_resumes; i++) {
        struct job *job = job_table_find(jobs, plan->resumes[i]);
        load_suspend_note_resumed(parts->pass.overloads, job, pass->now_ms);
        suspend_resume(parts->life, job, pass->now_ms, effects);
    }
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        struct job *job = job_table_find(jobs, start->job);
        if (start->is_grow) {
            resize_requests_grow(parts->pass.resizes, job, start, pass->now_ms,
                                 effects);
            continue;
        }
        job_dispatch_start(
            parts->life, job, start,
            rusage_pass_text(pass->reserves, &effects->arena, start->rusage),
            pass->now_ms, effects);
    }
}

/* ---------------------------------------------------------------- when */

/* The first instant at which time alone calls for a pass, but for held jobs. */
static int64_t next_ms(const struct scheduler *schedule)
{
    const struct pass_parts *parts = &schedule->parts.pass;
    const int64_t times[] = {preempt_claims_wake_ms(parts->preempts),
                             reservation_table_wake_ms(parts->slot_reserves),
                             resize_requests_wake_ms(parts->resizes),
                             schedule->reserve_ms, schedule->accept_ms};
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        next_ms = times[i] < next_ms ? times[i] : next_ms;
    }
    return next_ms;
}

int64_t scheduler_wake_ms(const struct scheduler *schedule, int64_t now_ms)
{
    int64_t hold_ms = job_table_wake_ms(schedule->parts.pass.jobs);
    int64_t wake_ms = next_ms(schedule);
    return schedule->parts.pass_request->is_set ? now_ms
           : hold_ms < wake_ms                  ? hold_ms
                                                : wake_ms;
}

bool scheduler_run(struct scheduler *schedule, int64_t now_ms, int64_t utc_offset_ms,
                   struct effects *effects)
{
    const struct scheduler_parts *parts = &schedule->parts;
    struct pass_request *request = parts->pass_request;
    bool has_come = job_table_tick(parts->pass.jobs, now_ms);
    struct pass pass;
    if (!request->is_set && !has_come && next_ms(schedule) > now_ms) {
        return false;
    }
    arena_clear(&schedule->scratch);
    capacity_sync_provider(parts->capacity);
    pass_make(&pass, &parts->pass, &schedule->scratch, SCHEDULER_STARTS_MAX, now_ms,
              utc_offset_ms, effects);
    request->is_set = pass.plan.is_cut;
    schedule->accept_ms = pass.plan.next_accept_ms;
    fairshare_ledger_set_waiting(parts->shares, pass.plan.queue_waits);
    preempt_claims_mark_victims(parts->pass.preempts, pass.plan.preempt, true);
    carry_out(parts, &pass, effects);
    preempt_claims_mark_victims(parts->pass.preempts, pass.plan.preempt, false);
    if (preempt_claims_suspend_victims(parts->pass.preempts, pass.plan.preempt,
                                       pass.reserves, now_ms, effects)) {
        pass_request_set(request);
    }
    reservation_table_store(parts->pass.slot_reserves, pass.reserves, pass.arena,
                            &pass.snapshot, pass.plan.reservations);
    schedule->reserve_ms = rusage_pass_wake_ms(pass.reserves);
    capacity_sync_provider(parts->capacity);
    if (!pass.plan.is_cut) {
        note_waiting(schedule, &pass.snapshot, &pass.plan);
        provider_set_waiting(parts->provider, schedule->waiting_own);
    }
    return true;
}
