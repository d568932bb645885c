/* SPDX-License-Identifier: Apache-2.0 */
/* host_config.c: section Host: each host by its rows, which hosts the site starts
 * itself (HOSTS_HERE), and what a host has by the definitions of resources and
 * thresholds. */
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

#define COMPLAIN(at, cell, ...)                                                        \
    conf_complain(conf, CONF_ERROR, (at)->section, (at)->row, cell, __VA_ARGS__)

static bool is_set(const struct conf_row *row, const char *key)
{
    return conf_text(row, key, NULL) != NULL;
}

/* A host by its rows: one or two, of different forms. */
struct host_entry {
    struct site_host host;
    struct resource_config_host resource_host;
    struct conf_place forms[2]; /* by HOST_NAME, by HOSTNAME */
    bool has_slots;
    bool is_client; /* SERVER 0: it runs no jobs */
};

struct host_entries {
    struct host_entry *items;
    int count;
    struct site_host others;     /* row "default" */
    struct conf_place others_at; /* its place */
};

static const char *const host_keys[2] = {"HOST_NAME", "HOSTNAME"};

static struct host_entry *find_entry(struct host_entries *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].host.name, name) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

static struct host_entry *add_entry(struct host_entries *list, const char *name,
                                    const struct conf_place *at)
{
    struct host_entry *entry = &list->items[list->count++];
    entry->host.name = name;
    entry->host.type = entry->host.model = "";
    entry->resource_host.at = *at;
    return entry;
}

static void count_cpus(struct site_host *host)
{
    host->max = SLOTS_MAX;
    host->is_counted = true;
}

/* False: the row has no MXJ. "!" is the number of CPUs. */
static bool read_slots(const struct conf_row *row, struct site_host *host)
{
    const char *text = conf_text(row, "MXJ", NULL);
    int64_t number;
    if (text == NULL) {
        return false;
    }
    if (strcmp(text, "!") == 0) {
        count_cpus(host);
    } else if (conf_parse_int(text, 0, SLOTS_MAX, &number, NULL) == 0) {
        host->max = (int)number;
        host->is_counted = false;
    }
    return true;
}

/* The cell that names the host of a row, and by which form; NULL: none. */
static const struct conf_cell *name_cell(const struct conf_row *row, int *form)
{
    *form = is_set(row, host_keys[0]) ? 0 : 1;
    const struct conf_cell *cell = conf_cell(row, host_keys[*form]);
    return cell != NULL && cell->value != NULL ? cell : NULL;
}

static void read_window(struct conf *conf, const struct conf_place *at, const char *key,
                        struct window_list *list)
{
    const char *text = conf_text(at->row, key, NULL);
    struct err err;
    if (text != NULL && window_read(conf->arena, text, list, &err) != 0) {
        COMPLAIN(at, conf_cell(at->row, key), "%s", err.text);
    }
}

static void read_windows(struct conf *conf, const struct conf_place *at,
                         struct site_host *host)
{
    read_window(conf, at, "RUNWINDOW", &host->run_windows);
    read_window(conf, at, "DISPATCH_WINDOW", &host->dispatch_windows);
}

/* The processors of a list, "(0, 2-5)"; NULL: it is none. */
static const struct cpu_set *read_cpus(struct arena *arena, struct conf_words words)
{
    struct cpu_set *cpus = arena_alloc(arena, 1, sizeof(*cpus));
    struct err err;
    for (int i = 0; i < words.count; i++) {
        struct cpu_set more;
        size_t length = strlen(words.words[i]);
        length -= words.words[i][length - 1] == ','; /* a blank follows it */
        if (length == 0 || cpu_set_parse(words.words[i], length, &more, &err) != 0) {
            return NULL;
        }
        cpu_set_join(cpus, &more);
    }
    return cpus;
}

static void read_affinity(struct conf *conf, const struct conf_place *at,
                          struct site_host *host)
{
    const char *text = conf_text(at->row, "AFFINITY", NULL);
    struct conf_words words = conf_words(conf->arena, text != NULL ? text : "");
    const char *first = words.count > 0 ? words.words[0] : "N";
    host->has_affinity = words.count > 0 && strcasecmp(first, "N") != 0;
    if (!host->has_affinity || strcasecmp(first, "Y") == 0) {
        return;
    }
    host->affinity_cpus = read_cpus(conf->arena, words);
    if (host->affinity_cpus == NULL) {
        COMPLAIN(at, conf_cell(at->row, "AFFINITY"),
                 "AFFINITY \"%s\", expected Y, N, or a list of processors such as "
                 "(0,2-5)",
                 text);
    }
}

static void merge_row(struct conf *conf, const struct conf_place *at,
                      struct host_entry *entry)
{
    const struct conf_row *row = at->row;
    const char *resources = conf_text(row, "RESOURCES", NULL);
    entry->has_slots = read_slots(row, &entry->host) || entry->has_slots;
    entry->is_client =
        entry->is_client || strcmp(conf_text(row, "SERVER", "1"), "0") == 0;
    read_windows(conf, at, &entry->host);
    if (is_set(row, "AFFINITY")) {
        read_affinity(conf, at, &entry->host);
    }
    entry->host.type = conf_text(row, "TYPE", entry->host.type);
    entry->host.model = conf_text(row, "MODEL", entry->host.model);
    if (resources != NULL) {
        struct conf_words words = conf_words(conf->arena, resources);
        entry->resource_host.resources = words.words;
        entry->resource_host.n_resources = words.count;
    }
    if (resources != NULL || is_set(row, "TYPE") || is_set(row, "MODEL")) {
        entry->resource_host.at = *at;
    }
}

static void read_host(struct conf *conf, const struct conf_place *at,
                      struct host_entries *list)
{
    int form;
    const struct conf_cell *cell = name_cell(at->row, &form);
    if (cell == NULL) {
        COMPLAIN(at, NULL, "a host without a name, expected HOST_NAME");
        return;
    }
    if (form == 0 && strcasecmp(cell->value, "default") == 0) {
        list->others_at = *at;
        (void)read_slots(at->row, &list->others);
        read_windows(conf, at, &list->others);
        read_affinity(conf, at, &list->others);
        return;
    }
    if (conf_parse_name(cell->value, NULL) != 0) {
        return; /* conf_check has reported it */
    }
    struct host_entry *entry = find_entry(list, cell->value);
    if (entry != NULL && entry->forms[form].row != NULL) {
        COMPLAIN(at, cell, "host \"%s\" is defined twice, expected one row",
                 cell->value);
        return;
    }
    if (entry == NULL && list->count == HOSTS_MAX) {
        COMPLAIN(at, cell, "too many hosts, expected at most %d", HOSTS_MAX);
        return;
    }
    if (entry == NULL) {
        entry = add_entry(list, cell->value, at);
    }
    entry->forms[form] = *at;
    merge_row(conf, at, entry);
}

static void complete_hosts(struct host_entries *list)
{
    for (int i = 0; i < list->count; i++) {
        struct host_entry *entry = &list->items[i];
        if (entry->forms[0].row == NULL) {
            entry->host.run_windows = list->others.run_windows;
            entry->host.dispatch_windows = list->others.dispatch_windows;
            entry->host.has_affinity = list->others.has_affinity;
            entry->host.affinity_cpus = list->others.affinity_cpus;
            entry->forms[0] = list->others_at;
        }
        if (!entry->has_slots) {
            entry->host.max = list->others.max;
            entry->host.is_counted = list->others.is_counted;
        }
    }
}

static void drop_clients(struct host_entries *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        if (!list->items[i].is_client) {
            list->items[count++] = list->items[i];
        }
    }
    list->count = count;
}

static void read_hosts(struct conf *conf, struct host_entries *list)
{
    *list = (struct host_entries){
        .items = arena_alloc(conf->arena, (size_t)conf_count_rows(conf, "Host"),
                             sizeof(*list->items)),
    };
    struct conf_place at = {0};
    count_cpus(&list->others);
    while (conf_next_row(conf, "Host", &at)) {
        read_host(conf, &at, list);
    }
    complete_hosts(list);
    drop_clients(list);
}

static void read_hosts_here(struct conf *conf, const struct conf_place *site,
                            struct host_entries *list, struct site_setup *setup)
{
    const struct conf_cell *cell = conf_cell(site->row, "HOSTS_HERE");
    struct conf_words words =
        conf_words(conf->arena, conf_text(site->row, "HOSTS_HERE", NULL));
    setup->hosts_here =
        arena_alloc(conf->arena, (size_t)words.count, sizeof(*setup->hosts_here));
    for (int i = 0; i < words.count; i++) {
        struct host_entry *entry = find_entry(list, words.words[i]);
        if (entry == NULL) {
            COMPLAIN(site, cell, "unknown host \"%s\", expected one of section Host",
                     words.words[i]);
        } else if (!entry->host.is_here) {
            entry->host.is_here = true;
            setup->hosts_here[setup->n_hosts_here++] = entry->host.name;
        }
    }
}

/* The rows that may have load thresholds of the host. */
static struct threshold_rows rows_of(const struct host_entry *entry)
{
    struct threshold_rows rows = {.rows = {{0}}};
    for (int i = 0, n_rows = 0; i < THRESHOLD_ROWS; i++) {
        if (entry->forms[i].row != NULL) {
            rows.rows[n_rows++] = entry->forms[i];
        }
    }
    return rows;
}

static void set_hosts(struct conf *conf, const struct host_entries *list,
                      struct site_config *config)
{
    struct site_host *hosts =
        arena_alloc(conf->arena, (size_t)list->count, sizeof(*hosts));
    struct resource_config_host *resource_hosts =
        arena_alloc(conf->arena, (size_t)list->count, sizeof(*resource_hosts));
    struct threshold_rows *rows =
        arena_alloc(conf->arena, (size_t)list->count, sizeof(*rows));
    for (int i = 0; i < list->count; i++) {
        rows[i] = rows_of(&list->items[i]);
        hosts[i] = list->items[i].host;
        resource_hosts[i] = list->items[i].resource_host;
        resource_hosts[i].name = hosts[i].name;
        resource_hosts[i].type = hosts[i].type;
        resource_hosts[i].model = hosts[i].model;
    }
    config->hosts = hosts;
    config->n_hosts = list->count;
    resource_config_read(conf, resource_hosts, list->count, &config->resource_config);
    for (int i = 0; i < list->count; i++) {
        hosts[i].cpus = config->resource_config.cpus;
    }
    threshold_config_hosts(conf, &config->resource_config, rows, hosts, list->count);
}

void host_config_read(struct conf *conf, const struct conf_place *site,
                      struct site_setup *setup)
{
    struct host_entries hosts;
    read_hosts(conf, &hosts);
    read_hosts_here(conf, site, &hosts, setup);
    set_hosts(conf, &hosts, &setup->config);
}
