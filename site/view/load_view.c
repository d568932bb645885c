/* SPDX-License-Identifier: Apache-2.0 */
/* load_view.c: `load`: the load of hosts, and the static resources of hosts; which
 * hosts `load` and `hosts` show. Units are LSF's (sched/resource/resource.h); unknown
 * values are null. */
#include <stdlib.h>
#include <string.h>

#include "model/page.h"
#include "site/view/view_rows.h"

static const int indices[] = {RESOURCE_R15S, RESOURCE_R1M, RESOURCE_R15M, RESOURCE_UT,
                              RESOURCE_PG,   RESOURCE_LS,  RESOURCE_IT,   RESOURCE_TMP,
                              RESOURCE_SWP,  RESOURCE_MEM, RESOURCE_IO};

static const int counts[] = {RESOURCE_CPUF,   RESOURCE_NCPUS,    RESOURCE_NPROCS,
                             RESOURCE_NCORES, RESOURCE_NTHREADS, RESOURCE_NDISKS,
                             RESOURCE_MAXMEM, RESOURCE_MAXSWP,   RESOURCE_MAXTMP};

/* Whole numbers, such as counts and megabytes, are shown as integers. */
static void add_number(struct arena *arena, struct value *row, const char *key,
                       double number)
{
    const double whole_max = 1e15;
    if (number >= -whole_max && number <= whole_max &&
        number == (double)(int64_t)number) {
        value_add_int(arena, row, key, (int64_t)number);
    } else {
        value_add_real(arena, row, key, number);
    }
}

static void add_value(struct arena *arena, struct value *row,
                      const struct resource_table *table, int host, int id)
{
    const struct resource *resource = resources_at(resource_table_resources(table), id);
    if (host < 0 || !resource_table_has(table, host, id)) {
        value_add_null(arena, row, resource->name);
        return;
    }
    switch (resource->type) {
    case RESOURCE_NUMERIC:
        add_number(arena, row, resource->name, resource_table_number(table, host, id));
        break;
    case RESOURCE_BOOLEAN:
        value_add_bool(arena, row, resource->name,
                       resource_table_flag(table, host, id));
        break;
    case RESOURCE_STRING:
        value_add_text(arena, row, resource->name,
                       resource_table_text(table, host, id));
        break;
    }
}

static void add_indices(struct arena *arena, struct value *row,
                        const struct resource_table *table, int host)
{
    for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
        add_value(arena, row, table, host, indices[i]);
    }
}

/* The values of resources of section Resource, either dynamic or static ones. */
static void add_defined(struct arena *arena, struct value *parent, const char *key,
                        const struct resource_table *table, int host, bool is_dynamic)
{
    const struct resources *resources = resource_table_resources(table);
    struct value *object = value_add(arena, parent, key, value_object(arena));
    for (int id = RESOURCE_BUILTINS; host >= 0 && id < resources_count(resources);
         id++) {
        const struct resource *resource = resources_at(resources, id);
        bool is_flag = resource->type == RESOURCE_BOOLEAN && !is_dynamic;
        if ((resource->interval_ms > 0) == is_dynamic && !is_flag &&
            resource_table_has(table, host, id)) {
            add_value(arena, object, table, host, id);
        }
    }
}

/* "linux", "!bigmem": also exclusive resources that this site does not define. */
static void add_flags(struct arena *arena, struct value *row,
                      const struct resource_table *table, int host)
{
    const struct resources *resources = resource_table_resources(table);
    struct value *flags = value_add(arena, row, "resources", value_array(arena));
    for (int id = RESOURCE_BUILTINS; host >= 0 && id < resources_count(resources);
         id++) {
        const struct resource *resource = resources_at(resources, id);
        if (resource->type == RESOURCE_BOOLEAN &&
            resource_table_flag(table, host, id)) {
            bool is_exclusive = resource_table_is_exclusive(table, host, id);
            value_add_text(
                arena, flags, NULL,
                arena_printf(arena, "%s%s", is_exclusive ? "!" : "", resource->name));
        }
    }
    char *undefined =
        arena_str(arena, host >= 0 ? resource_table_undefined(table, host) : "");
    for (char *name; (name = strsep(&undefined, " ")) != NULL;) {
        if (name[0] != '\0') {
            value_add_text(arena, flags, NULL, arena_printf(arena, "!%s", name));
        }
    }
}

void load_view_add_resources(struct site_view *view, struct arena *arena,
                             struct value *row, int host, const char *architecture)
{
    const struct resource_table *table = host_resources_values(view->host_resources);
    add_value(arena, row, table, host, RESOURCE_TYPE);
    add_value(arena, row, table, host, RESOURCE_MODEL);
    value_add_text(arena, row, "architecture", architecture);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        add_value(arena, row, table, host, counts[i]);
    }
    add_flags(arena, row, table, host);
    add_defined(arena, row, "values", table, host, false);
    struct value *load = value_add(arena, row, "load", value_object(arena));
    add_indices(arena, load, table, host);
    add_defined(arena, load, "resources", table, host, true);
}

static const struct load_threshold *
find_threshold(const struct load_thresholds *thresholds, int id,
               enum load_threshold_kind side)
{
    for (int i = 0; i < thresholds->n_items; i++) {
        if (thresholds->items[i].id == id && thresholds->items[i].has[side]) {
            return &thresholds->items[i];
        }
    }
    return NULL;
}

static struct value *threshold_row(struct site_view *view, struct arena *arena,
                                   const struct load_thresholds *thresholds,
                                   enum load_threshold_kind side)
{
    struct value *row = value_object(arena), *others = value_object(arena);
    value_add_text(arena, row, "threshold",
                   side == LOAD_SCHED ? "loadSched" : "loadStop");
    for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
        const struct load_threshold *at = find_threshold(thresholds, indices[i], side);
        const char *name =
            resources_at(host_resources_catalogue(view->host_resources), indices[i])
                ->name;
        if (at != NULL) {
            add_number(arena, row, name, at->bounds[side]);
        } else {
            value_add_null(arena, row, name);
        }
    }
    for (int i = 0; i < thresholds->n_items; i++) {
        const struct load_threshold *at = &thresholds->items[i];
        if (at->id >= RESOURCE_BUILTINS && at->has[side]) {
            add_number(
                arena, others,
                resources_at(host_resources_catalogue(view->host_resources), at->id)
                    ->name,
                at->bounds[side]);
        }
    }
    value_add(arena, row, "resources", others);
    return row;
}

void load_view_add_thresholds(struct site_view *view, struct arena *arena,
                              struct value *row,
                              const struct load_thresholds *thresholds)
{
    struct value *list = value_add(arena, row, "thresholds", value_array(arena));
    for (int i = 0; thresholds->n_items > 0 && i < LOAD_THRESHOLD_KINDS; i++) {
        value_add(arena, list, NULL,
                  threshold_row(view, arena, thresholds, (enum load_threshold_kind)i));
    }
}

/* ---------------------------------------------------------------- which hosts */

struct item {
    int rank; /* in the order of the requirement string */
    int place;
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

/* `filter` NULL: all hosts. */
static void list_places(struct arena *arena, const struct place_filter *filter,
                        int n_hosts, int **places, int *n_places)
{
    size_t n_max = (size_t)n_hosts + 1;
    struct item *items = arena_alloc(arena, n_max, sizeof(*items));
    int n_items = 0;
    for (int i = 0; i < n_hosts; i++) {
        if (filter == NULL || filter->matches[i]) {
            bool has_order = filter != NULL && filter->ranks != NULL;
            items[n_items++] =
                (struct item){.rank = has_order ? filter->ranks[i] : 0, .place = i};
        }
    }
    qsort(items, (size_t)n_items, sizeof(*items), compare_items);
    *places = arena_alloc(arena, n_max, sizeof(**places));
    *n_places = n_items;
    for (int i = 0; i < n_items; i++) {
        (*places)[i] = items[i].place;
    }
}

int load_view_select(struct site_view *view, struct arena *arena,
                     const struct msg_query *query, int **places, int *n_places,
                     struct err *err)
{
    int n_hosts, code = 0;
    const struct place_host *hosts =
        capacity_hosts(view->capacity, arena, view->local_ms, &n_hosts);
    const struct place_filter *filter = NULL;
    if (query->res_req != NULL && query->res_req[0] != '\0') {
        struct rusage_pass *left = rusage_pass_new(view->rusage_sources, arena, hosts,
                                                   n_hosts, view->event_ms);
        struct resreq_match *match = resreq_match_new(
            view->resreq_cache, arena, hosts, n_hosts, left, NULL, view->local_ms);
        code = resreq_match_select(
            match, query->kind == QUERY_LOAD ? RESREQ_MATCH_LOAD : RESREQ_MATCH_HOSTS,
            query->res_req, &filter, err);
    }
    if (code == 0) {
        list_places(arena, filter, n_hosts, places, n_places);
    }
    return code;
}

/* ---------------------------------------------------------------- the listing */

/* As in lsload: "-ok" is a host that is connected but not ready for jobs. */
static const char *status_of(struct site_view *view, int host)
{
    if (host_table_is_away(view->hosts, host) ||
        !host_resources_is_reported(view->host_resources, host)) {
        return "unavail";
    }
    return host_table_is_ready(view->hosts, host) ? "ok" : "-ok";
}

static struct value *load_row(struct site_view *view, struct arena *arena,
                              const char *name, const char *status, int index)
{
    const struct resource_table *table = host_resources_values(view->host_resources);
    struct value *row = value_object(arena);
    value_add_text(arena, row, "host", name);
    value_add_text(arena, row, "status", status);
    add_indices(arena, row, table, index);
    add_defined(arena, row, "resources", table, index, true);
    return row;
}

static void add_place(struct site_view *view, struct page *page,
                      const struct msg_query *query, uint64_t number, int place)
{
    int n_own = host_table_count(view->hosts);
    struct consumer_host host = {.name = ""};
    if (place >= n_own) {
        consumer_host_at(view->consumer, place - n_own, &host);
    }
    const char *name = place < n_own ? host_table_name(view->hosts, place) : host.name;
    if (!page_is_named(name, query->name) || !page_wants(page, number)) {
        return;
    }
    int index = place < n_own
                    ? place
                    : host_resources_find_borrowed(view->host_resources, name);
    bool is_reported = borrowed_resources_is_reported(
        host_resources_borrowed(view->host_resources), name);
    const char *status = place < n_own                 ? status_of(view, place)
                         : host.is_open && is_reported ? "ok"
                                                       : "unavail";
    page_add_number(page, number, load_row(view, page->arena, name, status, index));
}

/* What section Resource defines, so that clients can check requirement strings. */
static void add_definitions(struct site_view *view, struct arena *arena,
                            struct value *root)
{
    const struct resources *resources = host_resources_catalogue(view->host_resources);
    struct value *list = value_add(arena, root, "resources", value_object(arena));
    for (int id = RESOURCE_BUILTINS; id < resources_count(resources); id++) {
        const struct resource *resource = resources_at(resources, id);
        struct value *row = value_add(arena, list, resource->name, value_object(arena));
        value_add_text(arena, row, "type", resource_type_name(resource->type));
        value_add_int(arena, row, "interval_s", resource->interval_ms / 1000);
        value_add_bool(arena, row, "increasing", resource->is_increasing);
        value_add_text(arena, row, "description",
                       value_cut_text(arena, resource->description, TEXT_MAX));
        value_add_bool(arena, row, "consumable", resource->is_consumable);
        value_add_bool(arena, row, "released", resource->is_released);
    }
}

void load_view_list(struct site_view *view, struct page *page,
                    const struct msg_query *query)
{
    int *places, n_places;
    if (query->after[0] == '\0') {
        add_definitions(view, page->arena, page->root);
    }
    if (load_view_select(view, page->arena, query, &places, &n_places, NULL) != 0) {
        return; /* site_view_check has answered this */
    }
    for (int i = 0; i < n_places && !page->is_full; i++) {
        add_place(view, page, query, (uint64_t)i + 1, places[i]);
    }
}
