/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_files.c: see scenario_files.h. */
#include "sim/scenario/scenario_files.h"

#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario_build.h"

enum { LOST_AFTER_MS = 15000 };

/* Relative to the scenario. */
static const char *path_of(struct scenario *scenario, const char *path)
{
    const char *slash = strrchr(scenario->file, '/');

    if (path[0] == '/' || !slash) {
        return path;
    }
    return arena_printf(&scenario->arena, "%.*s%s", (int)(slash + 1 - scenario->file),
                        scenario->file, path);
}

/* Copies the diagnostics of a configuration to the scenario. */
static void copy_diags(struct conf *to, const struct conf *from)
{
    for (struct conf_diag *diag = from->diags, *next; diag; diag = next) {
        next = diag->next;
        diag->next = NULL;
        if (to->last_diag) {
            to->last_diag->next = diag;
        } else {
            to->diags = diag;
        }
        to->last_diag = diag;
    }
    to->n_errors += from->n_errors;
    to->n_warnings += from->n_warnings;
}

static void read_conf(struct scenario *scenario, const char *path, int line,
                      const struct scenario_files *files, struct conf *conf)
{
    const char *text;
    size_t length;
    struct err err;

    conf_init(conf, &scenario->arena);
    if (files->read_conf) {
        files->read_conf(files->arg, path, conf);
    } else if (files->read(files->arg, path, &text, &length, &err)) {
        scenario_build_complain(scenario, line, "%s", err.text);
    } else {
        conf_read(conf, path, text, length);
    }
    conf_check(conf);
}

/* ---- sites */

/* Reads the configuration of a site; `line` is the line that names the file. */
static void read_site(struct scenario *scenario, const char *name, const char *path,
                      int line, const struct scenario_files *files,
                      struct site_setup *setup)
{
    struct conf conf;
    int n_errors = scenario->conf.n_errors;

    path = path_of(scenario, path);
    read_conf(scenario, path, line, files, &conf);
    if (scenario->conf.n_errors > n_errors) {
        return; /* not even readable */
    }
    bool is_site = site_config_read_simulated(&conf, setup);
    copy_diags(&scenario->conf, &conf);
    if (!is_site && conf.n_errors == 0) {
        scenario_build_complain(scenario, line,
                                "no section Site in %s, expected one with NAME", path);
    } else if (is_site && setup->config.name[0] &&
               strcmp(setup->config.name, name) != 0) {
        scenario_build_complain(scenario, line,
                                "site \"%s\" is \"%s\" in %s, expected the same name",
                                name, setup->config.name, path);
    }
}

/* ---- broker */

static int compare_members(const void *a, const void *b)
{
    const struct broker_member *one = a, *other = b;

    return strcmp(one->name, other->name);
}

/* Makes all sites members, with the roles that their configurations allow. */
static void default_members(struct scenario *scenario, struct broker_config *config)
{
    struct broker_member *members =
        arena_alloc(&scenario->arena, (size_t)scenario->n_sites, sizeof members[0]);

    for (int i = 0; i < scenario->n_sites; i++) {
        members[i].name = scenario->sites[i].name;
        members[i].roles = ROLE_PROVIDER | ROLE_CONSUMER;
    }
    if (scenario->n_sites > 1) {
        qsort(members, (size_t)scenario->n_sites, sizeof members[0], compare_members);
    }
    config->members = members;
    config->n_members = scenario->n_sites;
}

static void check_members(struct scenario *scenario, int line)
{
    const struct broker_config *config = &scenario->broker.config;

    for (int i = 0; i < scenario->n_sites; i++) {
        bool is_member = false;

        for (int k = 0; k < config->n_members; k++) {
            is_member |= !strcmp(config->members[k].name, scenario->sites[i].name);
        }
        if (!is_member) {
            scenario_build_complain(
                scenario, line,
                "site \"%s\" is not a member there, expected it in section "
                "Member",
                scenario->sites[i].name);
        }
    }
}

static void read_broker(struct scenario *scenario, const char *path, int line,
                        const struct scenario_files *files, struct broker_setup *setup)
{
    struct conf conf;
    int n_errors = scenario->conf.n_errors;

    path = path_of(scenario, path);
    read_conf(scenario, path, line, files, &conf);
    if (scenario->conf.n_errors > n_errors) {
        return;
    }
    bool is_broker = broker_config_read_simulated(&conf, setup);
    copy_diags(&scenario->conf, &conf);
    if (!is_broker && conf.n_errors == 0) {
        scenario_build_complain(scenario, line, "no section Broker in %s, expected one",
                                path);
    }
}

/* A later configuration may omit a site, which is then no longer a member. */
static void read_first_broker(struct scenario *scenario, const char *path, int line,
                              const struct scenario_files *files)
{
    int n_errors = scenario->conf.n_errors;

    read_broker(scenario, path, line, files, &scenario->broker);
    if (scenario->conf.n_errors == n_errors && scenario->broker.config.n_members > 0) {
        check_members(scenario, line);
    }
}

static void read_reload(struct scenario *scenario, struct statement *at,
                        const struct scenario_files *files)
{
    struct statement_reload *reload = at->reload;

    if (at->site != SCENARIO_BROKER) {
        read_site(scenario, scenario->sites[at->site].name, reload->path, at->line,
                  files, &reload->site);
        return;
    }
    read_broker(scenario, reload->path, at->line, files, &reload->broker);
    if (reload->broker.config.n_members == 0) {
        default_members(scenario, &reload->broker.config);
    }
}

/* ---- workloads */

static void read_workload(struct scenario *scenario, struct statement *statement,
                          const struct scenario_files *files)
{
    struct statement_workload *workload = &statement->workload;
    const char *path = path_of(scenario, workload->path);
    const char *text;
    size_t length;
    struct err err;

    if (files->read(files->arg, path, &text, &length, &err) ||
        swf_read(path, text, length, &workload->options, &scenario->arena,
                 &workload->swf, &err)) {
        scenario_build_complain(scenario, statement->line, "workload: %s", err.text);
    } else if (workload->swf.n_jobs == 0) {
        scenario_build_complain(scenario, statement->line,
                                "workload: no job in %s, expected at least one", path);
    }
}

void scenario_files_read(struct scenario *scenario, const char *broker, int broker_line,
                         const char *const *sites, const struct scenario_files *files)
{
    scenario->broker.config.lost_after_ms = LOST_AFTER_MS;
    if (broker) {
        read_first_broker(scenario, broker, broker_line, files);
    }
    for (int i = 0; i < scenario->n_sites; i++) {
        struct scenario_site *site = &scenario->sites[i];

        read_site(scenario, site->name, sites[i], site->line, files, &site->setup);
    }
    if (scenario->broker.config.n_members == 0) {
        default_members(scenario, &scenario->broker.config);
    }
    for (int i = 0; i < scenario->n_statements; i++) {
        struct statement *at = &scenario->statements[i];

        if (at->kind == STATEMENT_WORKLOAD) {
            read_workload(scenario, at, files);
        } else if (at->kind == STATEMENT_RELOAD) {
            read_reload(scenario, at, files);
        }
    }
}
