/* SPDX-License-Identifier: Apache-2.0 */
/* reserve_config.c: see reserve_config.h. */
#include "site/reserve_config.h"

#include <string.h>

#include "base/conf_value.h"

static const struct resource *find_defined(const struct site_config *config,
                                           const char *name)
{
    for (int i = 0; i < config->facts.n_resources; i++) {
        if (strcmp(config->facts.resources[i].name, name) == 0) {
            return &config->facts.resources[i];
        }
    }
    return NULL;
}

static const struct reserve_method *find_method(const struct site_config *config,
                                                const char *resource)
{
    for (int i = 0; i < config->n_methods; i++) {
        if (strcmp(config->methods[i].resource, resource) == 0) {
            return &config->methods[i];
        }
    }
    return NULL;
}

/* What is wrong with a row about that resource; NULL: nothing. */
static const char *wrong_with(const struct site_config *config, const char *name)
{
    const struct resource *resource = find_defined(config, name);
    if (resource == NULL) {
        return "is not defined in section Resource, expected a numeric resource of it";
    }
    if (!resource->is_consumable || resource->is_increasing ||
        resource->type != RESOURCE_NUMERIC) {
        return "cannot be reserved, expected a Numeric resource with INCREASING N and "
               "CONSUMABLE Y";
    }
    return find_method(config, name) != NULL ? "stands there twice" : NULL;
}

static void read_row(struct conf *conf, const struct conf_section *section,
                     const struct conf_row *row, const struct site_config *config,
                     struct reserve_method *method)
{
    const char *name = conf_text(row, "RESOURCE", NULL);
    const char *how = conf_text(row, "METHOD", NULL);
    method->scope = RESREQ_SCOPE_DEFAULT;
    if (name == NULL || how == NULL) {
        conf_complain(conf, CONF_ERROR, section, row, NULL,
                      "a row needs both RESOURCE and METHOD");
        return;
    }
    const char *wrong = wrong_with(config, name);
    if (wrong != NULL) {
        conf_complain(conf, CONF_ERROR, section, row, conf_cell(row, "RESOURCE"),
                      "resource \"%s\" %s", name, wrong);
        return;
    }
    method->resource = name;
    method->scope = strcmp(how, "PER_JOB") == 0    ? RESREQ_SCOPE_JOB
                    : strcmp(how, "PER_HOST") == 0 ? RESREQ_SCOPE_HOST
                                                   : RESREQ_SCOPE_SLOT;
}

static int count_rows(const struct conf *conf)
{
    const struct conf_section *section = NULL;
    int n_rows = 0;
    while ((section = conf_next(conf, "ReservationUsage", section)) != NULL) {
        n_rows += section->n_rows;
    }
    return n_rows;
}

void reserve_config_read(struct conf *conf, struct site_config *config)
{
    struct conf_place at =
        conf_value_last(conf, "Parameters", "RESOURCE_RESERVE_PER_SLOT");
    struct reserve_method *methods =
        arena_alloc(conf->arena, (size_t)count_rows(conf), sizeof(*methods));
    const struct conf_section *section = NULL;
    config->is_reserved_per_slot =
        conf_value_bool(conf, &at, "RESOURCE_RESERVE_PER_SLOT", false);
    config->methods = methods;
    config->n_methods = 0;
    while ((section = conf_next(conf, "ReservationUsage", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct reserve_method *method = &methods[config->n_methods];
            read_row(conf, section, &section->rows[i], config, method);
            config->n_methods += method->scope != RESREQ_SCOPE_DEFAULT;
        }
    }
}

enum resreq_scope reserve_config_scope(const struct site_config *config,
                                       const char *resource)
{
    const struct reserve_method *method = find_method(config, resource);
    return method != NULL                 ? method->scope
           : config->is_reserved_per_slot ? RESREQ_SCOPE_SLOT
                                          : RESREQ_SCOPE_DEFAULT;
}
