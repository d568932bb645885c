/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_show.c: summaries as tables. */
#include <string.h>

#include "cli/listing/listing.h"
#include "cli/simulate/simulate.h"

/* Three decimals for a small number, none for a large one. */
static const char *format_real(struct arena *arena, json_t *value)
{
    double number = json_number_value(value);
    if (!json_is_real(value)) {
        return format_plain(arena, value);
    }
    return arena_printf(arena, "%.*f", number < 10 ? 3 : number < 1000 ? 1 : 0, number);
}

static const struct column summary_table[] = {
    {"SITE", "site", false, format_plain},
    {"DONE", "jobs_done", true, format_plain},
    {"WAIT", "wait_mean_s", true, format_real},
    {"WAIT_P95", "wait_p95_s", true, format_real},
    {"SLOWDOWN", "slowdown_mean", true, format_real},
    {"SLOWDOWN_P95", "slowdown_p95", true, format_real},
    {"UTIL", "utilisation", true, format_real},
    {"LENT_H", "lent_slot_h", true, format_real},
    {"BORROWED_H", "borrowed_slot_h", true, format_real},
    {"PREEMPTED", "preemptions", true, format_plain},
    {"RECALLS", "recalls", true, format_plain},
    {NULL, NULL, false, NULL},
};

/* The object of sites as rows with their names. */
static json_t *rows_of(const json_t *summary)
{
    json_t *rows = json_array();
    const char *name;
    json_t *site;
    json_object_foreach(json_object_get(summary, "sites"), name, site)
    {
        json_t *row = json_copy(site);
        json_object_set_new(row, "site", json_string(name));
        json_array_append_new(rows, row);
    }
    return rows;
}

void simulate_show(struct call *call, const json_t *summary)
{
    json_t *rows = rows_of(summary);
    table_print(&call->arena, summary_table, rows, true);
    json_decref(rows);
}

/* ---------------------------------------------------------------- side by side */

/* "a.scn", or with its directory if another run has the same file name. */
static const char *heading_of(const struct simulate_run *runs, int n_runs, int index)
{
    const char *slash = strrchr(runs[index].file, '/');
    const char *base = slash != NULL ? slash + 1 : runs[index].file;
    for (int i = 0; i < n_runs; i++) {
        const char *other = strrchr(runs[i].file, '/');
        other = other != NULL ? other + 1 : runs[i].file;
        if (i != index && strcmp(other, base) == 0) {
            return runs[index].file;
        }
    }
    return base;
}

static const struct column *make_columns(struct arena *arena,
                                         const struct simulate_run *runs, int n_runs)
{
    struct column *columns = arena_alloc(arena, (size_t)n_runs + 3, sizeof(columns[0]));
    columns[0] = (struct column){"SITE", "site", false, format_plain};
    columns[1] = (struct column){"NUMBER", "number", false, format_plain};
    for (int i = 0; i < n_runs; i++) {
        columns[i + 2] =
            (struct column){heading_of(runs, n_runs, i),
                            arena_printf(arena, "run%d", i), true, format_real};
    }
    return columns;
}

/* A number of a site in all runs; "-" if a run has no such site. */
static void add_number(struct arena *arena, json_t *rows,
                       const struct simulate_run *runs, int n_runs, const char *site,
                       const char *number)
{
    json_t *row = json_object();
    json_object_set_new(row, "site", json_string(site));
    json_object_set_new(row, "number", json_string(number));
    for (int i = 0; i < n_runs; i++) {
        const json_t *sites = json_object_get(runs[i].summary, "sites");
        json_t *value = json_object_get(json_object_get(sites, site), number);
        json_object_set(row, arena_printf(arena, "run%d", i), value);
    }
    json_array_append_new(rows, row);
}

static bool is_earlier(const struct simulate_run *runs, int n_runs, const char *site)
{
    for (int i = 0; i < n_runs; i++) {
        if (json_object_get(json_object_get(runs[i].summary, "sites"), site) != NULL) {
            return true;
        }
    }
    return false;
}

void simulate_show_many(struct call *call, const struct simulate_run *runs, int n_runs)
{
    json_t *rows = json_array();
    for (int i = 0; i < n_runs; i++) {
        const char *name;
        json_t *site;
        json_object_foreach(json_object_get(runs[i].summary, "sites"), name, site)
        {
            for (size_t k = 1; !is_earlier(runs, i, name) && summary_table[k].path;
                 k++) {
                add_number(&call->arena, rows, runs, n_runs, name,
                           summary_table[k].path);
            }
        }
    }
    table_print(&call->arena, make_columns(&call->arena, runs, n_runs), rows, true);
    json_decref(rows);
}
