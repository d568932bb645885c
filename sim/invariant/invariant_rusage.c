/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_rusage.c: resources that unfinished jobs reserve (9), summed independently
 * over configured, exported and borrowed supplies according to contracts and ledgers.
 */
#include "sim/invariant/invariant_state.h"

#include <string.h>

#include "base/digits.h"
#include "consumer/consumer.h"
#include "model/exported_resources.h"
#include "provider/provider.h"
#include "site/config/resource_config.h"
#include "site/ledger/site_ledger.h"

/* The state of summing up one site's jobs. */
struct summing {
    struct invariants *invariants;
    const struct invariants_site *site;
    struct arena arena;
    bool has_unknown; /* a job is on a host that this site has not been told of again */
};

static struct seen_supply *see_supply(struct summing *summing, const char *resource,
                                      const char *owner, int number,
                                      int64_t total_milli)
{
    char key[INVARIANTS_KEY_SIZE], of[INVARIANTS_KEY_SIZE], digits[DIGITS_SIZE];
    struct seen_supply *supply;

    digits_write(digits, number);
    invariant_state_key(of, resource, owner, digits);
    invariant_state_key(key, summing->site->config->name, of, NULL);
    supply = invariant_state_see(&summing->invariants->supplies, key, sizeof *supply);
    if (!supply->is_summed) {
        supply->is_summed = true;
        supply->is_other = supply->total != total_milli;
        supply->total = total_milli;
        supply->is_begun = false;
        supply->reserved = 0;
    }
    return supply;
}

/* ---- own hosts */

static int64_t exported(struct summing *summing, const char *resource, int number)
{
    struct provider_pool *pools;
    int64_t n_instances = 0;
    int n_pools = provider_list_pools(site_provider(summing->site->site),
                                      &summing->arena, &pools);

    for (int i = 0; i < n_pools; i++) {
        if (!strcmp(pools[i].resource, resource) && pools[i].pool == number) {
            n_instances += pools[i].n_instances;
        }
    }
    return n_instances;
}

static bool is_in(const struct site_config *config,
                  const struct resource_location *place, const char *host)
{
    for (int i = 0; i < place->n_hosts; i++) {
        if (!strcmp(config->hosts[place->hosts[i]].name, host)) {
            return true;
        }
    }
    return false;
}

/* The ResourceMap entry of the host; NULL if the amount is unknown. */
static struct seen_supply *own_supply(struct summing *summing, const char *resource,
                                      const char *host)
{
    const struct site_config *config = summing->site->config;
    int number = 0;
    double value;

    for (int i = 0; i < config->resource_config.n_places; i++) {
        const struct resource_location *place = &config->resource_config.places[i];

        if (strcmp(place->name, resource) != 0) {
            continue;
        }
        number++;
        if (is_in(config, place, host) && place->value &&
            resource_value_parse_number(place->value, &value)) {
            int64_t left = (int64_t)value - exported(summing, resource, number);
            return see_supply(summing, resource, "own", number,
                              left > 0 ? left * 1000 : 0);
        }
    }
    return NULL;
}

/* ---- borrowed hosts */

static struct seen_supply *granted_space(struct summing *summing, const char *resource,
                                         const char *name)
{
    static const char *const spaces[SPACES] = {
        [SPACE_MEM] = "mem", [SPACE_SWP] = "swp"};
    const struct consumer *consumer = site_consumer(summing->site->site);
    int64_t mib = 0;
    bool is_given = false;

    for (int i = 0; i < consumer_count_hosts(consumer); i++) {
        struct consumer_host host;

        consumer_host_at(consumer, i, &host);
        for (int k = 0; k < SPACES && !strcmp(host.name, name); k++) {
            bool is_it = !strcmp(resource, spaces[k]) && host.spaces[k].is_given;
            is_given = is_given || is_it;
            mib += is_it ? host.spaces[k].mib : 0;
        }
    }
    return is_given ? see_supply(summing, resource, name, 0, mib * 1000) : NULL;
}

static struct seen_supply *granted_supply(struct summing *summing, const char *resource,
                                          const char *name)
{
    const struct consumer *consumer = site_consumer(summing->site->site);

    for (int i = 0; i < consumer_count_hosts(consumer); i++) {
        struct consumer_host host;

        consumer_host_at(consumer, i, &host);
        for (int k = 0; k < host.n_resources && !strcmp(host.name, name); k++) {
            const struct lease_resource *granted = &host.resources[k];

            if (!strcmp(granted->name, resource) &&
                exported_resources_is_seen_from(granted, host.host)) {
                return see_supply(summing, resource, host.site, granted->pool,
                                  granted->n_instances * INT64_C(1000));
            }
        }
    }
    return granted_space(summing, resource, name);
}

/* Under an earlier contract the same instances may have been the host's own or another
 * pool's. */
static bool is_in_force(const struct summing *summing, const struct rusage_held *held)
{
    const struct consumer *consumer = site_consumer(summing->site->site);

    for (int i = 0; i < consumer_count_hosts(consumer); i++) {
        struct consumer_host host;

        consumer_host_at(consumer, i, &host);
        if (!strcmp(host.lease, held->lease)) {
            return host.epoch == held->epoch;
        }
    }
    return false;
}

/* ---- all */

/* A resource that increases with load may be reserved without bound. */
static bool is_increasing(const struct site_config *config, const char *resource)
{
    for (int i = 0; i < config->resource_config.n_resources; i++) {
        if (!strcmp(config->resource_config.resources[i].name, resource)) {
            return config->resource_config.resources[i].is_increasing;
        }
    }
    return false;
}

static void add(void *arg, const struct rusage_held *held)
{
    struct summing *summing = arg;

    if (is_increasing(summing->site->config, held->resource)) {
        return;
    }
    struct seen_supply *supply =
        held->lease[0] ? granted_supply(summing, held->resource, held->host)
                       : own_supply(summing, held->resource, held->host);

    if (supply) {
        supply->reserved += held->milli;
        supply->is_begun |= !held->lease[0] || is_in_force(summing, held);
    } else {
        summing->has_unknown = true;
    }
}

/* More than the supply is allowed only if the supply became smaller, or if nothing has
 * begun since the journal was restored: jobs of the copy and what hosts describe are
 * reserved side by side until the hosts have said how the jobs of the copy ended. */
static bool judge(struct seen_supply *supply, const struct seen_site *of,
                  struct invariants_text *text)
{
    int n_configs = of->n_configs;
    bool is_inherited = of->is_restored && !of->has_begun;

    if (!supply->is_summed) {
        supply->reserved = 0;
    }
    if (supply->is_other || is_inherited || supply->n_configs != n_configs ||
        supply->reserved < supply->limit) {
        supply->limit =
            supply->reserved > supply->total ? supply->reserved : supply->total;
    }
    supply->n_configs = n_configs;
    supply->is_summed = supply->is_other = false;
    return supply->reserved <= supply->limit || !supply->is_begun ||
           invariant_state_fail(
               text, "%s: %lld thousandths are reserved, and there are %lld",
               supply->base.key, (long long)supply->reserved, (long long)supply->total);
}

void invariant_rusage_reloaded(struct invariants *invariants, const char *site)
{
    invariant_state_site(invariants, site)->n_configs++;
}

bool invariant_rusage_check(struct invariants *invariants,
                            const struct invariants_site *site,
                            struct invariants_text *text)
{
    struct summing summing = {.invariants = invariants, .site = site};
    const struct seen_site *seen = invariant_state_site(invariants, site->config->name);
    size_t length = strlen(site->config->name);
    bool is_good = true;

    if (!site_has_reserved(site->site)) {
        return true;
    }
    arena_init(&summing.arena);
    site_list_reserved(site->site, add, &summing);
    for (struct seen *at = invariants->supplies; at; at = at->hh.next) {
        struct seen_supply *supply = (struct seen_supply *)at;
        bool is_known = supply->is_summed || !summing.has_unknown;
        bool is_its =
            !strncmp(at->key, site->config->name, length) && at->key[length] == ' ';
        is_good = is_good && (!is_its || !is_known || judge(supply, seen, text));
    }
    arena_release(&summing.arena);
    return is_good;
}
