/* SPDX-License-Identifier: Apache-2.0 */
/* lease_resources.c: see site_resource.h. */
#include "site/resource/site_resource.h"

#include <stdlib.h>
#include <string.h>

#include "model/exported_resources.h"

/* ---------------------------------------------------------------- as a provider */

void lease_resources_update_host(struct lease_resources *lease_resources, int host)
{
    int64_t mib[SPACES];
    for (int kind = 0; kind < SPACES; kind++) {
        mib[kind] = host_resources_space(lease_resources->parts.host_resources, host,
                                         (enum space_kind)kind);
    }
    provider_set_spaces(lease_resources->parts.provider,
                        lease_resources->parts.config->hosts[host].name, mib);
}

static void lower_spaces(struct lease_resources *lease_resources)
{
    for (int i = 0; i < lease_resources->parts.config->n_hosts; i++) {
        for (int kind = 0; kind < SPACES; kind++) {
            int64_t mib = provider_space(lease_resources->parts.provider,
                                         lease_resources->parts.config->hosts[i].name,
                                         (enum space_kind)kind);
            host_resources_set_exported(lease_resources->parts.host_resources, i,
                                        (enum space_kind)kind, mib);
        }
    }
}

/* Pools are listed by resource, then by number. */
static int compare_pool(const struct provider_pool *pool, const char *resource,
                        int number)
{
    int order = strcmp(pool->resource, resource);
    return order != 0 ? order : pool->pool - number;
}

/* Instances of a pool that all consumers have. */
static int64_t sum_pool(const struct provider_pool *pools, int n_pools,
                        const char *resource, int number)
{
    int low = 0, high = n_pools;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_pool(&pools[middle], resource, number) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int64_t n_instances = 0;
    for (; low < n_pools && compare_pool(&pools[low], resource, number) == 0; low++) {
        n_instances += pools[low].n_instances;
    }
    return n_instances;
}

/* The locations of a resource are adjacent; they are its pools 1, 2, ... */
static void lower_pools(struct lease_resources *lease_resources, struct arena *arena)
{
    const struct resource_config *definitions =
        &lease_resources->parts.config->resource_config;
    struct provider_pool *pools;
    int n_pools = provider_list_pools(lease_resources->parts.provider, arena, &pools),
        number = 0;
    for (int i = 0; i < definitions->n_places; i++) {
        const char *resource = definitions->places[i].name;
        bool is_next = i > 0 && strcmp(definitions->places[i - 1].name, resource) == 0;
        number = is_next ? number + 1 : 1;
        host_resources_set_location_exported(
            lease_resources->parts.host_resources, i,
            sum_pool(pools, n_pools, resource, number));
    }
}

/* ---------------------------------------------------------------- as a consumer */

static const int granted_ids[SPACES][2] = {
    [SPACE_MEM] = {RESOURCE_MEM, RESOURCE_MAXMEM},
    [SPACE_SWP] = {RESOURCE_SWP, RESOURCE_MAXSWP},
};

static int compare_names(const void *left, const void *right)
{
    const struct consumer_host *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

/* The leases of one host, and what they grant together. */
struct giving {
    const struct resources *resources;
    const struct consumer_host *leases;
    int n_leases;
    struct contract_resource *grants;
    int n_grants;
};

static void add_spaces(struct giving *giving)
{
    for (int kind = 0; kind < SPACES; kind++) {
        int64_t mib = 0;
        int n_given = 0;
        for (int i = 0; i < giving->n_leases; i++) {
            n_given += giving->leases[i].spaces[kind].is_given;
            mib += giving->leases[i].spaces[kind].mib;
        }
        for (int side = 0; side < 2 && n_given > 0; side++) {
            giving->grants[giving->n_grants++] = (struct contract_resource){
                .id = granted_ids[kind][side],
                .number = (double)mib,
                .is_on_top = n_given < giving->n_leases,
            };
        }
    }
}

static int find_resource(const struct resources *resources,
                         const struct lease_resource *resource)
{
    int id = resources_find(resources, resource->name, strlen(resource->name));
    return id >= RESOURCE_BUILTINS ? id : -1;
}

/* This site defines the resource as its provider does. */
static bool is_alike(const struct resources *resources, int id,
                     const struct lease_resource *resource)
{
    return id >= 0 && resources_at(resources, id)->type == RESOURCE_NUMERIC &&
           resource_config_traits(resources_at(resources, id)) == resource->traits;
}

/* A host is in one pool of a resource: several leases of it have the same one. */
static bool has_grant(const struct giving *giving, int id)
{
    for (int i = 0; i < giving->n_grants; i++) {
        if (giving->grants[i].id == id) {
            return true;
        }
    }
    return false;
}

static void add_resource(struct giving *giving, const struct lease_resource *resource)
{
    int id = find_resource(giving->resources, resource);
    if (id >= 0 && !has_grant(giving, id)) {
        giving->grants[giving->n_grants++] = (struct contract_resource){
            .id = id,
            .number = resource->n_instances,
            .is_absent = !is_alike(giving->resources, id, resource),
        };
    }
}

static void add_resources(struct giving *giving)
{
    for (int i = 0; i < giving->n_leases; i++) {
        const struct consumer_host *lease = &giving->leases[i];
        for (int k = 0; k < lease->n_resources; k++) {
            if (exported_resources_is_seen_from(&lease->resources[k], lease->host)) {
                add_resource(giving, &lease->resources[k]);
            }
        }
    }
}

static void grant_host(struct lease_resources *lease_resources, struct arena *arena,
                       const struct consumer_host *leases, int n_leases)
{
    size_t n_max = (size_t)2 * SPACES;
    for (int i = 0; i < n_leases; i++) {
        n_max += (size_t)leases[i].n_resources;
    }
    struct giving giving = {
        .resources = host_resources_catalogue(lease_resources->parts.host_resources),
        .leases = leases,
        .n_leases = n_leases,
        .grants = arena_alloc(arena, n_max, sizeof(*giving.grants)),
    };
    add_spaces(&giving);
    add_resources(&giving);
    borrowed_resources_set_granted(
        host_resources_borrowed(lease_resources->parts.host_resources), leases[0].name,
        giving.grants, giving.n_grants);
}

static void grant_borrowed(struct lease_resources *lease_resources, struct arena *arena)
{
    int n_hosts = consumer_count_hosts(lease_resources->parts.consumer);
    struct consumer_host *hosts = arena_alloc(arena, (size_t)n_hosts, sizeof(*hosts));
    for (int i = 0; i < n_hosts; i++) {
        consumer_host_at(lease_resources->parts.consumer, i, &hosts[i]);
    }
    if (n_hosts > 0) {
        qsort(hosts, (size_t)n_hosts, sizeof(*hosts), compare_names);
    }
    for (int i = 0, n; i < n_hosts; i += n) {
        for (n = 1; i + n < n_hosts && strcmp(hosts[i].name, hosts[i + n].name) == 0;
             n++) {
        }
        grant_host(lease_resources, arena, &hosts[i], n);
    }
}

/* Warns of resources that both sites define differently. */
static void judge_resources(const struct lease_resources *lease_resources,
                            struct effects *effects)
{
    struct msg_contract contract;
    for (int i = 0; i < consumer_count_contracts(lease_resources->parts.consumer);
         i++) {
        if (!consumer_contract_at(lease_resources->parts.consumer, i, &contract)) {
            continue;
        }
        for (int k = 0; k < contract.n_resources; k++) {
            const struct lease_resource *resource = &contract.resources[k];
            int id = find_resource(
                host_resources_catalogue(lease_resources->parts.host_resources),
                resource);
            if (!is_alike(
                    host_resources_catalogue(lease_resources->parts.host_resources), id,
                    resource)) {
                effects_log(
                    effects, LOG_LEVEL_WARNING,
                    "lease %s exports resource \"%s\", which is defined differently "
                    "here: not used, expected in section Resource: TYPE Numeric, "
                    "INTERVAL %s, INCREASING %s, CONSUMABLE %s, RELEASE %s",
                    contract.lease, resource->name,
                    resource->traits & TRAIT_DYNAMIC ? "set" : "()",
                    resource->traits & TRAIT_INCREASING ? "Y" : "N",
                    resource->traits & TRAIT_CONSUMABLE ? "Y" : "N",
                    resource->traits & TRAIT_RELEASED ? "Y" : "N");
            }
        }
    }
}

/* ---------------------------------------------------------------- when */

void lease_resources_refresh(struct lease_resources *lease_resources,
                             struct effects *effects)
{
    uint64_t n_provider = provider_changes(lease_resources->parts.provider);
    uint64_t n_consumer = consumer_changes(lease_resources->parts.consumer);
    bool is_other = false;
    if (!lease_resources->is_fresh || lease_resources->n_provider != n_provider) {
        lower_spaces(lease_resources);
        lower_pools(lease_resources, &effects->arena);
        is_other = true;
    }
    if (!lease_resources->is_fresh || lease_resources->n_consumer != n_consumer) {
        grant_borrowed(lease_resources, &effects->arena);
        judge_resources(lease_resources, effects);
        is_other = true;
    }
    lease_resources->is_fresh = true;
    lease_resources->n_provider = n_provider;
    lease_resources->n_consumer = n_consumer;
    if (is_other) {
        pass_request_set(lease_resources->parts.pass_request);
    }
}

void lease_resources_reload(struct lease_resources *lease_resources,
                            const struct site_config *config,
                            struct host_resources *host_resources)
{
    lease_resources->parts.config = config;
    lease_resources->parts.host_resources = host_resources;
    lease_resources->is_fresh = false;
}
