/* SPDX-License-Identifier: Apache-2.0 */
/* reserves_pools.c: the pools of a resource (reserves.h): each host's own, those of
 * ResourceMap, those that providers export; part of reserves_parts.h. A host has at
 * most one of each resource. */
#include <string.h>

#include "model/exported_resources.h"
#include "site/reserves_parts.h"

/* A pool of instances that a provider exports. */
struct borrowed_pool {
    const char *site;
    int number, pool;
};

static int64_t *grow(const struct reserves *reserves, const int64_t *old, int capacity)
{
    int64_t *grown = arena_alloc(reserves->arena, (size_t)capacity, sizeof(*grown));
    if (reserves->n_pools > 0) {
        memcpy(grown, old, (size_t)reserves->n_pools * sizeof(*grown));
    }
    return grown;
}

static int add_pool(struct reserves *reserves, int64_t milli)
{
    if (reserves->n_pools == reserves->pools_capacity) {
        int capacity = reserves->pools_capacity * 2 + 64;
        reserves->left = grow(reserves, reserves->left, capacity);
        reserves->total = grow(reserves, reserves->total, capacity);
        reserves->pools_capacity = capacity;
    }
    reserves->left[reserves->n_pools] = reserves->total[reserves->n_pools] = milli;
    return reserves->n_pools++;
}

static int64_t to_milli(double number)
{
    const double most = (double)RESREQ_RUSAGE_MILLI_MAX;
    double milli = number * 1000;
    return (int64_t)(milli > most ? most : milli < -most ? -most : milli);
}

/* The number of the pool that the host's contracts give of the resource; 0: none. */
static int exported_pool(const struct site *site, int index, const char *resource)
{
    struct consumer_host host;
    consumer_host_at(site->consumer, index, &host);
    for (int i = 0; i < host.n_resources; i++) {
        if (strcmp(host.resources[i].name, resource) == 0 &&
            exported_resources_is_seen_from(&host.resources[i], host.host)) {
            return host.resources[i].pool;
        }
    }
    return 0;
}

/* What a resource is made of while its pools are found. */
struct finding {
    struct reserves_kind *kind;
    int *of_place; /* by place of ResourceMap; -1 */
    struct borrowed_pool *borrowed;
    int n_borrowed;
};

static int *pool_at_place(struct finding *finding, const struct site *site, int host)
{
    int place = facts_place_of(site->facts, host, finding->kind->shown.id);
    if (place < 0) {
        return NULL;
    }
    if (!site->config->facts.places[place].is_own) {
        finding->kind->is_shared = true;
    }
    return &finding->of_place[place];
}

static int *pool_of_provider(struct finding *finding, const struct site *site, int host)
{
    const char *provider = site->reserves->hosts[host].site;
    int number = exported_pool(site, host - host_table_count(site->hosts),
                               finding->kind->shown.name);
    if (number == 0) {
        return NULL;
    }
    finding->kind->is_shared = true;
    for (int i = finding->n_borrowed - 1; i >= 0; i--) {
        struct borrowed_pool *pool = &finding->borrowed[i];
        if (pool->number == number && strcmp(pool->site, provider) == 0) {
            return &pool->pool;
        }
    }
    struct borrowed_pool *added = &finding->borrowed[finding->n_borrowed++];
    *added = (struct borrowed_pool){provider, number, -1};
    return &added->pool;
}

/* Of a host, or of all that share it. */
static void find_pool(struct finding *finding, const struct site *site, int host,
                      int row)
{
    struct reserves *reserves = site->reserves;
    const struct resource_table *table = facts_table(site->facts);
    struct reserves_kind *kind = finding->kind;
    bool is_own = reserves->hosts[host].site[0] == '\0';
    if (kind->pool_of_row[row] >= 0 ||
        !resource_table_has(table, row, kind->shown.id)) {
        return; /* another lease of the same host; or it has none */
    }
    int *shared = is_own ? pool_at_place(finding, site, host)
                         : pool_of_provider(finding, site, host);
    int pool = shared != NULL ? *shared : -1;
    if (pool < 0) {
        pool = add_pool(reserves,
                        to_milli(resource_table_number(table, row, kind->shown.id)));
    }
    if (shared != NULL) {
        *shared = pool;
    }
    kind->pool_of_row[row] = pool;
}

void reserves_find_pools(const struct site *site, struct reserves_kind *kind)
{
    struct reserves *reserves = site->reserves;
    struct arena *arena = reserves->arena;
    int n_places = site->config->facts.n_places;
    int *pool_of = arena_alloc(arena, (size_t)reserves->n_hosts, sizeof(*pool_of));
    struct finding finding = {.kind = kind};
    finding.of_place = arena_alloc(arena, (size_t)n_places, sizeof(int));
    finding.borrowed =
        arena_alloc(arena, (size_t)reserves->n_hosts, sizeof(*finding.borrowed));
    kind->pool_of_row = arena_alloc(arena, (size_t)reserves->n_rows, sizeof(int));
    memset(kind->pool_of_row, -1, (size_t)reserves->n_rows * sizeof(int));
    memset(finding.of_place, -1, (size_t)n_places * sizeof(int));
    for (int i = 0; i < reserves->n_hosts; i++) {
        int row = reserves->rows[i];
        if (row >= 0) {
            find_pool(&finding, site, i, row);
        }
        pool_of[i] = row >= 0 ? kind->pool_of_row[row] : -1;
    }
    kind->shown.supply_of = pool_of;
}

/* ---------------------------------------------------------------- in use */

/* What a host has of what it tells the rest of; -1: nobody knows. */
static int most_of(int id)
{
    switch (id) {
    case RESOURCE_MEM:
        return RESOURCE_MAXMEM;
    case RESOURCE_SWP:
        return RESOURCE_MAXSWP;
    case RESOURCE_TMP:
        return RESOURCE_MAXTMP;
    default:
        return -1;
    }
}

int64_t *reserves_in_use(const struct site *site, struct arena *arena)
{
    const struct reserves *reserves = site->reserves;
    const struct resource_table *table = facts_table(site->facts);
    int64_t *used = arena_alloc(arena, (size_t)reserves->n_pools, sizeof(*used));
    for (int i = 0; i < reserves->n_kinds; i++) {
        const struct reserves_kind *kind = &reserves->kinds[i];
        int most = most_of(kind->shown.id);
        for (int row = 0; most >= 0 && row < reserves->n_rows; row++) {
            int pool = kind->pool_of_row[row];
            if (pool >= 0 && resource_table_has(table, row, most)) {
                int64_t milli = to_milli(resource_table_number(table, row, most)) -
                                reserves->total[pool];
                used[pool] = milli > 0 ? milli : 0;
            }
        }
    }
    return used;
}

/* It stood still when its host last spoke of it. While a host has to say it anew what
 * it gave back may be another's already: a pass takes care, and who looks is told the
 * truth. */
static bool was_still(const struct job *job)
{
    return job->halt.causes != 0 && job->halt.yields &&
           (job->state == JOB_SSUSP || job->state == JOB_USUSP ||
            job->state == JOB_UNKWN);
}

/* What the job reserves now on each host of an item that it has not given back. */
static void list_job(const struct site *site, const struct job *job,
                     reserves_held_fn fn, void *arg)
{
    const struct resreq_rusage *usage = reserves_usage_of(site, job->ledger);
    for (int i = 0; i < usage->n_items; i++) {
        const struct resreq_rusage_item *item = &usage->items[i];
        if (reserves_is_released(site, item->id) && was_still(job)) {
            continue;
        }
        int64_t ms = job->start_ms != 0 ? site->now_ms - job->start_ms : 0;
        for (int k = 0; k < job->n_hosts; k++) {
            int64_t n_times =
                rusage_supply_times(item->scope, job->hosts[k].n_slots, k == 0);
            const struct reserves_held held = {
                .resource = resources_at(facts_resources(site->facts), item->id)->name,
                .host = job->hosts[k].host,
                .lease = job->lease,
                .epoch = job->epoch,
                .milli = n_times * resreq_rusage_milli(item, ms),
            };
            if (held.milli > 0) {
                fn(arg, &held);
            }
        }
    }
}

void reserves_list(const struct site *site, reserves_held_fn fn, void *arg)
{
    for (int i = 0; i < job_table_count_open(site->jobs); i++) {
        const struct job *job = job_table_open_at(site->jobs, i);
        if (job->ledger != NULL) {
            list_job(site, job, fn, arg);
        }
    }
}
