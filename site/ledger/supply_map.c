/* SPDX-License-Identifier: Apache-2.0 */
/* supply_map.c: the pools of a resource (site_ledger.h): each host's own, those of
 * ResourceMap, those that providers export; part of rusage_ledger_parts.h. A host has
 * at maximum one of each resource. */
#include <string.h>

#include "model/exported_resources.h"
#include "site/ledger/rusage_ledger_parts.h"
#include "site/lifecycle/lifecycle.h"

/* ---------------------------------------------------------------- jobs */

/* True if the job has given back its slots and what is released with them. */
bool supply_map_is_yielded(const struct rusage_pass *pass, const struct job *job)
{
    return job->suspension.causes != 0 && job->suspension.yields &&
           lifecycle_is_suspended(pass->from.life, job);
}

bool supply_map_is_released(const struct rusage_pass *pass, const struct job *job,
                            int id)
{
    return rusage_ledger_is_released(pass->from.ledger, id) &&
           supply_map_is_yielded(pass, job);
}

int supply_map_row(const struct rusage_pass *pass, const char *lease, const char *host)
{
    return lease[0] == '\0'
               ? host_table_find(pass->from.hosts, host)
               : host_resources_find_borrowed(pass->from.host_resources, host);
}

/* ---------------------------------------------------------------- resources */

/* Called when first needed: most passes do not. */
static void list_rows(struct rusage_pass *pass)
{
    pass->rows = arena_alloc(pass->arena, (size_t)pass->n_hosts, sizeof(int));
    for (int i = 0; i < pass->n_hosts; i++) {
        const struct place_host *host = &pass->hosts[i];
        pass->rows[i] =
            host->site[0] == '\0'
                ? i
                : host_resources_find_borrowed(pass->from.host_resources, host->name);
    }
}

static void grow_resources(struct rusage_pass *pass)
{
    int capacity = pass->resources_capacity * 2 + 4;
    struct rusage_pass_resource *resources =
        arena_alloc(pass->arena, (size_t)capacity, sizeof(*resources));
    if (pass->n_resources > 0) {
        memcpy(resources, pass->resources,
               (size_t)pass->n_resources * sizeof(*resources));
    }
    pass->resources = resources;
    pass->resources_capacity = capacity;
}

struct rusage_pass_resource *supply_map_add_resource(struct rusage_pass *pass)
{
    if (pass->rows == NULL) {
        list_rows(pass);
    }
    if (pass->n_resources == pass->resources_capacity) {
        grow_resources(pass);
    }
    return &pass->resources[pass->n_resources++];
}

/* ---------------------------------------------------------------- supplies */

static int64_t *grow(struct rusage_pass *pass, const int64_t *old, int capacity)
{
    int64_t *grown = arena_alloc(pass->arena, (size_t)capacity, sizeof(*grown));
    if (pass->n_supplies > 0) {
        memcpy(grown, old, (size_t)pass->n_supplies * sizeof(*grown));
    }
    return grown;
}

int supply_map_add(struct rusage_pass *pass, int64_t milli)
{
    if (pass->n_supplies == pass->supplies_capacity) {
        int capacity = pass->supplies_capacity * 2 + 64;
        pass->left = grow(pass, pass->left, capacity);
        pass->total = grow(pass, pass->total, capacity);
        pass->supplies_capacity = capacity;
    }
    pass->left[pass->n_supplies] = pass->total[pass->n_supplies] = milli;
    return pass->n_supplies++;
}

static int64_t to_milli(double number)
{
    const double maximum = (double)RESREQ_RUSAGE_MILLI_MAX;
    double milli = number * 1000;
    return (int64_t)(milli > maximum ? maximum : milli < -maximum ? -maximum : milli);
}

/* The number of the supply that the host's contracts give of the resource; 0: none. */
static int exported_supply_number(const struct rusage_pass *pass, int index,
                                  const char *resource)
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
struct search {
    struct rusage_pass_resource *resource;
    int *of_place; /* by place of ResourceMap; -1 */
};

static int *supply_at_place(struct search *search, struct rusage_pass *pass, int host)
{
    int place = host_resources_find_location(pass->from.host_resources, host,
                                             search->resource->shown.id);
    if (place < 0) {
        return NULL;
    }
    if (!pass->from.config->resource_config.places[place].is_own) {
        search->resource->is_shared = true;
    }
    return &search->of_place[place];
}

static int *supply_of_provider(struct search *search, struct rusage_pass *pass,
                               int host)
{
    const char *provider = pass->hosts[host].site;
    int number = exported_supply_number(pass, host - host_table_count(pass->from.hosts),
                                        search->resource->shown.name);
    if (number == 0) {
        return NULL;
    }
    search->resource->is_shared = true;
    struct rusage_pass_resource *resource = search->resource;
    for (int i = resource->n_exported - 1; i >= 0; i--) {
        struct exported_supply *supply = &resource->exported[i];
        if (supply->number == number && strcmp(supply->site, provider) == 0) {
            return &supply->supply;
        }
    }
    struct exported_supply *added = &resource->exported[resource->n_exported++];
    *added = (struct exported_supply){provider, number, -1};
    return &added->supply;
}

/* Of a host, or of all that share it. */
static void find_supply(struct search *search, struct rusage_pass *pass, int host,
                        int row)
{
    const struct resource_table *table =
        host_resources_values(pass->from.host_resources);
    struct rusage_pass_resource *resource = search->resource;
    bool is_own = pass->hosts[host].site[0] == '\0';
    if (resource->supply_of_row[row] >= 0 ||
        !resource_table_has(table, row, resource->shown.id)) {
        return; /* another lease of the same host; or it has none */
    }
    int *shared = is_own ? supply_at_place(search, pass, host)
                         : supply_of_provider(search, pass, host);
    int supply = shared != NULL ? *shared : -1;
    if (supply < 0) {
        supply = supply_map_add(
            pass, to_milli(resource_table_number(table, row, resource->shown.id)));
    }
    if (shared != NULL) {
        *shared = supply;
    }
    resource->supply_of_row[row] = supply;
}

void supply_map_find(struct rusage_pass *pass, struct rusage_pass_resource *resource)
{
    struct arena *arena = pass->arena;
    int n_places = pass->from.config->resource_config.n_places;
    int *supply_of = arena_alloc(arena, (size_t)pass->n_hosts, sizeof(*supply_of));
    struct search search = {.resource = resource};
    search.of_place = arena_alloc(arena, (size_t)n_places, sizeof(int));
    resource->n_exported = 0;
    resource->exported =
        arena_alloc(arena, (size_t)pass->n_hosts, sizeof(*resource->exported));
    resource->supply_of_row = arena_alloc(arena, (size_t)pass->n_rows, sizeof(int));
    memset(resource->supply_of_row, -1, (size_t)pass->n_rows * sizeof(int));
    memset(search.of_place, -1, (size_t)n_places * sizeof(int));
    for (int i = 0; i < pass->n_hosts; i++) {
        int row = pass->rows[i];
        if (row >= 0) {
            find_supply(&search, pass, i, row);
        }
        supply_of[i] = row >= 0 ? resource->supply_of_row[row] : -1;
    }
    resource->shown.supply_of = supply_of;
}

/* ---------------------------------------------------------------- in use */

/* What a host has of what it tells the rest of; -1: nobody knows. */
static int maximum_of(int id)
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

int64_t supply_map_maximum(const struct rusage_pass *pass, int row, int id)
{
    const struct resource_table *table =
        host_resources_values(pass->from.host_resources);
    int maximum = maximum_of(id);
    return maximum >= 0 && resource_table_has(table, row, maximum)
               ? to_milli(resource_table_number(table, row, maximum))
               : -1;
}

int64_t *supply_map_in_use(const struct rusage_pass *pass, struct arena *arena)
{
    const struct resource_table *table =
        host_resources_values(pass->from.host_resources);
    int64_t *used = arena_alloc(arena, (size_t)pass->n_supplies, sizeof(*used));
    for (int i = 0; i < pass->n_resources; i++) {
        const struct rusage_pass_resource *resource = &pass->resources[i];
        int maximum = maximum_of(resource->shown.id);
        for (int row = 0; maximum >= 0 && row < pass->n_rows; row++) {
            int supply = resource->supply_of_row[row];
            if (supply >= 0 && resource_table_has(table, row, maximum)) {
                int64_t milli = to_milli(resource_table_number(table, row, maximum)) -
                                pass->total[supply];
                used[supply] = milli > 0 ? milli : 0;
            }
        }
    }
    return used;
}
