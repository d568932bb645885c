/* SPDX-License-Identifier: Apache-2.0 */
/* site_config.c: see site_config.h. A value that conf_check finds malformed is its
 * error; here it counts as unset. */
#include "site/config/site_config.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"
#include "model/local_resources.h"
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

/* "INCREMENT/INTERVAL", in minutes. */
static void read_raise(struct conf *conf, struct site_config *config)
{
    static const char key[] = "JOB_PRIORITY_OVER_TIME";
    const int64_t most_minutes = INT64_C(10) * 365 * 24 * 60;
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    const char *text = at.row != NULL ? conf_text(at.row, key, NULL) : NULL;
    const char *slash = text != NULL ? strchr(text, '/') : NULL;
    int64_t minutes;
    if (text == NULL) {
        return;
    }
    bool is_good = slash != NULL &&
                   conf_parse_int(arena_strn(conf->arena, text, (size_t)(slash - text)),
                                  1, INT32_MAX, &config->raise.increment, NULL) == 0 &&
                   conf_parse_int(slash + 1, 1, most_minutes, &minutes, NULL) == 0;
    if (!is_good) {
        config->raise = (struct job_raise){.interval_ms = 0};
        CONF_COMPLAIN(
            conf, CONF_ERROR, &at, key,
            "\"%.*s\", expected INCREMENT/INTERVAL, as 3/20 for three every 20 "
            "minutes",
            conf_shown(text), text);
        return;
    }
    config->raise.interval_ms = minutes * 60000;
    if (config->max_user_priority == 0) {
        config->raise = (struct job_raise){.interval_ms = 0};
        CONF_COMPLAIN(conf, CONF_WARNING, &at, key,
                      "no effect, expected MAX_USER_PRIORITY as well");
    }
}

/* ---------------------------------------------------------------- elims */

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
    const char *egroup = conf_text(site->row, "EGROUP", "/");
    if (egroup[0] != '/') {
        COMPLAIN(site, conf_cell(site->row, "EGROUP"),
                 "\"%s\", expected a path that begins with /", egroup);
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

/* DEFAULT_PROJECT, DEFAULT_JOBGROUP and STRICT_UG_CONTROL. */
static void read_defaults(struct conf *conf, struct site_config *config)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "DEFAULT_JOBGROUP");
    struct conf_place of_project =
        conf_value_last(conf, "Parameters", "DEFAULT_PROJECT");
    struct conf_place of_groups =
        conf_value_last(conf, "Parameters", "STRICT_UG_CONTROL");
    config->is_group_strict =
        conf_value_bool(conf, &of_groups, "STRICT_UG_CONTROL", false);
    config->default_job_group = conf_text(at.row, "DEFAULT_JOBGROUP", "");
    config->default_project = conf_text(of_project.row, "DEFAULT_PROJECT", "default");
    if (config->default_job_group[0] != '\0' && config->default_job_group[0] != '/') {
        COMPLAIN(&at, conf_cell(at.row, "DEFAULT_JOBGROUP"),
                 "\"%s\", expected a path such as /%%p/%%u", config->default_job_group);
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
    pend_config_read(conf, &config->groups, "MAX_PEND_JOBS", PEND_JOBS_DEFAULT,
                     &config->pend);
    pend_config_read(conf, &config->groups, "MAX_PEND_SLOTS", INT32_MAX,
                     &config->pend_slots);
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
    read_defaults(conf, config);
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

/* BROKER_KEY has a file for each of BROKER, or one for all. */
static void read_brokers(struct conf *conf, const struct conf_place *site,
                         struct site_setup *setup)
{
    struct conf_words brokers = conf_words(conf->arena, setup->broker);
    struct conf_words keys = {.words = &setup->broker_key, .count = 1};
    if (brokers.count > 1) { /* a path alone may have spaces */
        keys = conf_words(conf->arena, setup->broker_key);
    }
    if (keys.count != 1 && keys.count != brokers.count) {
        COMPLAIN(site, conf_cell(site->row, "BROKER_KEY"),
                 "BROKER_KEY has %d files for %d brokers, expected one for all, or one "
                 "for each",
                 keys.count, brokers.count);
        return;
    }
    setup->brokers =
        arena_alloc(conf->arena, (size_t)brokers.count, sizeof(*setup->brokers));
    for (int i = 0; i < brokers.count; i++) {
        setup->brokers[i] =
            (struct site_broker){brokers.words[i], keys.words[keys.count > 1 ? i : 0]};
        for (int j = 0; j < i; j++) {
            if (strcmp(brokers.words[j], brokers.words[i]) == 0) {
                COMPLAIN(site, conf_cell(site->row, "BROKER"),
                         "broker %s is listed twice", brokers.words[i]);
            }
        }
    }
    setup->n_brokers = brokers.count;
    setup->config.has_standbys = brokers.count > 1;
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
        if (need(conf, site, "BROKER_KEY", "with BROKER") != NULL) {
            read_brokers(conf, site, setup);
        }
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

/* Those of the file of the site come before those of an LSF cluster. */
static const char *admins_text(struct conf *conf, const struct conf_place *site)
{
    struct conf_place of_lsf = conf_value_last(conf, "ClusterAdmins", "ADMINISTRATORS");
    const char *text = conf_text(of_lsf.row, "ADMINISTRATORS", NULL);
    return text == NULL || conf_text(site->row, "ADMINS", NULL) != NULL
               ? conf_value_text(conf, site, "ADMINS")
               : text;
}

static void read_site(struct conf *conf, const struct conf_place *site,
                      struct site_config *config)
{
    const char *name = need(conf, site, "NAME", "in section Site");
    struct conf_words admins = conf_words(conf->arena, admins_text(conf, site));
    config->name = name != NULL && conf_parse_name(name, NULL) == 0 ? name : "";
    config->admins = admins.words;
    config->n_admins = admins.count;
    config->overview = (enum overview)conf_value_word(conf, site, "OVERVIEW");
    config->freeze_timeout_ms =
        conf_value_duration(conf, site, "FREEZE_TIMEOUT", 30000);
    config->start_timeout_ms = conf_value_duration(conf, site, "START_TIMEOUT", 300000);
    config->lease_account = conf_value_text(conf, site, "LEASE_USER");
    config->lease_account = config->lease_account != NULL ? config->lease_account : "";
    config->own_account = "";
    lease_user_read_uids(conf, site, config);
    user_map_read(conf, &config->users);
    read_roles(conf, site, config);
    /* The broker applies the default: 0 is "not configured". */
    struct conf_place delay = conf_value_last(conf, "Parameters", "MC_RECLAIM_DELAY");
    if (is_set(delay.row, "MC_RECLAIM_DELAY")) {
        config->reclaim_delay_ms = parameter_duration(conf, "MC_RECLAIM_DELAY");
    }
    config->clean_period_ms = parameter_duration(conf, "CLEAN_PERIOD");
    struct conf_place report = conf_value_last(conf, "Parameters", "JOB_REPORT");
    config->writes_reports = conf_value_bool(conf, &report, "JOB_REPORT", true);
    config->history_period_ms = parameter_duration(conf, "HISTORY_PERIOD");
    config->ledger_mib = parameter_int(conf, "LEDGER_SIZE");
    config->terminate_ms = parameter_duration(conf, "JOB_TERMINATE_INTERVAL");
    config->retry_ms = parameter_duration(conf, "SUB_TRY_INTERVAL");
    config->pg_idle_ms = parameter_duration(conf, "PG_SUSP_IT");
    config->max_user_priority = parameter_int(conf, "MAX_USER_PRIORITY");
    config->max_array_size = parameter_int(conf, "MAX_JOB_ARRAY_SIZE");
    config->user_jobs_mib = parameter_int(conf, "USER_JOBS_SIZE");
    read_raise(conf, config);
}

static bool read_all(struct conf *conf, bool is_simulated, struct site_setup *setup)
{
    const struct conf_section *section = conf_next(conf, "Site", NULL);
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
    scheduler_config_read(conf, &site, setup);
    host_config_read(conf, &site, setup);
    read_elims(conf, &site, setup);
    read_queues(conf, &site, &setup->config);
    compute_unit_read(conf, &setup->config);
    slurm_borrow_config_read(conf, &site, setup);
    resreq_config_read(conf, &setup->config);
    threshold_config_read(conf, &setup->config);
    rusage_config_read(conf, &setup->config);
    export_config_read(conf, is_simulated, &setup->config);
    limit_host_config_check(conf, &setup->config);
    scheduler_config_judge(conf, &site, &setup->config);
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
        .cpu_factor = limit_host_config_factor,
        .cpu_factor_arg = config,
    };
}

double site_config_least_cpu_factor(const struct site_config *config)
{
    double least = 1;
    for (int i = 0; i < config->resource_config.n_models; i++) {
        double factor = config->resource_config.models[i].cpuf;
        least = factor > 0 && factor < least ? factor : least;
    }
    return least;
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
