/* SPDX-License-Identifier: Apache-2.0 */
/* export_config.c: what the export policies need to know of the site: its hosts, the
 * places of its resources, and the defaults of section Parameters. */
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"
#include "provider/export/export.h"
#include "site/config/config_parts.h"

static int64_t duration_of(const struct conf *conf, const char *key)
{
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    return conf_value_duration(conf, &at, key, 0);
}

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

void export_config_read(struct conf *conf, bool is_simulated,
                        struct site_config *config)
{
    struct conf_place policy = conf_value_last(conf, "Parameters", "RECLAIM_POLICY");
    struct conf_place lost = conf_value_last(conf, "Parameters", "ON_LOST");
    struct export_terms defaults = {
        .reclaim_policy = conf_value_word(conf, &policy, "RECLAIM_POLICY") == 1
                              ? RECLAIM_DEMAND
                              : RECLAIM_LSF,
        .min_hold_ms = duration_of(conf, "MIN_HOLD"),
        .lease_term_ms = duration_of(conf, "LEASE_TERM"),
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
