/* SPDX-License-Identifier: Apache-2.0 */
/* grants.c: see grants.h. */
#include "site/grants.h"

#include <stdlib.h>
#include <string.h>

#include "site/parts.h"

/* ---------------------------------------------------------------- as a provider */

void grants_tell(struct site *site, int host)
{
    int64_t mib[SPACES];
    for (int kind = 0; kind < SPACES; kind++) {
        mib[kind] = facts_space(site->facts, host, (enum space_kind)kind);
    }
    provider_set_spaces(site->provider, site->config->hosts[host].name, mib);
}

static void lower_own(struct site *site)
{
    for (int i = 0; i < site->config->n_hosts; i++) {
        for (int kind = 0; kind < SPACES; kind++) {
            int64_t mib = provider_space(site->provider, site->config->hosts[i].name,
                                         (enum space_kind)kind);
            facts_set_exported(site->facts, i, (enum space_kind)kind, mib);
        }
    }
}

/* ---------------------------------------------------------------- as a consumer */

static const int granted_ids[SPACES][2] = {
    [SPACE_MEM] = {RESOURCE_MEM, RESOURCE_MAXMEM},
    [SPACE_SWP] = {RESOURCE_SWP, RESOURCE_MAXSWP},
};

enum { GRANTS_MAX = 2 * SPACES };

static int compare_names(const void *left, const void *right)
{
    const struct consumer_host *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->lease, b->lease);
}

/* What the leases of one host give together. */
static int list_grants(const struct consumer_host *leases, int n_leases,
                       struct facts_grant *grants)
{
    int n_grants = 0;
    for (int kind = 0; kind < SPACES; kind++) {
        int64_t mib = 0;
        int n_given = 0;
        for (int i = 0; i < n_leases; i++) {
            n_given += leases[i].spaces[kind].is_given;
            mib += leases[i].spaces[kind].is_given ? leases[i].spaces[kind].mib : 0;
        }
        for (int side = 0; side < 2 && n_given > 0; side++) {
            grants[n_grants++] = (struct facts_grant){
                .id = granted_ids[kind][side],
                .number = (double)mib,
                .is_on_top = n_given < n_leases,
            };
        }
    }
    return n_grants;
}

static void grant_borrowed(struct site *site, struct arena *arena)
{
    int n_hosts = consumer_count_hosts(site->consumer);
    struct consumer_host *hosts = arena_alloc(arena, (size_t)n_hosts, sizeof(*hosts));
    for (int i = 0; i < n_hosts; i++) {
        consumer_host_at(site->consumer, i, &hosts[i]);
    }
    if (n_hosts > 0) {
        qsort(hosts, (size_t)n_hosts, sizeof(*hosts), compare_names);
    }
    for (int i = 0, n; i < n_hosts; i += n) {
        struct facts_grant grants[GRANTS_MAX];
        for (n = 1; i + n < n_hosts && strcmp(hosts[i].name, hosts[i + n].name) == 0;
             n++) {
        }
        facts_borrowed_grant(facts_borrowed(site->facts), hosts[i].name, grants,
                             list_grants(&hosts[i], n, grants));
    }
}

/* ---------------------------------------------------------------- when */

void grants_refresh(struct site *site, struct effects *effects)
{
    struct grants *grants = &site->grants;
    uint64_t n_provider = provider_changes(site->provider);
    uint64_t n_consumer = consumer_changes(site->consumer);
    bool is_other = false;
    if (!grants->is_fresh || grants->n_provider != n_provider) {
        lower_own(site);
        is_other = true;
    }
    if (!grants->is_fresh || grants->n_consumer != n_consumer) {
        grant_borrowed(site, &effects->arena);
        is_other = true;
    }
    *grants = (struct grants){true, n_provider, n_consumer};
    if (is_other) {
        schedule_mark(site->schedule);
    }
}

void grants_forget(struct site *site)
{
    site->grants.is_fresh = false;
}
