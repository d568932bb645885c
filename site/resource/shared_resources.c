/* SPDX-License-Identifier: Apache-2.0 */
/* shared_resources.c: see shared_resources.h. */
#include "site/resource/shared_resources.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "site/config/resource_config.h"

enum { NOBODY = -1 };

/* State of a location of the configuration. */
struct known {
    int id;
    int teller;       /* measured: the host that reports it for all, or NOBODY */
    char *told;       /* the value; NULL: not reported */
    int64_t exported; /* instances that leases have */
};

struct shared_resources {
    const struct site_config *config;
    struct resource_table *table;
    struct known *known; /* by place */
    bool *is_mapped;     /* by id */
    /* Which places a host is in: members[first[host]] .. members[first[host + 1] - 1]
     */
    int *first, *members;
};

static const struct resource_location *place_at(const struct shared_resources *shared,
                                                int place)
{
    return &shared->config->resource_config.places[place];
}

/* ---------------------------------------------------------------- values */

/* False if the text is not a value. */
static bool show(struct shared_resources *shared, int place)
{
    const struct resource_location *at = place_at(shared, place);
    const struct known *known = &shared->known[place];
    bool is_good = true;
    for (int i = 0; i < at->n_hosts; i++) {
        int host = at->hosts[i];
        resource_table_unset(shared->table, host, known->id);
        is_good = is_good &&
                  (known->told == NULL ||
                   resource_value_set(shared->table, host, known->id, known->told));
        if (is_good && known->told != NULL && known->exported > 0) {
            double left = resource_table_number(shared->table, host, known->id) -
                          (double)known->exported;
            resource_table_set_number(shared->table, host, known->id,
                                      left > 0 ? left : 0);
        }
    }
    return is_good;
}

/* NULL: not reported. False if the text is not a value. */
static bool set(struct shared_resources *shared, int place, const char *text)
{
    struct known *known = &shared->known[place];
    if (text != NULL) {
        dup_set_text(&known->told, text);
    } else {
        dup_free(known->told);
        known->told = NULL;
    }
    return show(shared, place);
}

bool shared_resources_report(struct shared_resources *shared, int host, int place,
                             const char *text)
{
    struct known *known = &shared->known[place];
    if (place_at(shared, place)->value != NULL ||
        (known->teller != NOBODY && known->teller < host)) {
        return true; /* another host or the configuration has it */
    }
    known->teller = host;
    return set(shared, place, text);
}

void shared_resources_drop_unreported(struct shared_resources *shared, int host,
                                      const struct msg_host_load *msg)
{
    for (int i = shared->first[host]; i < shared->first[host + 1]; i++) {
        int place = shared->members[i];
        const char *name = place_at(shared, place)->name;
        if (shared->known[place].teller == host &&
            (msg == NULL || resource_value_find_reported(msg, name) == NULL)) {
            shared->known[place].teller = NOBODY;
            set(shared, place, NULL);
        }
    }
}

void shared_resources_set_exported(struct shared_resources *shared, int place,
                                   int64_t n_instances)
{
    if (shared->known[place].exported != n_instances) {
        shared->known[place].exported = n_instances;
        show(shared, place);
    }
}

/* ---------------------------------------------------------------- where */

bool shared_resources_is_mapped(const struct shared_resources *shared, int id)
{
    return shared->is_mapped[id];
}

bool shared_resources_is_configured(const struct shared_resources *shared, int id)
{
    bool is_fixed = shared->is_mapped[id];
    for (int i = 0; i < shared->config->resource_config.n_places; i++) {
        is_fixed = is_fixed &&
                   (shared->known[i].id != id || place_at(shared, i)->value != NULL);
    }
    return is_fixed;
}

int shared_resources_find_location(const struct shared_resources *shared, int host,
                                   int id)
{
    for (int i = shared->first[host]; i < shared->first[host + 1]; i++) {
        if (shared->known[shared->members[i]].id == id) {
            return shared->members[i];
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- life */

static void list_members(struct shared_resources *shared)
{
    const struct resource_config *config = &shared->config->resource_config;
    int n_hosts = shared->config->n_hosts;
    shared->first = mem_alloc((size_t)n_hosts + 2, sizeof(*shared->first));
    for (int i = 0; i < config->n_places; i++) {
        for (int k = 0; k < config->places[i].n_hosts; k++) {
            shared->first[config->places[i].hosts[k] + 2]++;
        }
    }
    for (int i = 0; i <= n_hosts; i++) {
        shared->first[i + 1] += shared->first[i];
    }
    shared->members =
        mem_alloc((size_t)shared->first[n_hosts + 1] + 1, sizeof(*shared->members));
    for (int i = 0; i < config->n_places; i++) {
        for (int k = 0; k < config->places[i].n_hosts; k++) {
            shared->members[shared->first[config->places[i].hosts[k] + 1]++] = i;
        }
    }
}

static void set_places(struct shared_resources *shared)
{
    const struct resources *resources = resource_table_resources(shared->table);
    for (int i = 0; i < shared->config->resource_config.n_places; i++) {
        const struct resource_location *place = place_at(shared, i);
        int id = resources_find(resources, place->name, strlen(place->name));
        shared->known[i] = (struct known){.id = id, .teller = NOBODY};
        shared->is_mapped[id] = true;
        if (place->value != NULL && !set(shared, i, place->value)) {
            abort(); /* the configuration was checked by the same rules */
        }
    }
}

struct shared_resources *shared_resources_new(const struct site_config *config,
                                              struct resource_table *table)
{
    struct shared_resources *shared = mem_alloc(1, sizeof(*shared));
    size_t n_places = (size_t)config->resource_config.n_places;
    size_t n_resources = (size_t)resources_count(resource_table_resources(table));
    shared->config = config;
    shared->table = table;
    shared->known = mem_alloc(n_places + 1, sizeof(*shared->known));
    shared->is_mapped = mem_alloc(n_resources, sizeof(*shared->is_mapped));
    list_members(shared);
    set_places(shared);
    return shared;
}

void shared_resources_free(struct shared_resources *shared)
{
    for (int i = 0; i < shared->config->resource_config.n_places; i++) {
        dup_free(shared->known[i].told);
    }
    free(shared->known);
    free(shared->is_mapped);
    free(shared->first);
    free(shared->members);
    free(shared);
}
