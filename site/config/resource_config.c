/* SPDX-License-Identifier: Apache-2.0 */
/* resource_config.c: see resource_config.h. Names are added to a catalogue
 * while they are read, so that its rules for names apply. */
#include "site/config/resource_config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "site/config/config_parts.h"

#define COMPLAIN(severity, at, cell, ...)                                              \
    conf_complain(conf, severity, (at)->section, (at)->row, cell, __VA_ARGS__)

/* ---------------------------------------------------------------- values */

static bool is_yes(const struct conf_row *row, const char *key, bool otherwise)
{
    const char *text = conf_text(row, key, NULL);
    bool flag = otherwise;
    return text != NULL && conf_parse_bool(text, &flag, NULL) != 0 ? otherwise : flag;
}

/* ---------------------------------------------------------------- Resource */

struct reader {
    struct conf *conf;
    const struct resource_config_host *hosts;
    int n_hosts;
    struct resources *catalogue;
    struct resource *resources;
    int n_resources, capacity;
};

/* The type; -1: any other word, which conf_check has reported. */
static int type_of(const char *text)
{
    for (int type = RESOURCE_NUMERIC; type <= RESOURCE_STRING; type++) {
        if (strcasecmp(resource_type_name((enum resource_type)type), text) == 0) {
            return type;
        }
    }
    return -1;
}

static void add_resource(struct reader *reader, const struct resource *resource,
                         const struct conf_place *at, const struct conf_cell *cell)
{
    struct conf *conf = reader->conf;
    struct err err;
    int id;
    if (resources_add(reader->catalogue, resource, &id, &err) != 0) {
        COMPLAIN(CONF_ERROR, at, cell, "%s", err.text);
        return;
    }
    if (reader->n_resources == reader->capacity) {
        int capacity = reader->capacity * 2 + 16;
        struct resource *more =
            arena_alloc(conf->arena, (size_t)capacity, sizeof(*more));
        if (reader->n_resources > 0) {
            memcpy(more, reader->resources,
                   (size_t)reader->n_resources * sizeof(*more));
        }
        reader->resources = more;
        reader->capacity = capacity;
    }
    reader->resources[reader->n_resources++] = *resource;
}

static void read_resource(struct reader *reader, const struct conf_place *at)
{
    struct conf *conf = reader->conf;
    const struct conf_row *row = at->row;
    const struct conf_cell *cell = conf_cell(row, "RESOURCENAME");
    int type = type_of(conf_text(row, "TYPE", ""));
    int64_t seconds = 0;
    if (cell == NULL || cell->value == NULL) {
        COMPLAIN(CONF_ERROR, at, cell,
                 "a resource without a name, expected RESOURCENAME");
        return;
    }
    if (conf_text(row, "TYPE", NULL) == NULL) {
        COMPLAIN(CONF_ERROR, at, cell,
                 "resource \"%s\" has no TYPE, expected Numeric, Boolean or String",
                 cell->value);
    }
    const char *interval = conf_text(row, "INTERVAL", NULL);
    if (interval != NULL && conf_parse_int(interval, 1, RESOURCE_CONFIG_INTERVAL_MAX,
                                           &seconds, NULL) != 0) {
        seconds = 0; /* conf_check has reported it */
    }
    if (type < 0) {
        return;
    }
    bool is_increasing = is_yes(row, "INCREASING", false);
    add_resource(reader,
                 &(struct resource){
                     .name = cell->value,
                     .type = (enum resource_type)type,
                     .interval_ms = seconds * 1000,
                     .is_increasing = is_increasing,
                     .is_released = is_yes(row, "RELEASE", true),
                     .is_consumable = is_yes(
                         row, "CONSUMABLE", type == RESOURCE_NUMERIC && !is_increasing),
                     .description = conf_text(row, "DESCRIPTION", ""),
                 },
                 at, cell);
}

/* ---------------------------------------------------------------- RESOURCES */

/* Adds the word to the catalogue as a Boolean if it is new; false if it cannot be one.
 */
static bool has_boolean(struct reader *reader, const struct resource_config_host *host,
                        const char *name)
{
    struct conf *conf = reader->conf;
    const struct conf_cell *cell = conf_cell(host->at.row, "RESOURCES");
    int id = resources_find(reader->catalogue, name, strlen(name));
    if (id < 0) {
        if (conf_next(conf, "Resource", NULL) != NULL) {
            COMPLAIN(CONF_WARNING, &host->at, cell,
                     "resource \"%s\" is not defined in section Resource, taken as a "
                     "Boolean",
                     name);
        }
        int before = reader->n_resources;
        add_resource(reader,
                     &(struct resource){
                         .name = name, .type = RESOURCE_BOOLEAN, .description = ""},
                     &host->at, cell);
        return reader->n_resources > before;
    }
    if (id < RESOURCE_BUILTINS ||
        resources_at(reader->catalogue, id)->type != RESOURCE_BOOLEAN) {
        COMPLAIN(CONF_ERROR, &host->at, cell,
                 "resource \"%s\" is not a Boolean, expected NAME=VALUE, or it in "
                 "section ResourceMap",
                 name);
        return false;
    }
    return true;
}

static void read_given(struct reader *reader, struct resource_config *config)
{
    int count = 0;
    for (int i = 0; i < reader->n_hosts; i++) {
        count += reader->hosts[i].n_resources;
    }
    struct host_boolean *given =
        arena_alloc(reader->conf->arena, (size_t)count, sizeof(*given));
    config->given = given;
    for (int i = 0; i < reader->n_hosts; i++) {
        const struct resource_config_host *host = &reader->hosts[i];
        for (int k = 0; k < host->n_resources; k++) {
            const char *word = host->resources[k];
            bool is_exclusive = word[0] == '!';
            if (strchr(word, '=') == NULL && /* else it has a value (resource_map.c) */
                has_boolean(reader, host, word + is_exclusive)) {
                given[config->n_given++] =
                    (struct host_boolean){.host = i,
                                          .name = word + is_exclusive,
                                          .is_exclusive = is_exclusive};
            }
        }
    }
}

/* ---------------------------------------------------------------- types, models */

static bool is_defined(const struct conf *conf, const char *section_name,
                       const char *key, const char *name)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, section_name, &at)) {
        if (strcmp(conf_text(at.row, key, ""), name) == 0) {
            return true;
        }
    }
    return false;
}

/* If there is such a section, the name must be one of it. */
static void check_defined(struct conf *conf, const struct resource_config_host *host,
                          const char *host_key, const char *name, const char *section,
                          const char *key)
{
    if (name[0] != '\0' && strcmp(name, "!") != 0 &&
        conf_next(conf, section, NULL) != NULL &&
        !is_defined(conf, section, key, name)) {
        COMPLAIN(CONF_ERROR, &host->at, conf_cell(host->at.row, host_key),
                 "unknown \"%s\", expected \"!\" or one of section %s", name, section);
    }
}

static void read_model(struct conf *conf, const struct conf_place *at,
                       struct resource_config *config, struct host_model *models)
{
    const struct conf_cell *cell = conf_cell(at->row, "MODELNAME");
    const char *factor = conf_text(at->row, "CPUFACTOR", "1");
    double cpuf = 1.0;
    if (cell == NULL || cell->value == NULL) {
        COMPLAIN(CONF_ERROR, at, cell, "a model without a name, expected MODELNAME");
        return;
    }
    if (!resource_value_parse_number(factor, &cpuf) || cpuf <= 0) {
        COMPLAIN(CONF_ERROR, at, conf_cell(at->row, "CPUFACTOR"),
                 "\"%s\" is not a factor, expected a number above 0", factor);
        cpuf = 1.0;
    }
    for (int i = 0; i < config->n_models; i++) {
        if (strcmp(models[i].name, cell->value) == 0) {
            COMPLAIN(CONF_ERROR, at, cell,
                     "model \"%s\" is defined twice, expected one row", cell->value);
            return;
        }
    }
    struct conf_words words =
        conf_words(conf->arena, conf_text(at->row, "ARCHITECTURE", NULL));
    models[config->n_models++] = (struct host_model){.name = cell->value,
                                                     .cpuf = cpuf,
                                                     .architectures = words.words,
                                                     .n_architectures = words.count};
}

static void read_models(struct conf *conf, struct resource_config *config)
{
    struct host_model *models = arena_alloc(
        conf->arena, (size_t)conf_count_rows(conf, "HostModel"), sizeof(*models));
    struct conf_place at = {0};
    config->models = models;
    while (conf_next_row(conf, "HostModel", &at)) {
        read_model(conf, &at, config, models);
    }
}

/* ---------------------------------------------------------------- EGO_DEFINE_NCPUS */

static void read_cpus(const struct conf *conf, struct resource_config *config)
{
    static const char *const words[] = {"procs", "cores", "threads"};
    struct conf_place at = {0};
    while (conf_next_row(conf, "", &at)) {
        const char *text = conf_text(at.row, "EGO_DEFINE_NCPUS", NULL);
        for (int i = 0; text != NULL && i < 3; i++) {
            if (strcasecmp(words[i], text) == 0) {
                config->cpus = (enum ncpus_unit)i;
            }
        }
    }
}

/* ---------------------------------------------------------------- the whole */

void resource_config_read(struct conf *conf, const struct resource_config_host *hosts,
                          int n_hosts, struct resource_config *config)
{
    struct reader reader = {
        .conf = conf, .hosts = hosts, .n_hosts = n_hosts, .catalogue = resources_new()};
    struct conf_place at = {0};
    *config = (struct resource_config){.cpus = NCPUS_PROCS};
    while (conf_next_row(conf, "Resource", &at)) {
        read_resource(&reader, &at);
    }
    read_given(&reader, config);
    config->resources = reader.resources;
    config->n_resources = reader.n_resources;
    read_models(conf, config);
    for (int i = 0; i < n_hosts; i++) {
        check_defined(conf, &hosts[i], "TYPE", hosts[i].type, "HostType", "TYPENAME");
        check_defined(conf, &hosts[i], "MODEL", hosts[i].model, "HostModel",
                      "MODELNAME");
    }
    resource_map_read(conf, reader.catalogue, hosts, n_hosts, config);
    read_cpus(conf, config);
    resources_free(reader.catalogue);
}

struct resources *resource_config_catalogue(const struct resource_config *config)
{
    struct resources *resources = resources_new();
    for (int i = 0; i < config->n_resources; i++) {
        int id;
        if (resources_add(resources, &config->resources[i], &id, NULL) != 0) {
            abort(); /* it was judged by the same rules */
        }
    }
    return resources;
}

/* ---------------------------------------------------------------- model of a host */

bool resource_config_is_detected(const char *text)
{
    return text[0] == '\0' || strcmp(text, "!") == 0;
}

/* The difference of the speeds in two descriptions; LONG_MAX: other machines. */
static long distance(const char *one, const char *other)
{
    size_t family = strcspn(one, "_");
    char *one_end, *other_end;
    if (strcmp(one, other) == 0) {
        return 0;
    }
    if (one[family] == '\0' || strncmp(one, other, family + 1) != 0) {
        return LONG_MAX;
    }
    long one_speed = strtol(one + family + 1, &one_end, 10);
    long other_speed = strtol(other + family + 1, &other_end, 10);
    if (*one_end != '_' || strcmp(one_end, other_end) != 0 || one_speed < 0 ||
        other_speed < 0) {
        return LONG_MAX;
    }
    long apart = labs(one_speed - other_speed);
    return apart < LONG_MAX - 1 ? apart + 1 : LONG_MAX; /* the same word is nearest */
}

const char *resource_config_find_model(const struct resource_config *config,
                                       const char *text, double *cpuf)
{
    const struct host_model *nearest = NULL;
    long least = LONG_MAX;
    for (int i = 0; i < config->n_models; i++) {
        const struct host_model *model = &config->models[i];
        if (strcmp(model->name, text) == 0) {
            *cpuf = model->cpuf;
            return model->name;
        }
        for (int k = 0; k < model->n_architectures; k++) {
            long apart = distance(model->architectures[k], text);
            if (apart < least) {
                least = apart;
                nearest = model;
            }
        }
    }
    *cpuf = nearest != NULL ? nearest->cpuf : 1.0;
    return nearest != NULL ? nearest->name : text;
}

int resource_config_traits(const struct resource *resource)
{
    return (resource->is_increasing ? TRAIT_INCREASING : 0) |
           (resource->is_consumable ? TRAIT_CONSUMABLE : 0) |
           (resource->is_released ? TRAIT_RELEASED : 0) |
           (resource->interval_ms > 0 ? TRAIT_DYNAMIC : 0);
}
