/* SPDX-License-Identifier: Apache-2.0 */
/* export_shared_read.c: sections SharedResourceExport, read and judged; see
 * export.h. */
#include <string.h>

#include "provider/export/export.h"
#include "provider/export/export_policy.h"

struct reader {
    struct conf *conf;
    const struct export_site *site;
    const struct export_resource *resources;
    int n_resources;
    struct export_plan *plan;
};

/* One section, or row of it. */
struct policy {
    const struct conf_section *section;
    const struct conf_row *row;
    int n_before; /* rows of HostExport */
    const struct export_resource *resource;
    int64_t n_instances;
    struct export_shares shares;
};

#define COMPLAIN(reader, severity, policy, cell, ...)                                  \
    conf_complain((reader)->conf, severity, (policy)->section, (policy)->row, cell,    \
                  __VA_ARGS__)

/* ------------------------------------------------------------ one section */

static const struct conf_cell *need(struct reader *reader, const struct policy *policy,
                                    const char *key, const char *expected)
{
    const struct conf_cell *cell = conf_cell(policy->row, key);
    if (cell == NULL || cell->value == NULL) {
        COMPLAIN(reader, CONF_ERROR, policy, NULL, "%s is missing, expected %s", key,
                 expected);
        return NULL;
    }
    return cell;
}

static bool read_name(struct reader *reader, struct policy *policy)
{
    const struct conf_cell *cell = need(reader, policy, "NAME", "a shared resource");
    for (int i = 0; cell != NULL && i < reader->n_resources; i++) {
        if (strcmp(reader->resources[i].name, cell->value) == 0) {
            policy->resource = &reader->resources[i];
        }
    }
    if (cell == NULL) {
        return false;
    }
    if (policy->resource == NULL) {
        COMPLAIN(reader, CONF_ERROR, policy, cell,
                 "unknown resource \"%s\", expected one of section Resource",
                 cell->value);
        return false;
    }
    if (!policy->resource->is_numeric) {
        COMPLAIN(reader, CONF_ERROR, policy, cell,
                 "resource \"%s\" has no instances, expected one of TYPE Numeric",
                 cell->value);
        return false;
    }
    if (policy->resource->n_places == 0) {
        COMPLAIN(reader, CONF_ERROR, policy, cell,
                 "resource \"%s\" is not shared, expected one of section ResourceMap",
                 cell->value);
        return false;
    }
    return true;
}

/* A number that is no good has been complained about. */
static bool read_instances(struct reader *reader, struct policy *policy)
{
    const struct conf_cell *cell =
        need(reader, policy, "NINSTANCES", "a number of instances");
    return cell != NULL && conf_parse_int(cell->value, 1, INSTANCES_MAX,
                                          &policy->n_instances, NULL) == ERR_NONE;
}

/* ------------------------------------------------------------ beside others */

static bool is_borrower(struct reader *reader, const struct policy *policy,
                        const char *consumer)
{
    for (int i = 0; i < reader->plan->n_claims; i++) {
        const struct export_claim *claim = &reader->plan->claims[i];
        if (claim->place <= policy->n_before &&
            strcmp(claim->consumer, consumer) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_it_already(struct reader *reader, const char *name,
                           const char *consumer)
{
    for (int i = 0; i < reader->plan->n_shared; i++) {
        const struct export_shared *shared = &reader->plan->shared[i];
        for (int k = 0; strcmp(shared->name, name) == 0 && k < shared->n_shares; k++) {
            if (strcmp(shared->consumers[k], consumer) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool check_shares(struct reader *reader, const struct policy *policy)
{
    const char *name = policy->resource->name;
    bool is_good = true;
    if (policy->shares.is_pool) {
        COMPLAIN(reader, CONF_ERROR, policy, policy->shares.cell,
                 "%s: resources go to sites, expected ([SITE, SHARES] ...)",
                 policy->shares.items[0].consumer);
        return false;
    }
    for (int i = 0; i < policy->shares.count; i++) {
        const char *consumer = policy->shares.items[i].consumer;
        if (!is_borrower(reader, policy, consumer)) {
            COMPLAIN(reader, CONF_ERROR, policy, policy->shares.cell,
                     "no HostExport above exports hosts to %s, expected one: resources "
                     "go with hosts",
                     consumer);
            is_good = false;
        } else if (has_it_already(reader, name, consumer)) {
            COMPLAIN(reader, CONF_ERROR, policy, policy->shares.cell,
                     "\"%s\" is exported to %s by a section above, expected it once",
                     name, consumer);
            is_good = false;
        }
    }
    return is_good;
}

static bool read_policy(struct reader *reader, struct policy *policy)
{
    bool has_name = read_name(reader, policy);
    bool has_instances = read_instances(reader, policy);
    bool has_shares = export_shares_read(reader->conf, reader->site->name,
                                         policy->section, policy->row, &policy->shares);
    return has_name && has_instances && has_shares && check_shares(reader, policy);
}

/* ------------------------------------------------------------ into the plan */

static const int *list_pools(struct reader *reader, const struct policy *policy)
{
    int *pools =
        arena_alloc(reader->conf->arena, (size_t)reader->site->n_hosts, sizeof(*pools));
    for (int k = 0; k < policy->resource->n_places; k++) {
        const struct export_place *place = &policy->resource->places[k];
        for (int i = 0; i < place->n_hosts; i++) {
            pools[place->hosts[i]] = k + 1;
        }
    }
    return pools;
}

static const int64_t *list_counts(struct reader *reader, const struct policy *policy)
{
    size_t n_places = (size_t)policy->resource->n_places;
    int64_t *counts = arena_alloc(reader->conf->arena, n_places, sizeof(*counts));
    for (size_t k = 0; k < n_places; k++) {
        int64_t n = policy->resource->places[k].n_instances;
        counts[k] = n >= 0 && n < INSTANCES_MAX ? n : INSTANCES_MAX;
    }
    return counts;
}

static void add_shared(struct reader *reader, const struct policy *policy)
{
    struct arena *arena = reader->conf->arena;
    struct export_plan *plan = reader->plan;
    size_t n_shares = (size_t)policy->shares.count;
    const char **consumers = arena_alloc(arena, n_shares, sizeof(*consumers));
    int64_t *shares = arena_alloc(arena, n_shares, sizeof(*shares));
    for (size_t i = 0; i < n_shares; i++) {
        consumers[i] = policy->shares.items[i].consumer;
        shares[i] = policy->shares.items[i].share;
    }
    plan->shared[plan->n_shared++] = (struct export_shared){
        .name = policy->resource->name,
        .traits = policy->resource->traits,
        .n_instances = policy->n_instances,
        .n_before = policy->n_before,
        .pools = list_pools(reader, policy),
        .n_hosts = reader->site->n_hosts,
        .counts = list_counts(reader, policy),
        .n_places = policy->resource->n_places,
        .consumers = consumers,
        .shares = shares,
        .n_shares = policy->shares.count,
    };
}

/* ------------------------------------------------------------ what came of it */

/* The leases of the policies before it. */
struct outcome {
    bool has_some, is_open, has_host;
};

static struct outcome outcome_of(const struct export_plan *plan,
                                 const struct export_shared *shared,
                                 const char *consumer)
{
    struct outcome outcome = {0};
    for (int i = 0; i < plan->n_leases; i++) {
        const struct export_lease *lease = &plan->leases[i];
        if (lease->place > shared->n_before || strcmp(lease->consumer, consumer) != 0) {
            continue;
        }
        outcome.is_open = outcome.is_open || lease->is_open;
        for (int k = 0; k < lease->n_hosts; k++) {
            outcome.has_host =
                outcome.has_host || shared->pools[lease->hosts[k].index] > 0;
        }
        for (int k = 0; k < lease->n_resources; k++) {
            outcome.has_some =
                outcome.has_some || strcmp(lease->resources[k].name, shared->name) == 0;
        }
    }
    return outcome;
}

static void note_outcome(struct reader *reader, const struct policy *policy,
                         const struct export_shared *shared)
{
    for (int i = 0; i < shared->n_shares; i++) {
        const char *consumer = shared->consumers[i];
        struct outcome outcome = outcome_of(reader->plan, shared, consumer);
        if (outcome.has_some || outcome.is_open) {
            continue;
        }
        if (outcome.has_host) {
            COMPLAIN(reader, CONF_WARNING, policy, policy->shares.cell,
                     "nothing is left for %s: there is too little to divide", consumer);
        } else {
            COMPLAIN(reader, CONF_WARNING, policy, policy->shares.cell,
                     "no host that is exported to %s has \"%s\", so it gets none",
                     consumer, shared->name);
        }
    }
}

static void take_policy(struct reader *reader, const struct policy *policy)
{
    struct export_plan *plan = reader->plan;
    add_shared(reader, policy);
    if (export_shared_give(reader->conf->arena, plan)) {
        note_outcome(reader, policy, &plan->shared[plan->n_shared - 1]);
        return;
    }
    COMPLAIN(reader, CONF_ERROR, policy, policy->shares.cell,
             "too much for one lease, expected at most %d resources and names of hosts "
             "of %d bytes",
             LEASE_RESOURCES_MAX, RESOURCE_HOSTS_SIZE - 1);
    plan->n_shared--;
}

/* ------------------------------------------------------------ all sections */

static int count_rows(const struct conf *conf)
{
    int n_rows = 0;
    const struct conf_section *section = NULL;
    while ((section = conf_next(conf, "SharedResourceExport", section)) != NULL) {
        n_rows += section->n_rows;
    }
    return n_rows;
}

void export_shared_read(struct conf *conf, const struct export_site *site,
                        const struct export_resource *resources, int n_resources,
                        struct export_plan *plan)
{
    struct reader reader = {.conf = conf,
                            .site = site,
                            .resources = resources,
                            .n_resources = n_resources,
                            .plan = plan};
    int n_before = 0;
    plan->shared =
        arena_alloc(conf->arena, (size_t)count_rows(conf), sizeof(*plan->shared));
    for (const struct conf_section *section = conf->first; section != NULL;
         section = section->next) {
        bool is_shared = strcmp(section->name, "SharedResourceExport") == 0;
        n_before += strcmp(section->name, "HostExport") == 0 ? section->n_rows : 0;
        for (int i = 0; is_shared && i < section->n_rows; i++) {
            struct policy policy = {
                .section = section, .row = &section->rows[i], .n_before = n_before};
            if (read_policy(&reader, &policy)) {
                take_policy(&reader, &policy);
            }
        }
    }
}
