/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: see schedule.h. */
#include "site/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/job/job_dispatch.h"
#include "site/job/suspend.h"
#include "site/parts.h"
#include "site/shown_lines.h"

/* Jobs started in one tick: a site must answer its hosts in between. */
enum { SCHEDULE_STARTS_MAX = 1000 };

struct lease_waiting {
    char lease[LEASE_ID_SIZE];
    int n_slots;
};

struct schedule {
    int64_t accept_ms; /* hosts take jobs again that lines of the last pass wait for */
    int waiting_own;   /* of the last whole pass */
    struct lease_waiting *leases;
    int n_leases, capacity;
    struct shown_lines *shown;
    struct arena scratch;
};

struct schedule *schedule_new(void)
{
    struct schedule *schedule = mem_alloc(1, sizeof(*schedule));
    schedule->accept_ms = INT64_MAX;
    schedule->shown = shown_lines_new();
    arena_init(&schedule->scratch);
    return schedule;
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->leases);
    shown_lines_free(schedule->shown);
    arena_release(&schedule->scratch);
    free(schedule);
}

int64_t schedule_wake_ms(const struct site *site, int64_t now_ms)
{
    int64_t hold_ms = job_table_wake_ms(site->jobs);
    int64_t preempt_ms = preempts_wake_ms(site->preempts);
    int64_t reserve_ms = reserves_wake_ms(site->reserves);
    int64_t slots_ms = slot_reserves_wake_ms(site->slot_reserves);
    int64_t resize_ms = resizes_wake_ms(site->resizes);
    int64_t wake_ms = hold_ms < preempt_ms ? hold_ms : preempt_ms;
    wake_ms = resize_ms < wake_ms ? resize_ms : wake_ms;
    wake_ms = slots_ms < wake_ms ? slots_ms : wake_ms;
    wake_ms = reserve_ms < wake_ms ? reserve_ms : wake_ms;
    wake_ms = site->schedule->accept_ms < wake_ms ? site->schedule->accept_ms : wake_ms;
    return site->pass_request.is_set ? now_ms : wake_ms;
}

/* ---------------------------------------------------------------- waiting slots */

static void add_lease(struct schedule *schedule, const char *lease, int n_slots)
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

static void note_waiting(struct schedule *schedule,
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

int schedule_waiting_lease(const struct schedule *schedule, const char *lease)
{
    for (int i = 0; i < schedule->n_leases; i++) {
        if (strcmp(schedule->leases[i].lease, lease) == 0) {
            return schedule->leases[i].n_slots;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- snapshot */

static void show_hosts(struct site *site, int64_t now_ms,
                       struct place_snapshot *snapshot, struct effects *effects)
{
    struct arena *arena = &site->schedule->scratch;
    struct place_host *hosts = capacity_hosts(
        site->capacity, arena, site->now_ms + site->utc_offset_ms, &snapshot->n_hosts);
    snapshot->hosts = hosts;
    reserves_begin(site, arena, hosts, snapshot->n_hosts, now_ms);
    preempts_begin(site, hosts, snapshot->n_hosts, now_ms, effects);
    needs_begin(site->needs, arena, site, hosts, snapshot->n_hosts);
}

/* ---------------------------------------------------------------- the pass */

static int count_begins(const struct place_plan *plan)
{
    int n_begins = 0;
    for (int i = 0; i < plan->n_starts; i++) {
        n_begins += !plan->starts[i].is_grow;
    }
    return n_begins;
}

/* Verdicts first: lines go with their last job. */
static void carry_out(struct site *site, const struct place_plan *plan, int64_t now_ms,
                      struct effects *effects)
{
    job_table_set_verdicts(site->jobs, plan->verdicts);
    resizes_set_verdicts(site, plan->verdicts);
    job_dispatch_reserve_numbers(site->life, count_begins(plan), effects);
    for (int i = 0; i < plan->n_resumes; i++) {
        struct job *job = job_table_find(site->jobs, plan->resumes[i]);
        overloads_begin(site->overloads, job, now_ms);
        suspend_resume(site->life, job, now_ms, effects);
    }
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        if (start->is_grow) {
            resizes_grow(site, job_table_find(site->jobs, start->job), start, now_ms,
                         effects);
            continue;
        }
        job_dispatch_start(site->life, job_table_find(site->jobs, start->job), start,
                           reserves_text(site, &effects->arena, start->rusage), now_ms,
                           effects);
    }
}

bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct schedule *schedule = site->schedule;
    bool has_come = job_table_tick(site->jobs, now_ms);
    bool is_guard = preempts_wake_ms(site->preempts) <= now_ms;
    bool is_less = reserves_wake_ms(site->reserves) <= now_ms;
    bool is_rested =
        schedule->accept_ms <= now_ms || resizes_wake_ms(site->resizes) <= now_ms;
    bool is_over = slot_reserves_wake_ms(site->slot_reserves) <= now_ms;
    if (!site->pass_request.is_set && !has_come && !is_guard && !is_less &&
        !is_rested && !is_over) {
        return false;
    }
    struct place_snapshot snapshot = {.queues = site->config->queues,
                                      .n_queues = site->config->n_queues,
                                      .limits = site->limits,
                                      .now_ms = now_ms,
                                      .max_starts = SCHEDULE_STARTS_MAX};
    struct place_plan plan;
    arena_clear(&schedule->scratch);
    capacity_sync_provider(site->capacity);
    show_hosts(site, now_ms, &snapshot, effects);
    snapshot.classes = shown_lines_look(schedule->shown, site, &schedule->scratch,
                                        now_ms, &snapshot.n_classes);
    resizes_show(site, &schedule->scratch, &snapshot, now_ms);
    shares_show(site->shares, &schedule->scratch, now_ms, &snapshot);
    preempts_show_returns(site, &schedule->scratch, &snapshot);
    snapshot.load_excess =
        overloads_show(site, &schedule->scratch, snapshot.hosts, snapshot.n_hosts);
    snapshot.supply = reserves_show(site);
    snapshot.preempt = preempts_show(site, &schedule->scratch, &snapshot);
    snapshot.reservations = slot_reserves_show(site, &schedule->scratch, &snapshot);
    place_plan(&schedule->scratch, &snapshot, &plan);
    site->pass_request.is_set = plan.is_cut;
    schedule->accept_ms = plan.next_accept_ms;
    shares_wait(site->shares, plan.queue_waits);
    preempts_mark_victims(site, plan.preempt, true);
    carry_out(site, &plan, now_ms, effects);
    preempts_mark_victims(site, plan.preempt, false);
    if (preempts_order(site, plan.preempt, now_ms, effects)) {
        pass_request_set(&site->pass_request);
    }
    slot_reserves_keep(site, &schedule->scratch, &snapshot, plan.reservations);
    capacity_sync_provider(site->capacity);
    if (!plan.is_cut) {
        note_waiting(schedule, &snapshot, &plan);
        provider_set_waiting(site->provider, schedule->waiting_own);
    }
    return true;
}
