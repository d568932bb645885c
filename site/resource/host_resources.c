/* SPDX-License-Identifier: Apache-2.0 */
/* host_resources.c: see host_resources.h. */
#include "site/resource/host_resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/dup.h"
#include "site/config/resource_config.h"
#include "site/resource/shared_resources.h"

enum space_side { SPACE_FREE, SPACE_ALL, SPACE_SIDES };

struct host_record {
    bool is_reported;
    char *architecture;
    double spaces[SPACES][SPACE_SIDES]; /* MB, as reported; below 0: not reported */
    int64_t exported[SPACES];           /* of that, MB */
};

static const int space_ids[SPACES][SPACE_SIDES] = {
    [SPACE_MEM] = {RESOURCE_MEM, RESOURCE_MAXMEM},
    [SPACE_SWP] = {RESOURCE_SWP, RESOURCE_MAXSWP},
};

struct host_resources {
    const struct site_config *config;
    struct resources *resources;
    struct resource_table *table;
    struct host_record *known; /* of own hosts */
    /* The Booleans of a host: given[first_given[host]] up to those of the next host. */
    int *first_given;
    struct shared_resources *shared; /* places of ResourceMap */
    struct borrowed_resources *borrowed;
};

/* ---------------------------------------------------------------- values */

static int find(const struct host_resources *hosts, const char *name)
{
    return resources_find(hosts->resources, name, strlen(name));
}

static bool is_dynamic(const struct host_resources *hosts, int id)
{
    return resources_at(hosts->resources, id)->interval_ms > 0;
}

/* ---------------------------------------------------------------- own hosts */

static void set_detected(struct host_resources *hosts, int host, const char *type,
                         const char *architecture)
{
    const struct site_host *config = &hosts->config->hosts[host];
    bool is_model_open = resource_config_is_detected(config->model);
    double cpuf = 1.0;
    const char *model =
        resource_config_find_model(&hosts->config->resource_config,
                                   is_model_open ? architecture : config->model, &cpuf);
    if (resource_config_is_detected(config->type) && type[0] != '\0') {
        resource_table_set_text(hosts->table, host, RESOURCE_TYPE, type);
    }
    if (is_model_open && model[0] != '\0') {
        resource_table_set_text(hosts->table, host, RESOURCE_MODEL, model);
    }
    resource_table_set_number(hosts->table, host, RESOURCE_CPUF, cpuf);
}

static void set_given(struct host_resources *hosts, int host)
{
    for (int i = hosts->first_given[host]; i < hosts->first_given[host + 1]; i++) {
        const struct host_boolean *given = &hosts->config->resource_config.given[i];
        int id = find(hosts, given->name);
        resource_table_set_flag(hosts->table, host, id, true);
        resource_table_set_exclusive(hosts->table, host, id, given->is_exclusive);
    }
}

/* Sets what the configuration states. */
static void set_configured(struct host_resources *hosts, int host)
{
    const struct site_host *config = &hosts->config->hosts[host];
    resource_table_set_text(hosts->table, host, RESOURCE_HNAME, config->name);
    resource_table_set_flag(hosts->table, host, RESOURCE_SERVER, true);
    resource_table_set_number(hosts->table, host, RESOURCE_REXPRI, 0);
    if (!resource_config_is_detected(config->type)) {
        resource_table_set_text(hosts->table, host, RESOURCE_TYPE, config->type);
    }
    if (!resource_config_is_detected(config->model)) {
        resource_table_set_text(hosts->table, host, RESOURCE_MODEL, config->model);
    }
    set_detected(hosts, host, "", "");
    set_given(hosts, host);
}

/* ---------------------------------------------------------------- reported values */

/* Unsets the reported load, and static values too if `with_static`. */
static void unset_reported(struct host_resources *hosts, int host, bool with_static)
{
    for (int id = 0; id < resources_count(hosts->resources); id++) {
        bool is_skipped = id == RESOURCE_STATUS || id == RESOURCE_SLOTS ||
                          id == RESOURCE_MAXSLOTS ||
                          shared_resources_find_location(hosts->shared, host, id) >= 0;
        if (is_skipped || (!with_static && !is_dynamic(hosts, id))) {
            continue;
        }
        resource_table_unset(hosts->table, host, id);
        if (with_static &&
            resources_at(hosts->resources, id)->type == RESOURCE_BOOLEAN) {
            resource_table_set_exclusive(hosts->table, host, id, false);
        }
    }
    if (with_static) {
        resource_table_clear_undefined(hosts->table, host);
    }
}

static bool is_given(const struct host_resources *hosts, int host, int id)
{
    return id >= RESOURCE_BUILTINS && !is_dynamic(hosts, id) &&
           resource_table_has(hosts->table, host, id);
}

static bool set_value(struct host_resources *hosts, int host,
                      const struct load_value *value)
{
    int id = find(hosts, value->name);
    if (id < 0) {
        return false;
    }
    if (id == RESOURCE_TYPE || id == RESOURCE_MODEL) {
        return true; /* set_detected sets it */
    }
    int place = shared_resources_find_location(hosts->shared, host, id);
    if (place >= 0) {
        return shared_resources_report(hosts->shared, host, place, value->value);
    }
    if (shared_resources_is_mapped(hosts->shared, id) || is_given(hosts, host, id)) {
        return true; /* it is not there, or the configuration states it */
    }
    bool is_boolean = resources_at(hosts->resources, id)->type == RESOURCE_BOOLEAN;
    if ((value->is_exclusive && !is_boolean) ||
        !resource_value_set(hosts->table, host, id, value->value)) {
        return false;
    }
    if (value->is_exclusive) {
        resource_table_set_exclusive(hosts->table, host, id, true);
    }
    return true;
}

bool host_resources_sets(const char *name)
{
    static const char *const names[] = {"status", "slots",  "maxslots", "hname",
                                        "server", "rexpri", "cpuf",     "ncpus"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* A host that reports no cores has one in each processor, and no threads: one in each
 * core. */
static int times(const struct host_resources *hosts, int host, int id, int count)
{
    double each = resource_table_has(hosts->table, host, id)
                      ? resource_table_number(hosts->table, host, id)
                      : 1;
    double all = each * count;
    return all > SLOTS_MAX ? SLOTS_MAX : all > 0 ? (int)all : 0;
}

bool host_resources_cpus(const struct host_resources *hosts, int host,
                         struct row_cpus *cpus)
{
    if (!resource_table_has(hosts->table, host, RESOURCE_NPROCS)) {
        return false;
    }
    *cpus = (struct row_cpus){.n_procs = times(hosts, host, RESOURCE_NPROCS, 1)};
    cpus->n_cores = times(hosts, host, RESOURCE_NCORES, cpus->n_procs);
    cpus->n_threads = times(hosts, host, RESOURCE_NTHREADS, cpus->n_cores);
    return true;
}

static void count_cpus(struct host_resources *hosts, int host)
{
    struct row_cpus cpus;
    if (host_resources_cpus(hosts, host, &cpus)) {
        enum ncpus_unit unit = hosts->config->resource_config.cpus;
        int count = unit == NCPUS_PROCS   ? cpus.n_procs
                    : unit == NCPUS_CORES ? cpus.n_cores
                                          : cpus.n_threads;
        resource_table_set_number(hosts->table, host, RESOURCE_NCPUS, count);
    }
}

/* ---------------------------------------------------------------- exported */

static void show_spaces(struct host_resources *hosts, int host)
{
    const struct host_record *known = &hosts->known[host];
    for (int kind = 0; kind < SPACES; kind++) {
        for (int side = 0; side < SPACE_SIDES; side++) {
            double left = known->spaces[kind][side] - (double)known->exported[kind];
            if (known->spaces[kind][side] >= 0) {
                resource_table_set_number(hosts->table, host, space_ids[kind][side],
                                          left > 0 ? left : 0);
            }
        }
    }
}

/* The table has the values that the host has reported. */
static void record_spaces(struct host_resources *hosts, int host)
{
    for (int kind = 0; kind < SPACES; kind++) {
        for (int side = 0; side < SPACE_SIDES; side++) {
            int id = space_ids[kind][side];
            hosts->known[host].spaces[kind][side] =
                resource_table_has(hosts->table, host, id)
                    ? resource_table_number(hosts->table, host, id)
                    : -1;
        }
    }
    show_spaces(hosts, host);
}

void host_resources_set_exported(struct host_resources *hosts, int host,
                                 enum space_kind kind, int64_t mib)
{
    if (hosts->known[host].exported[kind] != mib) {
        hosts->known[host].exported[kind] = mib;
        show_spaces(hosts, host);
    }
}

int host_resources_find_location(const struct host_resources *hosts, int host, int id)
{
    return host < hosts->config->n_hosts
               ? shared_resources_find_location(hosts->shared, host, id)
               : -1;
}

void host_resources_set_location_exported(struct host_resources *hosts, int place,
                                          int64_t n_instances)
{
    shared_resources_set_exported(hosts->shared, place, n_instances);
}

int64_t host_resources_space(const struct host_resources *hosts, int host,
                             enum space_kind kind)
{
    double mib = hosts->known[host].spaces[kind][SPACE_ALL];
    return mib >= 0 && mib <= SPACE_MAX_MIB ? (int64_t)mib : -1;
}

/* ---------------------------------------------------------------- reports */

const char *host_resources_report(struct host_resources *hosts, int host,
                                  const struct msg_host_load *msg)
{
    const char *unknown = NULL;
    const char *type = resource_value_find_reported(msg, "type");
    const char *architecture = resource_value_find_reported(msg, "model");
    unset_reported(hosts, host, true);
    set_configured(hosts, host);
    shared_resources_drop_unreported(hosts->shared, host, msg);
    for (int i = 0; i < msg->n_values; i++) {
        const struct load_value *value = &msg->values[i];
        if (host_resources_sets(value->name) || set_value(hosts, host, value)) {
            continue;
        }
        if (value->is_exclusive) {
            resource_table_add_undefined(hosts->table, host, value->name);
        }
        unknown = unknown == NULL ? value->name : unknown;
    }
    type = type != NULL ? type : "";
    architecture = architecture != NULL ? architecture : "";
    set_detected(hosts, host, type, architecture);
    count_cpus(hosts, host);
    record_spaces(hosts, host);
    dup_set_text(&hosts->known[host].architecture, architecture);
    hosts->known[host].is_reported = true;
    return unknown;
}

void host_resources_disconnect(struct host_resources *hosts, int host)
{
    hosts->known[host].is_reported = false;
    unset_reported(hosts, host, false);
    for (int kind = 0; kind < SPACES; kind++) {
        hosts->known[host].spaces[kind][SPACE_FREE] = -1;
    }
    set_given(hosts, host);
    shared_resources_drop_unreported(hosts->shared, host, NULL);
}

bool host_resources_is_reported(const struct host_resources *hosts, int host)
{
    return hosts->known[host].is_reported;
}

/* Every host has a type (or a model) in section Host. */
static bool are_all_set(const struct host_resources *hosts, int id)
{
    for (int i = 0; i < hosts->config->n_hosts; i++) {
        const struct site_host *host = &hosts->config->hosts[i];
        if (resource_config_is_detected(id == RESOURCE_TYPE ? host->type
                                                            : host->model)) {
            return false;
        }
    }
    return true;
}

/* Some host has as many slots as it reports CPUs. */
static bool has_counted(const struct host_resources *hosts)
{
    for (int i = 0; i < hosts->config->n_hosts; i++) {
        if (hosts->config->hosts[i].is_counted) {
            return true;
        }
    }
    return false;
}

/* RESOURCES gives it to a host, or each of its places in ResourceMap has a value. */
static bool is_placed(const struct host_resources *hosts, int id)
{
    const struct resource_config *config = &hosts->config->resource_config;
    bool is_found = false;
    for (int i = 0; i < config->n_given && !is_found; i++) {
        is_found = find(hosts, config->given[i].name) == id;
    }
    return shared_resources_is_mapped(hosts->shared, id)
               ? shared_resources_is_configured(hosts->shared, id)
               : is_found;
}

bool host_resources_is_configured(const struct host_resources *hosts, int id)
{
    switch (id) {
    case RESOURCE_HNAME:
    case RESOURCE_SERVER:
    case RESOURCE_REXPRI:
        return true;
    case RESOURCE_MAXSLOTS:
        return !has_counted(hosts);
    case RESOURCE_TYPE:
        return are_all_set(hosts, RESOURCE_TYPE);
    case RESOURCE_MODEL:
    case RESOURCE_CPUF:
        return are_all_set(hosts, RESOURCE_MODEL);
    default:
        return id >= RESOURCE_BUILTINS && !is_dynamic(hosts, id) &&
               is_placed(hosts, id);
    }
}

const char *host_resources_architecture(const struct host_resources *hosts, int host)
{
    return hosts->known[host].architecture;
}

/* ---------------------------------------------------------------- borrowed hosts */

struct borrowed_resources *host_resources_borrowed(const struct host_resources *hosts)
{
    return hosts->borrowed;
}

int host_resources_find_borrowed(const struct host_resources *hosts, const char *name)
{
    return borrowed_resources_find(hosts->borrowed, name);
}

double host_resources_cpu_factor(const struct host_resources *hosts, const char *name)
{
    int row =
        strchr(name, '@') != NULL ? host_resources_find_borrowed(hosts, name) : -1;
    for (int i = 0; i < hosts->config->n_hosts && row < 0; i++) {
        row = strcmp(hosts->config->hosts[i].name, name) == 0 ? i : -1;
    }
    double factor = row >= 0 && resource_table_has(hosts->table, row, RESOURCE_CPUF)
                        ? resource_table_number(hosts->table, row, RESOURCE_CPUF)
                        : 1;
    return factor > 0 ? factor : 1;
}

/* ---------------------------------------------------------------- life */

static void list_given(struct host_resources *hosts)
{
    const struct resource_config *config = &hosts->config->resource_config;
    int n_hosts = hosts->config->n_hosts;
    hosts->first_given = mem_alloc((size_t)n_hosts + 1, sizeof(*hosts->first_given));
    for (int host = 0, next = 0; host <= n_hosts; host++) {
        while (next < config->n_given && config->given[next].host < host) {
            next++;
        }
        hosts->first_given[host] = next;
    }
}

struct host_resources *host_resources_new(const struct site_config *config)
{
    struct host_resources *hosts = mem_alloc(1, sizeof(*hosts));
    hosts->config = config;
    hosts->resources = resource_config_catalogue(&config->resource_config);
    hosts->table = resource_table_new(hosts->resources);
    resource_table_resize(hosts->table, config->n_hosts);
    hosts->borrowed = borrowed_resources_new(hosts->table, config->n_hosts);
    hosts->known = mem_alloc((size_t)config->n_hosts + 1, sizeof(*hosts->known));
    hosts->shared = shared_resources_new(config, hosts->table);
    list_given(hosts);
    for (int i = 0; i < config->n_hosts; i++) {
        hosts->known[i].architecture = dup_text("");
        set_configured(hosts, i);
        record_spaces(hosts, i);
    }
    return hosts;
}

void host_resources_free(struct host_resources *hosts)
{
    if (hosts == NULL) {
        return;
    }
    for (int i = 0; i < hosts->config->n_hosts; i++) {
        dup_free(hosts->known[i].architecture);
    }
    shared_resources_free(hosts->shared);
    borrowed_resources_free(hosts->borrowed);
    free(hosts->known);
    free(hosts->first_given);
    resource_table_free(hosts->table);
    resources_free(hosts->resources);
    free(hosts);
}

const struct resources *host_resources_catalogue(const struct host_resources *hosts)
{
    return hosts->resources;
}

struct resource_table *host_resources_table(struct host_resources *hosts)
{
    return hosts->table;
}

const struct resource_table *host_resources_values(const struct host_resources *hosts)
{
    return hosts->table;
}
