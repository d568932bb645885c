/* SPDX-License-Identifier: Apache-2.0 */
/* threshold_config.c: load thresholds: load indices as columns of section Host and keys
 * of section Queue, STOP_COND and RESUME_COND of queues, SBD_SLEEP_TIME.
 *
 *     Begin Host                       Begin Queue
 *     HOST_NAME MXJ r1m     it         QUEUE_NAME = night
 *     desk1     4   0.7/2.0 10/1       mem        = 500/100
 *     default   8   3.5     ()         licload    = 10/20
 *     End Host                         End Queue
 *
 * An index is one of LSF's, or a number of section Resource that has an INTERVAL and a
 * value of its own on each host. If a host has rows of both forms (HOST_NAME,
 * HOSTNAME), both count; for an index in both, the former does.
 *
 * Source: LSF's lsb.hosts, lsb.queues; docs/adr/0016. */
#include "site/config/config_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf/conf_keys.h"
#include "base/conf/conf_value.h"

enum { REPORT_MS = 15000 }; /* as often as a host reports its load (host/load/load.h) */

struct reader {
    struct conf *conf;
    const struct resource_config *definitions;
    struct resources *resources;
    struct conf_place at;
};

static struct reader reader_of(struct conf *conf,
                               const struct resource_config *definitions)
{
    return (struct reader){.conf = conf,
                           .definitions = definitions,
                           .resources = resource_config_catalogue(definitions)};
}

/* ---------------------------------------------------------------- one index */

static bool is_named(const struct reader *reader, const char *key, int id)
{
    const struct resource *resource = resources_at(reader->resources, id);
    if (strcasecmp(key, "SWAP") == 0) {
        return id == RESOURCE_SWP;
    }
    return strcasecmp(key, resource->name) == 0 &&
           (id < RESOURCE_BUILTINS
                ? load_threshold_is_index(resource, id)
                : conf_keys_among(reader->at.section->keys, key) == NULL);
}

/* The index that a key of the row is about, or -1. */
static int find_index(const struct reader *reader, const char *key)
{
    for (int id = 0; id < resources_count(reader->resources); id++) {
        if (is_named(reader, key, id)) {
            return id;
        }
    }
    return -1;
}

/* Hosts share its value (ResourceMap). */
static bool is_shared(const struct reader *reader, int id)
{
    const char *name = resources_at(reader->resources, id)->name;
    for (int i = 0; i < reader->definitions->n_places; i++) {
        const struct resource_location *place = &reader->definitions->places[i];
        if (strcmp(place->name, name) == 0 && place->n_hosts > 1) {
            return true;
        }
    }
    return false;
}

static bool read_cell(struct reader *reader, const struct conf_cell *cell, int id,
                      struct load_threshold *threshold)
{
    struct err err;
    if (load_threshold_parse(reader->resources, id, cell->value, threshold, &err) !=
        0) {
        conf_complain(reader->conf, CONF_ERROR, reader->at.section, reader->at.row,
                      cell, "%s", err.text);
        return false;
    }
    if (is_shared(reader, id)) {
        conf_complain(reader->conf, CONF_ERROR, reader->at.section, reader->at.row,
                      cell,
                      "hosts share its value (ResourceMap), expected a load index of "
                      "each host");
        return false;
    }
    if (load_threshold_is_inverted(reader->resources, threshold)) {
        conf_complain(
            reader->conf, CONF_WARNING, reader->at.section, reader->at.row, cell,
            "\"%s\": loadStop is reached before loadSched, and counts for both",
            cell->value);
    }
    return true;
}

/* ---------------------------------------------------------------- rows */

static bool has_index(const struct load_threshold *items, int n_items, int id)
{
    for (int i = 0; i < n_items; i++) {
        if (items[i].id == id) {
            return true;
        }
    }
    return false;
}

static void insert(struct load_threshold *items, int n_items,
                   struct load_threshold threshold)
{
    int at = n_items;
    for (; at > 0 && items[at - 1].id > threshold.id; at--) {
        items[at] = items[at - 1];
    }
    items[at] = threshold;
}

/* Adds the thresholds of indices that no row before had. */
static void read_row(struct reader *reader, const struct conf_place *at,
                     struct load_thresholds *thresholds)
{
    const struct conf_row *row = at->row;
    size_t n_most = (size_t)(thresholds->n_items + row->n_cells);
    struct load_threshold *items =
        arena_alloc(reader->conf->arena, n_most + 1, sizeof(*items));
    int n_items = thresholds->n_items;
    for (int i = 0; i < n_items; i++) {
        items[i] = thresholds->items[i];
    }
    reader->at = *at;
    for (int i = 0; i < row->n_cells; i++) {
        const struct conf_cell *cell = &row->cells[i];
        int id = cell->value != NULL ? find_index(reader, cell->key) : -1;
        struct load_threshold threshold;
        if (id >= 0 && !has_index(items, n_items, id) &&
            read_cell(reader, cell, id, &threshold)) {
            insert(items, n_items++, threshold);
        }
    }
    *thresholds = (struct load_thresholds){items, n_items};
}

void threshold_config_hosts(struct conf *conf,
                            const struct resource_config *definitions,
                            const struct threshold_rows *rows, struct site_host *hosts,
                            int n_hosts)
{
    struct reader reader = reader_of(conf, definitions);
    for (int i = 0; i < n_hosts; i++) {
        for (int k = 0; k < THRESHOLD_ROWS && rows[i].rows[k].row != NULL; k++) {
            read_row(&reader, &rows[i].rows[k], &hosts[i].thresholds);
        }
    }
    resources_free(reader.resources);
}

static struct queue_config *find_queue(struct queue_config *queues, int n_queues,
                                       const char *name)
{
    for (int i = 0; i < n_queues; i++) {
        if (strcmp(queues[i].name, name) == 0) {
            return &queues[i];
        }
    }
    return NULL;
}

void threshold_config_queues(struct conf *conf,
                             const struct resource_config *definitions,
                             struct queue_config *queues, int n_queues)
{
    struct reader reader = reader_of(conf, definitions);
    struct conf_place at = {0};
    while (conf_next_row(conf, "Queue", &at)) {
        struct queue_config *queue =
            find_queue(queues, n_queues, conf_text(at.row, "QUEUE_NAME", ""));
        if (queue != NULL) {
            read_row(&reader, &at, &queue->thresholds);
        }
    }
    resources_free(reader.resources);
}

/* ---------------------------------------------------------------- conditions */

static bool has_any(const struct site_config *config)
{
    for (int i = 0; i < config->n_hosts; i++) {
        if (config->hosts[i].thresholds.n_items > 0) {
            return true;
        }
    }
    for (int i = 0; i < config->n_queues; i++) {
        const struct queue_config *queue = &config->queues[i];
        if (queue->thresholds.n_items > 0 || queue->stop_cond != NULL ||
            queue->resume_cond != NULL) {
            return true;
        }
    }
    return false;
}

void threshold_config_read(struct conf *conf, struct site_config *config)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "SBD_SLEEP_TIME");
    int64_t interval_ms = conf_value_duration(conf, &at, "SBD_SLEEP_TIME", REPORT_MS);
    config->load_interval_ms = interval_ms > REPORT_MS ? interval_ms : REPORT_MS;
    config->has_thresholds = has_any(config);
}

void threshold_config_compile(struct arena *arena, const struct site_config *config,
                              const struct resources *resources, const char *text,
                              struct resreq *condition)
{
    struct resreq_rules rules = resreq_config_select_rules(config, resources);
    struct resreq_strings from = {.queue = text};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    if (resreq_compile(arena, &rules, &from, condition, &notes, &fault) != 0) {
        abort(); /* it was judged by the same rules */
    }
    condition->program.takes_exclusive = true; /* it is about jobs that run there */
}
