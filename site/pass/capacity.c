/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.c: see capacity.h. */
#include "site/pass/capacity.h"

#include <stdlib.h>
#include <string.h>

/* What the provider was last told of a host, and the host in its ledger. */
struct reported_host {
    const char *name; /* of the configuration; another one has other pointers */
    const struct ledger_host *ledger_host;
    int max, own, n_yielded;
    bool is_exclusive;
};

/* Of a host in a compute unit that an own job has exclusively. */
enum kept { KEPT_NOT, KEPT_BY_SUSPENDED, KEPT_BY_RUNNING };

struct kept_host {
    enum kept kept;
    uint64_t job;
};

struct capacity {
    struct capacity_parts parts;
    struct arena scratch;
    struct kept_host *kept;         /* by host */
    int n_kept;                     /* 0: of none */
    struct reported_host *reported; /* by host */
    int n_reported;
};

struct capacity *capacity_new(const struct capacity_parts *parts)
{
    struct capacity *capacity = mem_alloc(1, sizeof(*capacity));
    capacity->parts = *parts;
    arena_init(&capacity->scratch);
    return capacity;
}

void capacity_free(struct capacity *capacity)
{
    if (capacity != NULL) {
        arena_release(&capacity->scratch);
        free(capacity->kept);
        free(capacity->reported);
        free(capacity);
    }
}

void capacity_reload(struct capacity *capacity, const struct site_config *config,
                     const struct resreq_cache *resreq_cache)
{
    capacity->parts.config = config;
    capacity->parts.resreq_cache = resreq_cache;
    capacity->n_kept = 0; /* indexes of hosts have changed */
}

/* A suspended exclusive job holds its hosts unless PREEMPT_JOBTYPE allows otherwise. */
static bool is_held_by_suspended(const struct capacity_parts *parts, int host)
{
    return !parts->config->preempt.has_exclusive &&
           run_table_use(runs_table(parts->runs), host)->n_exclusive_suspended > 0;
}

/* ---------------------------------------------------------------- compute units */

static enum kept kept_of(const struct capacity *capacity, int host)
{
    return host < capacity->n_kept ? capacity->kept[host].kept : KEPT_NOT;
}

/* Marks the units of that type that have a host of the job. */
static void keep_units(struct capacity *capacity, const struct job *job, int type,
                       bool *is_marked)
{
    const struct compute_units *units = &capacity->parts.config->units;
    const struct compute_unit_type *of_type = &units->of_type[type];
    enum kept kept = job->state == JOB_RUN ? KEPT_BY_RUNNING : KEPT_BY_SUSPENDED;
    for (int i = 0; i < job->n_hosts; i++) {
        int unit = compute_unit_of(units, type, job->hosts[i].host);
        if (unit >= 0) {
            is_marked[unit] = true;
        }
    }
    for (int i = 0; i < of_type->n_hosts; i++) {
        int host = host_table_find(capacity->parts.hosts, of_type->hosts[i].name);
        if (is_marked[of_type->hosts[i].unit] && host >= 0 &&
            capacity->kept[host].kept < kept) {
            capacity->kept[host] = (struct kept_host){kept, job_key(job)};
        }
    }
}

static void find_kept(struct capacity *capacity)
{
    const struct capacity_parts *parts = &capacity->parts;
    const struct compute_units *units = &parts->config->units;
    int n_hosts = host_table_count(parts->hosts);
    capacity->n_kept = 0;
    for (int i = 0; units->types.n_names > 0 && i < job_table_count_open(parts->jobs);
         i++) {
        const struct job *job = job_table_open_at_const(parts->jobs, i);
        if (job->lease[0] != '\0' || job->n_hosts == 0 || job->queue < 0) {
            continue;
        }
        arena_clear(&capacity->scratch);
        int type = resreq_cache_exclusive_units(parts->resreq_cache, &capacity->scratch,
                                                job->queue, job->spec);
        if (type < 0) {
            continue;
        }
        if (capacity->n_kept == 0) {
            free(capacity->kept);
            capacity->kept = mem_alloc((size_t)n_hosts, sizeof(*capacity->kept));
            capacity->n_kept = n_hosts;
        }
        keep_units(capacity, job, type,
                   arena_alloc(&capacity->scratch, (size_t)units->of_type[type].n_units,
                               sizeof(bool)));
    }
}

/* ---------------------------------------------------------------- own hosts */

bool capacity_is_used_exclusively(const struct capacity *capacity, int host)
{
    return kept_of(capacity, host) != KEPT_NOT ||
           run_table_use(runs_table(capacity->parts.runs), host)->n_exclusive > 0 ||
           is_held_by_suspended(&capacity->parts, host);
}

const struct ledger_host *capacity_ledger_host(const struct capacity *capacity,
                                               int index)
{
    const char *name = host_table_name(capacity->parts.hosts, index);
    bool is_known =
        index < capacity->n_reported && capacity->reported[index].name == name;
    return is_known ? capacity->reported[index].ledger_host
                    : provider_host(capacity->parts.provider, name);
}

/* Reports changes only: there are thousands of hosts, and each pass calls this twice.
 */
void capacity_sync_provider(struct capacity *capacity)
{
    const struct capacity_parts *parts = &capacity->parts;
    const struct run_table *runs = runs_table(parts->runs);
    int n_hosts = host_table_count(parts->hosts);
    find_kept(capacity);
    if (capacity->n_reported < n_hosts) {
        capacity->reported =
            mem_grow(capacity->reported, (size_t)n_hosts, sizeof(*capacity->reported));
    }
    for (int i = 0; i < n_hosts; i++) {
        const char *name = host_table_name(parts->hosts, i);
        const struct run_table_use *use = run_table_use(runs, i);
        int max = host_table_max(parts->hosts, i), n_yielded = use->own_suspended;
        int own = use->own + host_table_foreign(parts->hosts, i);
        struct reported_host *reported = &capacity->reported[i];
        bool is_exclusive = capacity_is_used_exclusively(capacity, i);
        bool is_known = i < capacity->n_reported && reported->name == name;
        if (!is_known || reported->max != max || reported->own != own) {
            provider_set_local_used(parts->provider, name, max, own);
        }
        if (!is_known || reported->n_yielded != n_yielded) {
            provider_set_local_yielded(parts->provider, name, n_yielded);
        }
        if (!is_known || reported->is_exclusive != is_exclusive) {
            provider_set_used_exclusively(parts->provider, name, is_exclusive);
        }
        *reported = (struct reported_host){
            name,
            is_known ? reported->ledger_host : capacity_ledger_host(capacity, i),
            max,
            own,
            n_yielded,
            is_exclusive};
    }
    capacity->n_reported = n_hosts;
}

static void set_own(const struct capacity *capacity, int index, int64_t local_ms,
                    struct place_host *host)
{
    const struct capacity_parts *parts = &capacity->parts;
    const struct run_table_use *use = run_table_use(runs_table(parts->runs), index);
    host->name = host_table_name(parts->hosts, index);
    host->site = host->lease = "";
    host->dispatched_ms = accept_times_get(parts->accept_times, host->name);
    host->used = use->own + host_table_foreign(parts->hosts, index);
    const struct ledger_host *ledger_host = capacity_ledger_host(capacity, index);
    const struct provider_host_slots slots = provider_host_slots(
        ledger_host, host_table_max(parts->hosts, index), host->used);
    host->max = slots.local_max;
    if (host_table_leaving_max(parts->hosts, index) > 0) {
        host->n_resume_slots = provider_host_local_max(
            ledger_host, host_table_leaving_max(parts->hosts, index), host->used);
    }
    host->is_unreported = !host_table_is_usable(parts->hosts, index);
    host->is_open = !host->is_unreported && !parts->config->hosts[index].is_leaving &&
                    !parts->config->is_slurm &&
                    !host_admin_is_closed(parts->host_admin, host->name) &&
                    !host_table_is_window_closed(parts->hosts, index, local_ms);
    enum kept kept = kept_of(capacity, index);
    host->unit_of = kept != KEPT_NOT ? capacity->kept[index].job : 0;
    host->is_used_exclusively = kept == KEPT_BY_RUNNING || use->n_exclusive > 0;
    bool is_lent = slots.lent > 0;
    host->is_idle = host->used + use->consumers == 0 && !is_lent;
    if (host->used + use->consumers + use->consumers_suspended == 0 && is_lent &&
        !provider_host_is_changing(ledger_host)) {
        host->n_resume_alone = host_table_max(parts->hosts, index) -
                               provider_host_lent_for_good(ledger_host) + 1;
    }
    host->n_suspended = use->own_suspended;
    host->is_held = kept == KEPT_BY_SUSPENDED || is_held_by_suspended(parts, index);
    host->has_foreign_jobs = use->consumers + use->consumers_suspended > 0;
    host->is_shared = host->has_foreign_jobs ||
                      (use->own_suspended > 0 && !parts->config->preempt.has_exclusive);
}

static void set_borrowed(const struct capacity_parts *parts, int index,
                         struct arena *arena, struct place_host *host)
{
    struct consumer_host borrowed;
    consumer_host_at(parts->consumer, index, &borrowed);
    host->name = arena_str(arena, borrowed.name);
    host->site = arena_str(arena, borrowed.site);
    host->lease = arena_str(arena, borrowed.lease);
    host->dispatched_ms = accept_times_get(parts->accept_times, host->name);
    host->max = borrowed.n_held;
    host->n_lease_slots = borrowed.n_slots;
    host->is_lease_unmade = !borrowed.is_made && !borrowed.is_exclusive;
    host->used = borrowed.n_used;
    host->is_unreported = borrowed.is_unreachable;
    host->is_open =
        borrowed.is_open && !host_admin_is_closed(parts->host_admin, borrowed.name);
    host->is_batch_only = !borrowed.takes_interactive;
    host->queues = borrowed.queues; /* contracts do not change within a pass */
    host->n_queues = borrowed.n_queues;
}

struct place_host *capacity_hosts(const struct capacity *capacity, struct arena *arena,
                                  int64_t local_ms, int *n_hosts)
{
    const struct capacity_parts *parts = &capacity->parts;
    int n_own = host_table_count(parts->hosts);
    *n_hosts = n_own + consumer_count_hosts(parts->consumer);
    struct place_host *hosts = arena_alloc(arena, (size_t)*n_hosts, sizeof(*hosts));
    for (int i = 0; i < n_own; i++) {
        set_own(capacity, i, local_ms, &hosts[i]);
    }
    for (int i = n_own; i < *n_hosts; i++) {
        set_borrowed(parts, i - n_own, arena, &hosts[i]);
    }
    return hosts;
}

const struct affinity_host *capacity_affinity(const struct capacity *capacity,
                                              struct arena *arena, int n_hosts)
{
    const struct host_table *own = capacity->parts.hosts;
    struct affinity_host *hosts = NULL;
    for (int i = 0; i < host_table_count(own); i++) {
        const struct cpu_topology *topology = host_table_topology(own, i);
        if (topology != NULL && hosts == NULL) {
            hosts = arena_alloc(arena, (size_t)n_hosts, sizeof(*hosts));
        }
        if (topology != NULL) {
            hosts[i].topology = topology;
        }
    }
    if (hosts != NULL) {
        run_table_bound(runs_table(capacity->parts.runs), arena, hosts);
    }
    return hosts;
}

int capacity_find_host(const struct host_table *own, const struct place_host *hosts,
                       int n_hosts, const char *lease, const char *name)
{
    if (lease[0] == '\0') {
        return host_table_find(own, name);
    }
    for (int i = host_table_count(own); i < n_hosts; i++) {
        if (strcmp(hosts[i].name, name) == 0 && strcmp(hosts[i].lease, lease) == 0) {
            return i;
        }
    }
    return -1;
}

int *capacity_find_hosts(const struct host_table *own, struct arena *arena,
                         const struct place_host *hosts, int n_hosts, const char *lease,
                         const struct host_slots *slots, int n_slots)
{
    int *indexes = arena_alloc(arena, (size_t)n_slots, sizeof(*indexes));
    for (int i = 0; i < n_slots; i++) {
        indexes[i] = capacity_find_host(own, hosts, n_hosts, lease, slots[i].host);
    }
    return indexes;
}
