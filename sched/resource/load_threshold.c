/* SPDX-License-Identifier: Apache-2.0 */
/* load_threshold.c: see resource.h. */
#include "sched/resource/resource.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool load_threshold_is_index(const struct resource *resource, int id)
{
    return resource->type == RESOURCE_NUMERIC && resource->interval_ms > 0 &&
           id != RESOURCE_SLOTS;
}

/* ---------------------------------------------------------------- reading */

static bool is_run_queue(int id)
{
    return id == RESOURCE_R15S || id == RESOURCE_R1M || id == RESOURCE_R15M;
}

static int read_bound(int id, const char *text, double *bound, struct err *err)
{
    char *end;
    double number = strtod(text, &end);
    if (text[strspn(text, "-.0123456789")] != '\0' || *end != '\0' ||
        !isfinite(number)) { /* strtod reads names of infinities too */
        return err_set(err, ERR_PARSE,
                       "\"%s\" is not a number, expected loadSched/loadStop as 0.7/2.0",
                       text);
    }
    if (number < 0 || (id == RESOURCE_UT && number > 1)) {
        return err_set(err, ERR_BOUNDS, "\"%s\", expected %s", text,
                       id == RESOURCE_UT ? "0.0 to 1.0" : "0 or more");
    }
    *bound = number;
    return ERR_NONE;
}

int load_threshold_parse(const struct resources *resources, int id, const char *text,
                         struct load_threshold *threshold, struct err *err)
{
    struct arena arena;
    struct load_threshold read = {.id = id};
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
    int code = ERR_NONE;
    arena_init(&arena);
    const char *parts[LOAD_THRESHOLD_KINDS] = {arena_strn(&arena, text, length),
                                               slash != NULL ? slash + 1 : ""};
    if (!load_threshold_is_index(resources_at(resources, id), id)) {
        code = err_set(err, ERR_PARSE,
                       "%s is not a load index, expected a number with an INTERVAL",
                       resources_at(resources, id)->name);
    }
    for (int i = 0; i < LOAD_THRESHOLD_KINDS && code == ERR_NONE; i++) {
        read.has[i] = parts[i][0] != '\0';
        code = read.has[i] ? read_bound(id, parts[i], &read.bounds[i], err) : code;
    }
    if (code == ERR_NONE && !read.has[LOAD_SCHED] && !read.has[LOAD_STOP]) {
        code = err_set(err, ERR_PARSE, "\"%s\", expected loadSched/loadStop as 0.7/2.0",
                       text);
    }
    arena_release(&arena);
    if (code == ERR_NONE) {
        *threshold = read;
    }
    return code;
}

const char *load_threshold_format(struct arena *arena,
                                  const struct load_threshold *threshold)
{
    const char *parts[LOAD_THRESHOLD_KINDS];
    for (int i = 0; i < LOAD_THRESHOLD_KINDS; i++) {
        parts[i] =
            threshold->has[i] ? arena_printf(arena, "%.9f", threshold->bounds[i]) : "";
    }
    return arena_printf(arena, "%s/%s", parts[LOAD_SCHED], parts[LOAD_STOP]);
}

static bool is_beyond(double value, double bound, bool is_increasing)
{
    return is_increasing ? value > bound : value < bound;
}

bool load_threshold_is_inverted(const struct resources *resources,
                                const struct load_threshold *threshold)
{
    const double *bounds = threshold->bounds;
    return threshold->has[LOAD_SCHED] && threshold->has[LOAD_STOP] &&
           is_beyond(bounds[LOAD_SCHED], bounds[LOAD_STOP],
                     resources_at(resources, threshold->id)->is_increasing);
}

/* ---------------------------------------------------------------- judging */

/* Number of cores, or ncpus if that is larger because it counts threads. By default
 * ncpus counts sockets. */
static double count_cpus(const struct resource_table *table, int row)
{
    double n_cpus = resource_table_number(table, row, RESOURCE_NCPUS);
    double n_cores = resource_table_number(table, row, RESOURCE_NPROCS) *
                     resource_table_number(table, row, RESOURCE_NCORES);
    n_cpus = n_cores > n_cpus ? n_cores : n_cpus;
    return n_cpus > 1 ? n_cpus : 1;
}

static double value_of(const struct resource_table *table, int row, int id)
{
    double value = resource_table_number(table, row, id);
    return is_run_queue(id) ? value / count_cpus(table, row) : value;
}

/* The bound to compare with: for a start the stricter one of the two. */
static bool find_bound(const struct load_threshold *threshold,
                       const struct resources *resources, enum load_threshold_kind side,
                       double *bound)
{
    bool is_stop = side == LOAD_STOP || !threshold->has[LOAD_SCHED] ||
                   load_threshold_is_inverted(resources, threshold);
    *bound = threshold->bounds[is_stop ? LOAD_STOP : LOAD_SCHED];
    return threshold->has[is_stop ? LOAD_STOP : LOAD_SCHED];
}

bool load_thresholds_find(const struct load_thresholds *thresholds,
                          const struct resource_table *table, int row,
                          enum load_threshold_kind side, struct load_excess *excess)
{
    const struct resources *resources = resource_table_resources(table);
    for (int i = 0; i < thresholds->n_items; i++) {
        const struct load_threshold *at = &thresholds->items[i];
        double bound;
        if (!find_bound(at, resources, side, &bound)) {
            continue;
        }
        const struct resource *resource = resources_at(resources, at->id);
        bool is_known = resource_table_has(table, row, at->id);
        double value = is_known ? value_of(table, row, at->id) : 0;
        if (is_known ? is_beyond(value, bound, resource->is_increasing)
                     : at->has[LOAD_SCHED] && side == LOAD_SCHED) {
            *excess = (struct load_excess){.index = resource->name,
                                           .is_increasing = resource->is_increasing,
                                           .is_unknown = !is_known,
                                           .value = value,
                                           .bound = bound};
            return true;
        }
    }
    return false;
}

/* As few decimals as are needed to distinguish the two. */
static const char *number_text(struct arena *arena, double number, double other)
{
    int decimals = 0;
    const int most = 6;
    for (double scale = 1; decimals < most && number != other &&
                           round(number * scale) == round(other * scale);
         scale *= 10) {
        decimals++;
    }
    char *text = arena_printf(arena, "%.*f", decimals > 2 ? decimals : 2, number);
    size_t length = strlen(text);
    while (text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (text[length - 1] == '.') {
        text[--length] = '\0';
    }
    return text;
}

const char *load_threshold_text(struct arena *arena, const struct load_excess *excess)
{
    if (excess->is_unknown) {
        return arena_printf(arena, "%s is not reported", excess->index);
    }
    return arena_printf(arena, "%s %s %s %s", excess->index,
                        number_text(arena, excess->value, excess->bound),
                        excess->is_increasing ? ">" : "<",
                        number_text(arena, excess->bound, excess->value));
}
