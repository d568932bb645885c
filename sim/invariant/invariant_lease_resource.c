/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_lease_resource.c: shared resources and memory of leases (8): summed over a
 * site's ledger when it has changed, and compared with the configured exports and with
 * what ResourceMap and the hosts have. An excess may remain from earlier, but must not
 * grow. A journal that is restored from a copy may have had an excess itself. */
#include "sim/invariant/invariant_state.h"

#include <stdio.h>

#include "provider/export/export.h"
#include "provider/provider.h"

enum { EXPORTED = 0 }; /* as the number of a pool: the sum of all pools of a resource */

static void format_key(char *key, const char *site, const char *of, const char *what)
{
    invariant_state_key(key, site, of, what);
}

/* `has` -1: unknown. */
static bool check_sum(struct invariants *invariants, const struct seen_site *of,
                      const char *key, int64_t sum, int64_t has,
                      struct invariants_text *text)
{
    if (sum == 0) {
        return true; /* most hosts export only slots */
    }
    struct seen_lease_resource *seen =
        invariant_state_see(&invariants->lease_resources, key, sizeof *seen);
    bool was_there = seen->check + 1 >= of->n_checks;
    bool is_copy = of->is_restored && of->n_checks == of->restored_checks + 1;
    int64_t before = is_copy ? sum : was_there ? seen->sum : 0;

    seen->sum = sum;
    seen->check = of->n_checks;
    return has < 0 || sum <= has || sum <= before ||
           invariant_state_fail(text, "%s: leases have %lld of %lld, and had %lld", key,
                                (long long)sum, (long long)has, (long long)before);
}

/* ---- shared resources */

static int64_t count_exported(const struct site_config *config, const char *resource)
{
    int64_t n = 0;

    for (int i = 0; i < config->exports.n_shared; i++) {
        if (!strcmp(config->exports.shared[i].name, resource)) {
            n += config->exports.shared[i].n_instances;
        }
    }
    return n;
}

/* The amount in ResourceMap; -1: it is measured, or no longer configured. */
static int64_t count_placed(const struct site_config *config, const char *resource,
                            int pool)
{
    int number = 0;

    for (int i = 0; i < config->resource_config.n_places; i++) {
        const struct resource_location *place = &config->resource_config.places[i];

        if (!strcmp(place->name, resource) && ++number == pool) {
            return place->value ? strtoll(place->value, NULL, 10) : -1;
        }
    }
    return -1;
}

/* Checks a pool, or the whole resource if the pool is EXPORTED. */
static bool check_pool(struct invariants *invariants, const struct seen_site *of,
                       const struct invariants_site *site,
                       const struct provider_pool *pools, int n_pools,
                       const char *resource, int pool, struct invariants_text *text)
{
    char key[INVARIANTS_KEY_SIZE], place[24];
    int64_t sum = 0;

    for (int i = 0; i < n_pools; i++) {
        if (!strcmp(pools[i].resource, resource) &&
            (pool == EXPORTED || pools[i].pool == pool)) {
            sum += pools[i].n_instances;
        }
    }
    snprintf(place, sizeof place, pool == EXPORTED ? "exported" : "of place %d", pool);
    format_key(key, site->config->name, resource, place);
    return check_sum(invariants, of, key, sum,
                     pool == EXPORTED ? count_exported(site->config, resource)
                                      : count_placed(site->config, resource, pool),
                     text);
}

static bool check_resources(struct invariants *invariants, const struct seen_site *of,
                            const struct invariants_site *site, struct arena *arena,
                            struct invariants_text *text)
{
    struct provider_pool *pools;
    int n_pools = provider_list_pools(site_provider(site->site), arena, &pools);
    bool is_well = true;

    for (int i = 0; i < n_pools && is_well; i++) {
        const char *resource = pools[i].resource;

        is_well = check_pool(invariants, of, site, pools, n_pools, resource, EXPORTED,
                             text) &&
                  check_pool(invariants, of, site, pools, n_pools, resource,
                             pools[i].pool, text);
    }
    return is_well;
}

/* ---- memory and swap space */

static const char *const space_words[SPACES] = {
    [SPACE_MEM] = "maxmem",
    [SPACE_SWP] = "maxswp",
};

static bool check_spaces(struct invariants *invariants, const struct seen_site *of,
                         const struct invariants_site *site,
                         struct invariants_text *text)
{
    const struct provider *provider = site_provider(site->site);
    const struct site_config *config = site->config;
    char key[INVARIANTS_KEY_SIZE];
    bool is_well = true;

    for (int i = 0; i < config->n_hosts; i++) {
        for (int kind = 0; kind < SPACES && is_well; kind++) {
            int64_t sum =
                provider_space(provider, config->hosts[i].name, (enum space_kind)kind);
            int64_t has = provider_known_space(provider, config->hosts[i].name,
                                               (enum space_kind)kind);

            format_key(key, config->name, config->hosts[i].name, space_words[kind]);
            is_well = check_sum(invariants, of, key, sum, has, text);
        }
    }
    return is_well;
}

bool invariant_lease_resource_check(struct invariants *invariants,
                                    const struct invariants_site *site,
                                    struct invariants_text *text)
{
    struct seen_site *of = invariant_state_site(invariants, site->config->name);
    struct arena arena;

    of->n_checks++;
    arena_init(&arena);
    bool is_well = check_resources(invariants, of, site, &arena, text) &&
                   check_spaces(invariants, of, site, text);
    arena_release(&arena);
    return is_well;
}
