/* SPDX-License-Identifier: Apache-2.0 */
/* supply_map.c: the pools of a resource (rusage_ledger.h): each host's own, those of
 * ResourceMap, those that providers export; part of rusage_ledger_parts.h. A host has
 * at most one of each resource. */
#include <string.h>

#include "model/exported_resources.h"
#include "site/ledger/rusage_ledger_parts.h"

/* A pool of instances that a provider exports. */
struct borrowed_pool {
    const char *site;
    int number, pool;
};

static int64_t *grow(struct rusage_pass *pass, const int64_t *old, int capacity)
{
    int64_t *grown = arena_alloc(pass->arena, (size_t)capacity, sizeof(*grown));
    if (pass->n_pools > 0) {
        memcpy(grown, old, (size_t)pass->n_pools * sizeof(*grown));
    }
    return grown;
}

static int add_pool(struct rusage_pass *pass, int64_t milli)
{
    if (pass->n_pools == pass->pools_capacity) {
        int capacity = pass->pools_capacity * 2 + 64;
        pass->left = grow(pass, pass->left, capacity);
        pass->total = grow(pass, pass->total, capacity);
        pass->pools_capacity = capacity;
    }
    pass->left[pass->n_pools] = pass->total[pass->n_pools] = milli;
    return pass->n_pools++;
}

static int64_t to_milli(double number)
{
    const double most = (double)RESREQ_RUSAGE_MILLI_MAX;
    double milli = number * 1000;
    return (int64_t)(milli > most ? most : milli < -most ? -most : milli);
}

/* The number of the pool that the host's contracts give of the resource; 0: none. */
static int exported_pool(struct rusage_pass *pass, int index, const char *resource)
{
    struct consumer_host host;
    consumer_host_at(pass->from.consumer, index, &host);
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
    struct rusage_pass_resource *kind;
    int *of_place; /* by place of ResourceMap; -1 */
    struct borrowed_pool *borrowed;
    int n_borrowed;
};

static int *pool_at_place(struct finding *finding, struct rusage_pass *pass, int host)
{
    int place =
        host_resources_find_location(pass->from.facts, host, finding->kind->shown.id);
    if (place < 0) {
        return NULL;
    }
    if (!pass->from.config->facts.places[place].is_own) {
        finding->kind->is_shared = true;
    }
    return &finding->of_place[place];
}

static int *pool_of_provider(struct finding *finding, struct rusage_pass *pass,
                             int host)
{
    const char *provider = pass->hosts[host].site;
    int number = exported_pool(pass, host - host_table_count(pass->from.hosts),
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
static void find_pool(struct finding *finding, struct rusage_pass *pass, int host,
                      int row)
{
    const struct resource_table *table = host_resources_table(pass->from.facts);
    struct rusage_pass_resource *kind = finding->kind;
    bool is_own = pass->hosts[host].site[0] == '\0';
    if (kind->pool_of_row[row] >= 0 ||
        !resource_table_has(table, row, kind->shown.id)) {
        return; /* another lease of the same host; or it has none */
    }
    int *shared = is_own ? pool_at_place(finding, pass, host)
                         : pool_of_provider(finding, pass, host);
    int pool = shared != NULL ? *shared : -1;
    if (pool < 0) {
        pool =
            add_pool(pass, to_milli(resource_table_number(table, row, kind->shown.id)));
    }
    if (shared != NULL) {
        *shared = pool;
    }
    kind->pool_of_row[row] = pool;
}

void supply_map_find(struct rusage_pass *pass, struct rusage_pass_resource *kind)
{
    struct arena *arena = pass->arena;
    int n_places = pass->from.config->facts.n_places;
    int *pool_of = arena_alloc(arena, (size_t)pass->n_hosts, sizeof(*pool_of));
    struct finding finding = {.kind = kind};
    finding.of_place = arena_alloc(arena, (size_t)n_places, sizeof(int));
    finding.borrowed =
        arena_alloc(arena, (size_t)pass->n_hosts, sizeof(*finding.borrowed));
    kind->pool_of_row = arena_alloc(arena, (size_t)pass->n_rows, sizeof(int));
    memset(kind->pool_of_row, -1, (size_t)pass->n_rows * sizeof(int));
    memset(finding.of_place, -1, (size_t)n_places * sizeof(int));
    for (int i = 0; i < pass->n_hosts; i++) {
        int row = pass->rows[i];
        if (row >= 0) {
            find_pool(&finding, pass, i, row);
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

int64_t *supply_map_in_use(struct rusage_pass *pass, struct arena *arena)
{
    const struct resource_table *table = host_resources_table(pass->from.facts);
    int64_t *used = arena_alloc(arena, (size_t)pass->n_pools, sizeof(*used));
    for (int i = 0; i < pass->n_kinds; i++) {
        const struct rusage_pass_resource *kind = &pass->kinds[i];
        int most = most_of(kind->shown.id);
        for (int row = 0; most >= 0 && row < pass->n_rows; row++) {
            int pool = kind->pool_of_row[row];
            if (pool >= 0 && resource_table_has(table, row, most)) {
                int64_t milli = to_milli(resource_table_number(table, row, most)) -
                                pass->total[pool];
                used[pool] = milli > 0 ? milli : 0;
            }
        }
    }
    return used;
}
