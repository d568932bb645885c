/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: see schedule.h. */
#include "site/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/halts.h"
#include "site/parts.h"
#include "site/shown_lines.h"
#include "site/turns.h"

/* Jobs started in one tick: a site must answer its hosts in between. */
enum { SCHEDULE_STARTS_MAX = 1000 };

struct lease_waiting {
    char lease[LEASE_ID_SIZE];
    int n_slots;
};

/* What the provider has last heard of a host, and where it keeps it. */
struct told_use {
    const char *name; /* the configuration's: a new one has others */
    const struct books_host *kept;
    int max, own, still;
    bool is_taken;
};

struct schedule {
    int64_t accept_ms; /* hosts take jobs again that lines of the last pass wait for */
    int waiting_own;   /* of the last whole pass */
    struct lease_waiting *leases;
    int n_leases, capacity;
    struct told_use *told; /* by host */
    int n_told;
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
    free(schedule->told);
    shown_lines_free(schedule->shown);
    arena_release(&schedule->scratch);
    free(schedule);
}

int64_t schedule_wake_ms(const struct site *site, int64_t now_ms)
{
    int64_t hold_ms = jobs_hold_ms(site->jobs);
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

/* An exclusive job that stands still keeps its hosts without PREEMPT_JOBTYPE. */
static bool is_kept(const struct site *site, int host)
{
    return !site->config->preempt.has_exclusive &&
           run_table_has_still(runs_table(site->runs), host);
}

bool schedule_is_taken(const struct site *site, int host)
{
    return run_table_is_taken(runs_table(site->runs), host) || is_kept(site, host);
}

/* The provider's word on a host; a new configuration may be looked at before it has
 * heard of its hosts. */
static const struct books_host *kept_of(const struct site *site, int index)
{
    const struct schedule *schedule = site->schedule;
    const char *name = site_hosts_name(site->hosts, index);
    const struct books_host *kept =
        index < schedule->n_told ? schedule->told[index].kept : NULL;
    return kept != NULL && strcmp(provider_host_name(kept), name) == 0
               ? kept
               : provider_host(site->provider, name);
}

/* Only what has changed: there are thousands of hosts, and this comes twice a pass. */
void schedule_tell_use(struct site *site)
{
    struct schedule *schedule = site->schedule;
    int n_hosts = site_hosts_count(site->hosts);
    if (schedule->n_told < n_hosts) {
        schedule->told =
            mem_grow(schedule->told, (size_t)n_hosts, sizeof(*schedule->told));
    }
    for (int i = 0; i < n_hosts; i++) {
        const char *name = site_hosts_name(site->hosts, i);
        int max = site_hosts_max(site->hosts, i), own, still, consumers;
        run_table_used(runs_table(site->runs), i, &own, &consumers);
        run_table_still(runs_table(site->runs), i, &still, &consumers);
        struct told_use *told = &schedule->told[i];
        bool is_taken = schedule_is_taken(site, i);
        bool is_known = i < schedule->n_told && told->name == name;
        if (!is_known || told->max != max || told->own != own) {
            provider_set_local_used(site->provider, name, max, own);
        }
        if (!is_known || told->still != still) {
            provider_set_local_still(site->provider, name, still);
        }
        if (!is_known || told->is_taken != is_taken) {
            provider_set_taken(site->provider, name, is_taken);
        }
        *told = (struct told_use){
            name, is_known ? told->kept : kept_of(site, i), max, own, still, is_taken};
    }
    schedule->n_told = n_hosts;
}

static void show_own(const struct site *site, int index, struct place_host *host)
{
    int consumers, own_still, consumers_still;
    host->name = site_hosts_name(site->hosts, index);
    host->site = host->lease = "";
    host->accepted_ms = accepts_at(site->accepts, host->name);
    run_table_used(runs_table(site->runs), index, &host->used, &consumers);
    const struct books_host *kept = kept_of(site, index);
    host->max =
        provider_host_local_max(kept, site_hosts_max(site->hosts, index), host->used);
    if (site_hosts_stay(site->hosts, index) > 0) {
        host->n_stay = provider_host_local_max(
            kept, site_hosts_stay(site->hosts, index), host->used);
    }
    host->is_unheard = !site_hosts_is_ready(site->hosts, index);
    host->is_open = !host->is_unheard && !site->config->hosts[index].is_leaving &&
                    !closed_has(&site->closed, host->name) &&
                    !windows_have_closed(site, index);
    host->is_unused = host->used + consumers == 0 && provider_host_lent(kept) == 0;
    host->is_taken = run_table_is_taken(runs_table(site->runs), index);
    run_table_still(runs_table(site->runs), index, &own_still, &consumers_still);
    host->is_kept = is_kept(site, index);
    host->has_others = consumers + consumers_still > 0;
    host->is_shared =
        host->has_others || (own_still > 0 && !site->config->preempt.has_exclusive);
}

static void show_borrowed(const struct site *site, int index, struct arena *arena,
                          struct place_host *host)
{
    struct consumer_host borrowed;
    consumer_host_at(site->consumer, index, &borrowed);
    host->name = arena_str(arena, borrowed.name);
    host->site = arena_str(arena, borrowed.site);
    host->lease = arena_str(arena, borrowed.lease);
    host->accepted_ms = accepts_at(site->accepts, host->name);
    host->max = borrowed.n_held;
    host->n_may = borrowed.n_slots;
    host->is_unmade = !borrowed.is_made && !borrowed.is_exclusive;
    host->used = borrowed.n_used;
    host->is_unheard = borrowed.is_unheard;
    host->is_open = borrowed.is_open && !closed_has(&site->closed, borrowed.name);
    host->is_batch = !borrowed.takes_interactive;
    host->queues = borrowed.queues; /* contracts do not change within a pass */
    host->n_queues = borrowed.n_queues;
}

struct place_host *schedule_hosts(const struct site *site, struct arena *arena,
                                  int *n_hosts)
{
    int n_own = site_hosts_count(site->hosts);
    *n_hosts = n_own + consumer_count_hosts(site->consumer);
    struct place_host *hosts = arena_alloc(arena, (size_t)*n_hosts, sizeof(*hosts));
    for (int i = 0; i < n_own; i++) {
        show_own(site, i, &hosts[i]);
    }
    for (int i = n_own; i < *n_hosts; i++) {
        show_borrowed(site, i - n_own, arena, &hosts[i]);
    }
    return hosts;
}

int schedule_find_host(const struct site *site, const struct place_host *hosts,
                       int n_hosts, const char *lease, const char *name)
{
    if (lease[0] == '\0') {
        return site_hosts_find(site->hosts, name);
    }
    for (int i = site_hosts_count(site->hosts); i < n_hosts; i++) {
        if (strcmp(hosts[i].name, name) == 0 && strcmp(hosts[i].lease, lease) == 0) {
            return i;
        }
    }
    return -1;
}

static void show_hosts(struct site *site, int64_t now_ms,
                       struct place_snapshot *snapshot, struct effects *effects)
{
    struct arena *arena = &site->schedule->scratch;
    struct place_host *hosts = schedule_hosts(site, arena, &snapshot->n_hosts);
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
        n_begins += !plan->starts[i].is_more;
    }
    return n_begins;
}

/* Verdicts first: lines go with their last job. */
static void carry_out(struct site *site, const struct place_plan *plan, int64_t now_ms,
                      struct effects *effects)
{
    jobs_set_verdicts(site->jobs, plan->verdicts);
    resizes_set_verdicts(site, plan->verdicts);
    turns_expect(site->life, count_begins(plan), effects);
    for (int i = 0; i < plan->n_returns; i++) {
        struct job *job = jobs_find(site->jobs, plan->returns[i]);
        overloads_begin(site->overloads, job, now_ms);
        halts_resume(site->life, job, now_ms, effects);
    }
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        if (start->is_more) {
            resizes_grow(site, jobs_find(site->jobs, start->job), start, now_ms,
                         effects);
            continue;
        }
        turns_start(site->life, jobs_find(site->jobs, start->job), start,
                    reserves_text(site, &effects->arena, start->asks), now_ms, effects);
    }
}

bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct schedule *schedule = site->schedule;
    bool has_come = jobs_pass(site->jobs, now_ms);
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
    schedule_tell_use(site);
    show_hosts(site, now_ms, &snapshot, effects);
    snapshot.lines = shown_lines_look(schedule->shown, site, &schedule->scratch, now_ms,
                                      &snapshot.n_lines);
    resizes_show(site, &schedule->scratch, &snapshot, now_ms);
    shares_show(site->shares, &schedule->scratch, now_ms, &snapshot);
    preempts_show_returns(site, &schedule->scratch, &snapshot);
    snapshot.loads =
        overloads_show(site, &schedule->scratch, snapshot.hosts, snapshot.n_hosts);
    snapshot.reserve = reserves_show(site);
    snapshot.preempt = preempts_show(site, &schedule->scratch, &snapshot, now_ms);
    snapshot.kept = slot_reserves_show(site, &schedule->scratch, &snapshot, now_ms);
    place_plan(&schedule->scratch, &snapshot, &plan);
    site->pass_request.is_set = plan.is_cut;
    schedule->accept_ms = plan.accept_ms;
    shares_wait(site->shares, plan.queue_waits);
    preempts_mark_victims(site, snapshot.preempt, true);
    carry_out(site, &plan, now_ms, effects);
    preempts_mark_victims(site, snapshot.preempt, false);
    if (preempts_order(site, snapshot.preempt, now_ms, effects)) {
        pass_request_set(&site->pass_request);
    }
    slot_reserves_keep(site, &schedule->scratch, &snapshot, snapshot.kept);
    schedule_tell_use(site);
    if (!plan.is_cut) {
        note_waiting(schedule, &snapshot, &plan);
        provider_set_waiting(site->provider, schedule->waiting_own);
    }
    return true;
}
