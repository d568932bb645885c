/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_config.c: what an amount in rusage is of if the job does not say (/job, /host,
 * /slot): section ReservationUsage, else RESOURCE_RESERVE_PER_SLOT; and the resources
 * for which jobs are preempted: PREEMPTABLE_RESOURCES.
 *
 *     Begin ReservationUsage
 *     RESOURCE  METHOD
 *     licences  PER_SLOT
 *     End ReservationUsage
 *
 * Without either, an amount of a resource that hosts share (ResourceMap) is of the job;
 * an amount of any other resource is of each of its hosts.
 *
 * The resources of Limit sections are checked here, as those that jobs reserve are
 * known here.
 *
 * Jobs release memory only when they are ended: mem in PREEMPTABLE_RESOURCES is a
 * warning if no queue has TERMINATE_WHEN = PREEMPT.
 * Source: docs/design/scheduling.md "What protects a job", docs/design/resreq.md
 * "Rusage". */
#include "site/config/config_parts.h"

#include <string.h>

#include "base/conf/conf_value.h"
#include "model/row.h"

static const struct resource *find_defined(const struct site_config *config,
                                           const char *name)
{
    for (int i = 0; i < config->resource_config.n_resources; i++) {
        if (strcmp(config->resource_config.resources[i].name, name) == 0) {
            return &config->resource_config.resources[i];
        }
    }
    return NULL;
}

static const struct rusage_method *find_method(const struct site_config *config,
                                               const char *resource)
{
    for (int i = 0; i < config->n_methods; i++) {
        if (strcmp(config->methods[i].resource, resource) == 0) {
            return &config->methods[i];
        }
    }
    return NULL;
}

static bool may_be_reserved(const struct resource *resource)
{
    return resource->is_consumable && !resource->is_increasing &&
           resource->type == RESOURCE_NUMERIC;
}

static bool is_built_in(const char *name)
{
    return strcmp(name, "mem") == 0 || strcmp(name, "swp") == 0 ||
           strcmp(name, "tmp") == 0;
}

/* Why jobs cannot reserve it; NULL: they can. */
static const char *name_error(const struct site_config *config, const char *name)
{
    const struct resource *resource = find_defined(config, name);
    if (is_built_in(name)) {
        return NULL;
    }
    if (resource == NULL) {
        return "is not defined in section Resource, expected a numeric resource of it";
    }
    return may_be_reserved(resource)
               ? NULL
               : "cannot be reserved, expected a Numeric resource with INCREASING N "
                 "and CONSUMABLE Y";
}

/* The error in a row about that resource; NULL: none. */
static const char *row_error(const struct site_config *config, const char *name)
{
    const char *wrong = name_error(config, name);
    return wrong != NULL                       ? wrong
           : find_method(config, name) != NULL ? "appears there twice"
                                               : NULL;
}

static void read_row(struct conf *conf, const struct conf_place *at,
                     const struct site_config *config, struct rusage_method *method)
{
    const char *name = conf_text(at->row, "RESOURCE", NULL);
    const char *how = conf_text(at->row, "METHOD", NULL);
    method->scope = RESREQ_SCOPE_DEFAULT;
    if (name == NULL) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, NULL,
                      "a row needs RESOURCE");
        return;
    }
    const char *wrong = row_error(config, name);
    if (wrong != NULL) {
        conf_complain(conf, CONF_ERROR, at->section, at->row,
                      conf_cell(at->row, "RESOURCE"), "resource \"%s\" %s", name,
                      wrong);
        return;
    }
    if (how == NULL) {
        return; /* LSF's "-": the default of the resource */
    }
    method->resource = name;
    method->scope = strcmp(how, "PER_JOB") == 0    ? RESREQ_SCOPE_JOB
                    : strcmp(how, "PER_HOST") == 0 ? RESREQ_SCOPE_HOST
                                                   : RESREQ_SCOPE_SLOT;
}

/* ---------------------------------------------------------------- limits */

/* Whether jobs can reserve what Limit sections limit, which are the last limits. */
static void check_limits(struct conf *conf, const struct site_config *config)
{
    struct conf_place at = {0};
    int at_limit = config->n_limits - conf_count_rows(conf, "Limit");
    for (; conf_next_row(conf, "Limit", &at); at_limit++) {
        const struct limit *limit = &config->limits[at_limit];
        for (int i = 0; i < limit->n_amounts; i++) {
            const char *name = limit->amounts[i].resource;
            const char *wrong = name_error(config, name);
            const struct conf_cell *cell = conf_cell(at.row, "RESOURCE");
            if (cell == NULL || cell->value == NULL ||
                strstr(cell->value, name) == NULL) {
                cell = conf_cell(at.row, "LICENSE");
            }
            if (wrong != NULL) {
                conf_complain(conf, CONF_ERROR, at.section, at.row, cell,
                              "resource \"%s\" %s", name, wrong);
            }
        }
    }
}

/* ---------------------------------------------------------------- to be preempted */

/* NULL: none. */
static const char *preemptable_error(const struct site_config *config, const char *name)
{
    const struct resource *resource = find_defined(config, name);
    if (strcmp(name, "mem") == 0) {
        return NULL;
    }
    if (resource == NULL) {
        return "is neither mem nor defined in section Resource";
    }
    if (!may_be_reserved(resource)) {
        return "cannot be reserved, expected a Numeric resource with INCREASING N and "
               "CONSUMABLE Y";
    }
    return resource->is_released
               ? NULL
               : "is not released by suspended jobs, expected RELEASE Y";
}

static bool ends_jobs(const struct site_config *config)
{
    for (int i = 0; i < config->preempt.n_queues; i++) {
        if ((config->preempt.queues[i].terminate_when & SUSPEND_PREEMPT) != 0) {
            return true;
        }
    }
    return false;
}

static void read_preemptable(struct conf *conf, struct site_config *config)
{
    static const char key[] = "PREEMPTABLE_RESOURCES";
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    const struct conf_cell *cell = at.row != NULL ? conf_cell(at.row, key) : NULL;
    struct conf_words words =
        conf_words(conf->arena, cell != NULL ? cell->value : NULL);
    for (int i = 0; i < words.count; i++) {
        const char *wrong = preemptable_error(config, words.words[i]);
        if (wrong != NULL) {
            conf_complain(conf, CONF_ERROR, at.section, at.row, cell,
                          "resource \"%s\" %s", words.words[i], wrong);
        } else if (strcmp(words.words[i], "mem") == 0 && !ends_jobs(config)) {
            conf_complain(conf, CONF_WARNING, at.section, at.row, cell,
                          "suspended jobs do not release memory: only jobs of queues "
                          "with TERMINATE_WHEN = PREEMPT are preempted for it");
        }
    }
    config->preemptable = words.words;
    config->n_preemptable = words.count;
}

void rusage_config_read(struct conf *conf, struct site_config *config)
{
    struct conf_place at = {0}, per_slot;
    struct rusage_method *methods =
        arena_alloc(conf->arena, (size_t)conf_count_rows(conf, "ReservationUsage"),
                    sizeof(*methods));
    per_slot = conf_value_last(conf, "Parameters", "RESOURCE_RESERVE_PER_SLOT");
    config->is_reserved_per_slot =
        conf_value_bool(conf, &per_slot, "RESOURCE_RESERVE_PER_SLOT", false);
    config->methods = methods;
    config->n_methods = 0;
    read_preemptable(conf, config);
    check_limits(conf, config);
    while (conf_next_row(conf, "ReservationUsage", &at)) {
        struct rusage_method *method = &methods[config->n_methods];
        read_row(conf, &at, config, method);
        config->n_methods += method->scope != RESREQ_SCOPE_DEFAULT;
    }
}

enum resreq_scope rusage_config_scope(const struct site_config *config,
                                      const char *resource)
{
    const struct rusage_method *method = find_method(config, resource);
    return method != NULL                 ? method->scope
           : config->is_reserved_per_slot ? RESREQ_SCOPE_SLOT
                                          : RESREQ_SCOPE_DEFAULT;
}

bool rusage_config_is_preemptable(const struct site_config *config,
                                  const char *resource)
{
    for (int i = 0; i < config->n_preemptable; i++) {
        if (strcmp(config->preemptable[i], resource) == 0) {
            return true;
        }
    }
    return false;
}
