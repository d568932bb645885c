/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: see schedule.h. */
#include "site/schedule.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/parts.h"
#include "site/turns.h"

/* Waiting jobs looked at in one tick: some ten thousand a second are placed, and a site
 * must answer its hosts in between. */
enum { SCHEDULE_JOBS_MAX = 2000 };

struct lease_waiting {
    char lease[LEASE_ID_SIZE];
    int n_slots;
};

/* Slots of waiting jobs, as a pass finds them. */
struct waiting {
    int all, own;
    struct lease_waiting *leases;
    int n_leases, capacity;
};

/* What a pass has left of a host's free slots. */
struct left {
    char name[HOST_NAME_SIZE];
    char lease[LEASE_ID_SIZE];
    int n_free;
};

struct schedule {
    bool is_marked; /* something has changed since the pass began */
    bool is_passing;
    int rank; /* the place in the order that the pass has come to */
    uint64_t key;
    struct left *left; /* while a pass is under way: by host */
    int n_left, left_capacity;
    int64_t retry_ms; /* a job that waits for its time may start */
    uint64_t contract_changes;
    struct waiting found; /* by the pass under way */
    struct waiting shown; /* by the last whole one */
    struct arena scratch;
};

static void reset(struct waiting *waiting)
{
    waiting->all = waiting->own = waiting->n_leases = 0;
}

struct schedule *schedule_new(void)
{
    struct schedule *schedule = mem_alloc(1, sizeof(*schedule));
    schedule->retry_ms = INT64_MAX;
    schedule->is_marked = true;
    arena_init(&schedule->scratch);
    return schedule;
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->found.leases);
    free(schedule->shown.leases);
    arena_release(&schedule->scratch);
    free(schedule->left);
    free(schedule);
}

void schedule_mark(struct schedule *schedule)
{
    schedule->is_marked = true;
}

void schedule_mark_contracts(struct schedule *schedule)
{
    schedule->contract_changes++;
    schedule->is_marked = true;
}

void schedule_restart(struct schedule *schedule)
{
    schedule->is_passing = false;
    schedule->is_marked = true;
    schedule->n_left = 0;
    reset(&schedule->found);
}

uint64_t schedule_contract_changes(const struct schedule *schedule)
{
    return schedule->contract_changes;
}

void schedule_retry(struct schedule *schedule, int64_t at_ms)
{
    if (at_ms < schedule->retry_ms) {
        schedule->retry_ms = at_ms;
    }
}

int64_t schedule_wake_ms(const struct schedule *schedule, int64_t now_ms)
{
    bool is_due = schedule->is_marked || schedule->is_passing;
    return is_due ? now_ms : schedule->retry_ms;
}

/* ---------------------------------------------------------------- waiting slots */

static void add_capped(int *sum, int more)
{
    *sum = *sum > INT_MAX - more ? INT_MAX : *sum + more;
}

static void add_lease(struct waiting *waiting, const char *lease, int n_slots)
{
    for (int i = 0; i < waiting->n_leases; i++) {
        if (strcmp(waiting->leases[i].lease, lease) == 0) {
            add_capped(&waiting->leases[i].n_slots, n_slots);
            return;
        }
    }
    if (waiting->n_leases == waiting->capacity) {
        waiting->capacity = waiting->capacity == 0 ? 8 : waiting->capacity * 2;
        waiting->leases = mem_grow(waiting->leases, (size_t)waiting->capacity,
                                   sizeof(*waiting->leases));
    }
    struct lease_waiting *added = &waiting->leases[waiting->n_leases++];
    snprintf(added->lease, sizeof(added->lease), "%s", lease);
    added->n_slots = n_slots;
}

/* A whole pass is over: what it found is what is shown. */
static void publish(struct schedule *schedule)
{
    struct waiting old = schedule->shown;
    schedule->shown = schedule->found;
    schedule->found = old;
    reset(&schedule->found);
}

int schedule_waiting(const struct schedule *schedule)
{
    return schedule->shown.all;
}

int schedule_waiting_own(const struct schedule *schedule)
{
    return schedule->shown.own;
}

int schedule_waiting_lease(const struct schedule *schedule, const char *lease)
{
    for (int i = 0; i < schedule->shown.n_leases; i++) {
        if (strcmp(schedule->shown.leases[i].lease, lease) == 0) {
            return schedule->shown.leases[i].n_slots;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- snapshot */

void schedule_tell_use(struct site *site)
{
    for (int i = 0; i < site_hosts_count(site->hosts); i++) {
        int own, consumers;
        run_table_used(runs_table(site->runs), i, &own, &consumers);
        provider_set_local_used(site->provider, site_hosts_name(site->hosts, i),
                                site_hosts_max(site->hosts, i), own);
    }
}

static void show_own(const struct site *site, int index, struct place_host *host)
{
    int consumers;
    host->name = site_hosts_name(site->hosts, index);
    host->site = host->lease = "";
    run_table_used(runs_table(site->runs), index, &host->used, &consumers);
    host->max = provider_local_max(site->provider, host->name,
                                   site_hosts_max(site->hosts, index), host->used);
    host->is_open = site_hosts_is_ready(site->hosts, index) &&
                    !closed_has(&site->closed, host->name);
}

static void show_borrowed(const struct site *site, int index, struct arena *arena,
                          struct place_host *host)
{
    struct consumer_host borrowed;
    consumer_host_at(site->consumer, index, &borrowed);
    host->name = arena_str(arena, borrowed.name);
    host->site = arena_str(arena, borrowed.site);
    host->lease = arena_str(arena, borrowed.lease);
    host->max = borrowed.n_held;
    host->used = borrowed.n_used;
    host->is_open = borrowed.is_open && !closed_has(&site->closed, borrowed.name);
}

/* Slots that have fallen free since the pass began are not for the jobs that it has
 * come to: others stand before them, and the next pass begins with those. Likewise
 * hosts that have come. */
static void hide_news(const struct schedule *schedule, struct place_host *hosts,
                      int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        const struct left *left = i < schedule->n_left ? &schedule->left[i] : NULL;
        bool is_known = left != NULL && strcmp(left->name, hosts[i].name) == 0 &&
                        strcmp(left->lease, hosts[i].lease) == 0;
        int n_free = is_known ? left->n_free : 0;
        if (hosts[i].max - hosts[i].used > n_free) {
            hosts[i].used = hosts[i].max - n_free;
        }
    }
}

static void keep_left(struct schedule *schedule, const struct place_snapshot *snapshot,
                      const struct place_plan *plan)
{
    schedule->n_left = schedule->is_passing ? snapshot->n_hosts : 0;
    if (schedule->n_left > schedule->left_capacity) {
        schedule->left_capacity = schedule->n_left;
        schedule->left = mem_grow(schedule->left, (size_t)schedule->left_capacity,
                                  sizeof(*schedule->left));
    }
    for (int i = 0; i < schedule->n_left; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        struct left *left = &schedule->left[i];
        snprintf(left->name, sizeof(left->name), "%s", host->name);
        snprintf(left->lease, sizeof(left->lease), "%s", host->lease);
        left->n_free = host->is_open ? host->max - plan->used[i] : 0;
    }
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

static void show_hosts(struct site *site, bool is_first,
                       struct place_snapshot *snapshot)
{
    struct arena *arena = &site->schedule->scratch;
    struct place_host *hosts = schedule_hosts(site, arena, &snapshot->n_hosts);
    if (!is_first) {
        hide_news(site->schedule, hosts, snapshot->n_hosts);
    }
    snapshot->hosts = hosts;
    needs_begin(site->needs, arena, site, hosts, snapshot->n_hosts);
}

/* Refused a moment ago, and nothing has changed since. */
static bool must_pause(struct schedule *schedule, const struct job *job, int64_t now_ms)
{
    if (job->retry_ms <= now_ms || job->retry_change != schedule->contract_changes) {
        return false;
    }
    schedule_retry(schedule, job->retry_ms);
    return true;
}

/* The next waiting jobs of the pass; true where there are more behind them. */
static bool show_jobs(struct site *site, int64_t now_ms,
                      struct place_snapshot *snapshot, struct job ***shown)
{
    struct schedule *schedule = site->schedule;
    int n_waiting = jobs_count_waiting(site->jobs);
    int at = jobs_waiting_behind(site->jobs, schedule->rank, schedule->key);
    int n_most =
        n_waiting - at < SCHEDULE_JOBS_MAX ? n_waiting - at : SCHEDULE_JOBS_MAX;
    struct place_job *jobs =
        arena_alloc(&schedule->scratch, (size_t)n_most, sizeof(*jobs));
    snapshot->jobs = jobs;
    *shown = arena_alloc(&schedule->scratch, (size_t)n_most, sizeof(**shown));
    for (int n_seen = 0; at < n_waiting && n_seen < SCHEDULE_JOBS_MAX; at++, n_seen++) {
        struct job *job = jobs_waiting_at(site->jobs, at);
        schedule->rank = job->rank;
        schedule->key = jobs_key(job);
        add_capped(&schedule->found.all, job->spec->n_slots);
        if (job->queue < 0) {
            job->place_reason = PLACE_NO_HOST;
        } else if (!must_pause(schedule, job, now_ms)) {
            (*shown)[snapshot->n_jobs] = job;
            jobs[snapshot->n_jobs++] = (struct place_job){
                .id = jobs_key(job),
                .queue = job->queue,
                .n_slots = job->spec->n_slots,
                .hosts_asked = job->spec->hosts_asked,
                .n_hosts_asked = job->spec->n_hosts_asked,
                .filter = needs_of(site->needs, job->queue, job->spec),
            };
        }
    }
    return at < n_waiting;
}

/* ---------------------------------------------------------------- the pass */

static void note_waiting(struct schedule *schedule,
                         const struct place_snapshot *snapshot,
                         const struct place_plan *plan)
{
    add_capped(&schedule->found.own, plan->waiting_own);
    for (int i = 0; i < snapshot->n_hosts; i++) {
        if (plan->waiting_lease[i] > 0) {
            add_lease(&schedule->found, snapshot->hosts[i].lease,
                      plan->waiting_lease[i]);
        }
    }
}

static void carry_out(struct site *site, struct job **shown, int n_shown,
                      const struct place_plan *plan, int64_t now_ms,
                      struct effects *effects)
{
    for (int i = 0; i < n_shown; i++) {
        shown[i]->place_reason = plan->reasons[i];
    }
    for (int i = 0; i < plan->n_starts; i++) {
        struct job *job = jobs_find(site->jobs, plan->starts[i].job);
        int *all = &site->schedule->found.all;
        *all = *all > job->spec->n_slots ? *all - job->spec->n_slots : 0;
        turns_start(site, job, &plan->starts[i], now_ms, effects);
    }
}

bool schedule_run(struct site *site, int64_t now_ms, struct effects *effects)
{
    struct schedule *schedule = site->schedule;
    if (schedule->retry_ms <= now_ms) {
        schedule->is_marked = true;
    }
    if (!schedule->is_marked && !schedule->is_passing) {
        return false;
    }
    bool is_first = !schedule->is_passing;
    if (is_first) {
        schedule->is_passing = true;
        schedule->is_marked = false;
        schedule->retry_ms = INT64_MAX;
        schedule->rank = -1;
        schedule->key = 0;
    }
    struct place_snapshot snapshot = {.queues = site->config->queues,
                                      .n_queues = site->config->n_queues};
    struct place_plan plan;
    arena_clear(&schedule->scratch);
    schedule_tell_use(site);
    show_hosts(site, is_first, &snapshot);
    struct job **shown; /* as in the snapshot */
    schedule->is_passing = show_jobs(site, now_ms, &snapshot, &shown);
    place_plan(&schedule->scratch, &snapshot, &plan);
    keep_left(schedule, &snapshot, &plan);
    note_waiting(schedule, &snapshot, &plan);
    carry_out(site, shown, snapshot.n_jobs, &plan, now_ms, effects);
    schedule_tell_use(site);
    if (!schedule->is_passing) {
        publish(schedule);
        provider_set_waiting(site->provider, schedule->shown.own);
    }
    return true;
}
