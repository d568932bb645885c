/* SPDX-License-Identifier: Apache-2.0 */
/* site_config.c: see site_config.h. A value that conf_check finds malformed is its
 * error; here it counts as unset. */
#include "site/config/site_config.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"
#include "model/local_resources.h"
#include "provider/export/export.h"
#include "site/config/config_parts.h"

#define COMPLAIN(at, cell, ...)                                                        \
    conf_complain(conf, CONF_ERROR, (at)->section, (at)->row, cell, __VA_ARGS__)

/* ---------------------------------------------------------------- values */

static bool is_set(const struct conf_row *row, const char *key)
{
    return conf_text(row, key, NULL) != NULL;
}

static int64_t parameter_duration(const struct conf *conf, const char *key)
{
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    return conf_value_duration(conf, &at, key, 0);
}

static int parameter_int(const struct conf *conf, const char *key)
{
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    return (int)conf_value_int(conf, &at, key, 0);
}

/* ---------------------------------------------------------------- hosts */

/* A host by its rows: one or two, of different forms. */
struct host_entry {
    struct site_host host;
    struct resource_config_host resource_host;
    struct conf_place forms[2]; /* by HOST_NAME, by HOSTNAME */
    bool has_slots;
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

static void merge_row(struct conf *conf, const struct conf_place *at,
                      struct host_entry *entry)
{
    const struct conf_row *row = at->row;
    const char *resources = conf_text(row, "RESOURCES", NULL);
    entry->has_slots = read_slots(row, &entry->host) || entry->has_slots;
    read_windows(conf, at, &entry->host);
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
            entry->forms[0] = list->others_at;
        }
        if (!entry->has_slots) {
            entry->host.max = list->others.max;
            entry->host.is_counted = list->others.is_counted;
        }
    }
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

/* What the site gives to the hosts that it starts itself. */
static void read_elims(struct conf *conf, const struct conf_place *site,
                       struct site_setup *setup)
{
    struct load_value values[LOCAL_RESOURCES_MAX];
    int n_values;
    struct err err;
    struct conf_words elims =
        conf_words(conf->arena, conf_text(site->row, "ELIM", NULL));
    setup->elims = elims.words;
    setup->n_elims = elims.count;
    for (int i = 0; i < elims.count; i++) {
        if (elims.words[i][0] != '/') {
            COMPLAIN(site, conf_cell(site->row, "ELIM"),
                     "\"%s\", expected a path that begins with /", elims.words[i]);
        }
    }
    struct conf_place at = {0};
    while (conf_next_row(conf, "", &at)) {
        const char *text = conf_text(at.row, "LSF_LOCAL_RESOURCES", NULL);
        if (text != NULL &&
            local_resources_read(conf->arena, text, values, &n_values, &err) != 0) {
            COMPLAIN(&at, conf_cell(at.row, "LSF_LOCAL_RESOURCES"), "%s", err.text);
        }
        setup->local_resources = text != NULL ? text : setup->local_resources;
    }
}

/* ---------------------------------------------------------------- queues */

static void read_default_queue(struct conf *conf, struct site_config *config)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "DEFAULT_QUEUE");
    config->default_queue = config->n_queues > 0 ? config->queues[0].name : "";
    const struct conf_cell *cell = conf_cell(at.row, "DEFAULT_QUEUE");
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(conf->arena, cell->value);
    for (int i = 0; i < words.count; i++) {
        bool is_known = false;
        for (int k = 0; k < config->n_queues; k++) {
            is_known = is_known || strcmp(config->queues[k].name, words.words[i]) == 0;
        }
        if (!is_known) {
            COMPLAIN(&at, cell, "unknown queue \"%s\", expected one of section Queue",
                     words.words[i]);
        } else if (i == 0) {
            config->default_queue = words.words[0];
        }
    }
}

static void read_default_application(struct conf *conf, struct site_config *config)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "DEFAULT_APPLICATION");
    config->default_application = "";
    if (!is_set(at.row, "DEFAULT_APPLICATION")) {
        return;
    }
    const struct conf_cell *cell = conf_cell(at.row, "DEFAULT_APPLICATION");
    config->default_application = cell->value;
    if (application_find(config->applications, config->n_applications,
                         config->default_application) == NULL) {
        COMPLAIN(&at, cell,
                 "unknown application \"%s\", expected one of section Application",
                 config->default_application);
    }
}

/* Profiles, and the rules of section Parameters for all jobs. */
static void read_applications(struct conf *conf, struct site_config *config)
{
    struct application *applications;
    struct conf_place at = {0};
    application_read(conf, &applications, &config->n_applications);
    config->applications = applications;
    read_default_application(conf, config);
    job_rules_init(&config->rules);
    while (conf_next_row(conf, "Parameters", &at)) {
        job_rules_read(conf, &at, &config->rules);
    }
    config->limit_unit_kib = job_rules_unit_kib(conf);
}

static void read_queues(struct conf *conf, const struct conf_place *site,
                        struct site_config *config)
{
    const char **names =
        arena_alloc(conf->arena, (size_t)config->n_hosts, sizeof(*names));
    struct queue_config *queues;
    for (int i = 0; i < config->n_hosts; i++) {
        names[i] = config->hosts[i].name;
    }
    groups_read(conf, names, config->n_hosts, &config->groups);
    pend_config_read(conf, &config->groups, &config->pend);
    queue_read(conf, &config->groups, &queues, &config->n_queues);
    threshold_config_queues(conf, &config->resource_config, queues, config->n_queues);
    limit_config_read(conf, &config->groups, &config->limits, &config->n_limits);
    fairshare_load(conf, &config->groups, queues, config->n_queues, &config->fairshare);
    slot_pool_config_read(conf, &config->groups, queues, config->n_queues,
                          &config->fairshare, &config->pools);
    preempt_policy_read(conf, queues, config->n_queues, &config->preempt);
    for (int i = 0; i < config->n_queues && config->pools.n_pools > 0; i++) {
        if (config->pools.pool_of[i] >= 0) {
            reservation_config_collect(&queues[i].reservation);
        }
    }
    config->queues = queues;
    for (int i = 0; i < config->n_queues; i++) {
        config->accept_ms = queues[i].accept_interval_ms > config->accept_ms
                                ? queues[i].accept_interval_ms
                                : config->accept_ms;
    }
    read_applications(conf, config);
    if (config->n_queues == 0) {
        conf_complain(conf, CONF_ERROR, site->section, NULL, NULL,
                      "no queue, expected a section Queue");
    }
    read_default_queue(conf, config);
}

/* ---------------------------------------------------------------- exports */

/* Lists the places of the resource (ResourceMap), in file order. */
static void list_places(struct arena *arena, const struct resource_config *definitions,
                        struct export_resource *resource)
{
    size_t n_places = 0;
    for (int i = 0; i < definitions->n_places; i++) {
        n_places += strcmp(definitions->places[i].name, resource->name) == 0;
    }
    struct export_place *places = arena_alloc(arena, n_places, sizeof(*places));
    resource->places = places;
    for (int i = 0; i < definitions->n_places; i++) {
        const struct resource_location *place = &definitions->places[i];
        double number = -1;
        if (strcmp(place->name, resource->name) != 0 ||
            (place->value != NULL &&
             !resource_value_parse_number(place->value, &number))) {
            continue;
        }
        number = number < INSTANCES_MAX ? number : INSTANCES_MAX;
        places[resource->n_places++] = (struct export_place){
            number >= 0 ? (int64_t)number : -1, place->hosts, place->n_hosts};
    }
}

static void read_shared(struct conf *conf, const struct export_site *site,
                        struct site_config *config)
{
    const struct resource_config *definitions = &config->resource_config;
    struct export_resource *resources =
        arena_alloc(conf->arena, (size_t)definitions->n_resources, sizeof(*resources));
    for (int i = 0; i < definitions->n_resources; i++) {
        const struct resource *from = &definitions->resources[i];
        resources[i].name = from->name;
        resources[i].is_numeric = from->type == RESOURCE_NUMERIC;
        resources[i].traits = resource_config_traits(from);
        list_places(conf->arena, definitions, &resources[i]);
    }
    export_shared_read(conf, site, resources, definitions->n_resources,
                       &config->exports);
}

static void read_exports(struct conf *conf, bool is_simulated,
                         struct site_config *config)
{
    struct conf_place policy = conf_value_last(conf, "Parameters", "RECLAIM_POLICY");
    struct conf_place lost = conf_value_last(conf, "Parameters", "ON_LOST");
    struct export_terms defaults = {
        .reclaim_policy = conf_value_word(conf, &policy, "RECLAIM_POLICY") == 1
                              ? RECLAIM_DEMAND
                              : RECLAIM_LSF,
        .min_hold_ms = parameter_duration(conf, "MIN_HOLD"),
        .lease_term_ms = parameter_duration(conf, "LEASE_TERM"),
        .ends_lost = conf_value_word(conf, &lost, "ON_LOST") == 1,
    };
    struct resreq_selector *selector =
        resreq_config_selector(conf, config, is_simulated);
    struct export_host *hosts =
        arena_alloc(conf->arena, (size_t)config->n_hosts, sizeof(*hosts));
    for (int i = 0; i < config->n_hosts; i++) {
        hosts[i] = (struct export_host){config->hosts[i].name, config->hosts[i].max,
                                        config->hosts[i].type, i};
    }
    struct export_site site = {.name = config->name,
                               .hosts = hosts,
                               .n_hosts = config->n_hosts,
                               .match = resreq_config_match,
                               .arg = selector};
    export_read(conf, &site, &defaults, &config->exports);
    read_shared(conf, &site, config);
    resreq_config_free(selector);
    if (config->exports.n_leases > 0 && (config->roles & ROLE_PROVIDER) == 0) {
        const struct conf_section *section = conf_next(conf, "HostExport", NULL);
        conf_complain(
            conf, CONF_ERROR, section, NULL, NULL,
            "ROLES of section Site leave out provider, expected it with a HostExport");
    }
}

/* ---------------------------------------------------------------- the site */

static void read_roles(struct conf *conf, const struct conf_place *site,
                       struct site_config *config)
{
    struct conf_words words =
        conf_words(conf->arena, conf_value_text(conf, site, "ROLES"));
    for (int i = 0; i < words.count; i++) {
        if (strcasecmp(words.words[i], "provider") == 0) {
            config->roles |= ROLE_PROVIDER;
        } else if (strcasecmp(words.words[i], "consumer") == 0) {
            config->roles |= ROLE_CONSUMER;
        } else {
            COMPLAIN(site, conf_cell(site->row, "ROLES"),
                     "unknown role \"%s\", expected provider, consumer",
                     words.words[i]);
        }
    }
}

static const char *need(struct conf *conf, const struct conf_place *site,
                        const char *key, const char *why)
{
    const char *text = conf_text(site->row, key, NULL);
    if (text == NULL) {
        COMPLAIN(site, conf_cell(site->row, key), "%s is missing, expected it %s", key,
                 why);
    }
    return text;
}

static void read_shell(struct conf *conf, const struct conf_place *site,
                       struct site_setup *setup)
{
    const struct conf_row *row = site->row;
    setup->broker = conf_text(row, "BROKER", NULL);
    setup->config.is_alone = setup->broker == NULL;
    setup->key = conf_text(row, "KEY", NULL);
    setup->broker_key = conf_text(row, "BROKER_KEY", NULL);
    if (setup->broker != NULL) {
        need(conf, site, "KEY", "with BROKER");
        need(conf, site, "BROKER_KEY", "with BROKER");
    }
    setup->listen = conf_text(row, "LISTEN", NULL);
    setup->host_keys = conf_text(row, "HOST_KEYS", NULL);
    setup->host_key = conf_text(row, "HOST_KEY", NULL);
    if (setup->listen != NULL && setup->broker == NULL) {
        need(conf, site, "KEY", "with LISTEN");
    }
    if (setup->listen != NULL && setup->host_key == NULL) {
        need(conf, site, "HOST_KEYS", "with LISTEN: a key for each host");
    }
    if (setup->host_key != NULL) {
        conf_complain(conf, CONF_WARNING, site->section, row,
                      conf_cell(row, "HOST_KEY"),
                      "whoever has this key takes the place of any host that is not in "
                      "HOSTS_HERE, and gets the commands and environments of its jobs; "
                      "HOST_KEYS gives each host its own");
    }
    const char *http = conf_text(row, "HTTP", NULL);
    struct conf_words names =
        conf_words(conf->arena, conf_text(row, "HTTP_HOSTS", NULL));
    setup->http_hosts = names.words;
    setup->n_http_hosts = names.count;
    struct err err;
    if (http != NULL && conf_parse_address(http, conf->arena, &setup->http_host,
                                           &setup->http_port, &err) < 0) {
        COMPLAIN(site, conf_cell(row, "HTTP"), "%s", err.text);
    }
    setup->spool = need(conf, site, "SPOOL", "for the journal");
    setup->socket = conf_text(row, "SOCKET", NULL);
    if (setup->socket == NULL && setup->spool != NULL) {
        setup->socket = arena_printf(conf->arena, "%s/sublet.sock", setup->spool);
    }
}

static void read_site(struct conf *conf, const struct conf_place *site,
                      struct site_config *config)
{
    const char *name = need(conf, site, "NAME", "in section Site");
    struct conf_words admins =
        conf_words(conf->arena, conf_value_text(conf, site, "ADMINS"));
    config->name = name != NULL && conf_parse_name(name, NULL) == 0 ? name : "";
    config->admins = admins.words;
    config->n_admins = admins.count;
    config->freeze_timeout_ms =
        conf_value_duration(conf, site, "FREEZE_TIMEOUT", 30000);
    config->start_timeout_ms = conf_value_duration(conf, site, "START_TIMEOUT", 300000);
    config->lease_account = conf_value_text(conf, site, "LEASE_USER");
    config->lease_account = config->lease_account != NULL ? config->lease_account : "";
    lease_user_read_uids(conf, site, config);
    user_map_read(conf, &config->users);
    read_roles(conf, site, config);
    /* The broker applies the default: 0 is "not configured". */
    struct conf_place delay = conf_value_last(conf, "Parameters", "MC_RECLAIM_DELAY");
    if (is_set(delay.row, "MC_RECLAIM_DELAY")) {
        config->reclaim_delay_ms = parameter_duration(conf, "MC_RECLAIM_DELAY");
    }
    config->clean_period_ms = parameter_duration(conf, "CLEAN_PERIOD");
    config->history_period_ms = parameter_duration(conf, "HISTORY_PERIOD");
    config->terminate_ms = parameter_duration(conf, "JOB_TERMINATE_INTERVAL");
    config->max_user_priority = parameter_int(conf, "MAX_USER_PRIORITY");
    config->max_array_size = parameter_int(conf, "MAX_JOB_ARRAY_SIZE");
}

static bool read_all(struct conf *conf, bool is_simulated, struct site_setup *setup)
{
    const struct conf_section *section = conf_next(conf, "Site", NULL);
    struct host_entries hosts;
    memset(setup, 0, sizeof(*setup));
    if (section == NULL || section->n_rows == 0) {
        return false;
    }
    struct conf_place site = {section, &section->rows[0]};
    const struct conf_section *second = conf_next(conf, "Site", section);
    if (second != NULL || section->n_rows > 1) {
        conf_complain(conf, CONF_ERROR, second != NULL ? second : section, NULL, NULL,
                      "a second site, expected one section Site");
    }
    read_site(conf, &site, &setup->config);
    if (!is_simulated) {
        read_shell(conf, &site, setup);
    }
    read_hosts(conf, &hosts);
    read_hosts_here(conf, &site, &hosts, setup);
    set_hosts(conf, &hosts, &setup->config);
    read_elims(conf, &site, setup);
    read_queues(conf, &site, &setup->config);
    resreq_config_read(conf, &setup->config);
    threshold_config_read(conf, &setup->config);
    rusage_config_read(conf, &setup->config);
    read_exports(conf, is_simulated, &setup->config);
    return true;
}

bool site_config_read(struct conf *conf, struct site_setup *setup)
{
    return read_all(conf, false, setup);
}

bool site_config_read_simulated(struct conf *conf, struct site_setup *setup)
{
    return read_all(conf, true, setup);
}

/* ---------------------------------------------------------------- rules of jobs */

struct job_rules_stack site_config_rules_stack(const struct site_config *config,
                                               int queue, const char *app)
{
    const struct application *application =
        app[0] == '\0'
            ? NULL
            : application_find(config->applications, config->n_applications, app);
    return (struct job_rules_stack){
        .site = &config->rules,
        .queue = queue >= 0 ? &config->queues[queue].rules.job : NULL,
        .app = application != NULL ? &application->rules : NULL,
    };
}

void site_config_rules(const struct site_config *config, int queue, const char *app,
                       struct job_rules *rules)
{
    struct job_rules_stack stack = site_config_rules_stack(config, queue, app);
    job_rules_merge(&stack, rules);
}

bool site_config_has_post(const struct site_config *config, int queue,
                          const struct job_spec *spec)
{
    struct job_rules rules;
    site_config_rules(config, queue, spec->app, &rules);
    return spec->n_post_execs > 0 || rules.post_exec[0] != '\0' ||
           (queue >= 0 && config->queues[queue].rules.job.post_exec[0] != '\0');
}
