/* SPDX-License-Identifier: Apache-2.0 */
/* span_match.c: see span_match.h. */
#include "site/pass/span_match.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)PLACE_SPAN_SAME_MAX >= (int)RESREQ_SAME_MAX,
               "a way for each resource");

/* ---------------------------------------------------------------- groups */

/* One resource of a host: numbers by their bits, texts by the table's number. */
struct value_at {
    int host;
    int group; /* by the resources before */
    double number;
    int64_t word;
};

/* False: the host does not have it. */
static bool read_value(const struct span_match_hosts *hosts, int host, int id,
                       struct value_at *value)
{
    int row = hosts->rows[host];
    if (row < 0) {
        return false;
    }
    const struct resource *resource =
        resources_at(resource_table_resources(hosts->table), id);
    bool has_it = resource_table_has(hosts->table, row, id);
    value->number = 0;
    value->word = 0;
    switch (resource->type) {
    case RESOURCE_BOOLEAN:
        value->word = has_it && resource_table_flag(hosts->table, row, id);
        return true;
    case RESOURCE_NUMERIC:
        value->number = has_it ? resource_table_number(hosts->table, row, id) : 0;
        return has_it;
    case RESOURCE_STRING:
        value->word = has_it ? resource_table_column(hosts->table, id).texts[row] : 0;
        return has_it;
    }
    return false;
}

static int compare_values(const struct value_at *a, const struct value_at *b)
{
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->word < b->word ? -1 : a->word > b->word;
}

static int compare(const void *left, const void *right)
{
    const struct value_at *a = left, *b = right;
    int by_value = compare_values(a, b);
    return by_value != 0 ? by_value : a->host - b->host;
}

/* Hosts of one group that differ in the resource become several. */
static void split(const struct span_match_hosts *hosts, int id, int *groups,
                  int *n_groups)
{
    struct value_at *values = mem_alloc((size_t)hosts->n_hosts + 1, sizeof(*values));
    int n_values = 0;
    for (int i = 0; i < hosts->n_hosts; i++) {
        if (groups[i] < 0) {
            continue;
        }
        if (read_value(hosts, i, id, &values[n_values])) {
            values[n_values].host = i;
            values[n_values++].group = groups[i];
        } else {
            groups[i] = -1;
        }
    }
    qsort(values, (size_t)n_values, sizeof(*values), compare);
    *n_groups = 0;
    for (int i = 0; i < n_values; i++) {
        *n_groups += i == 0 || compare_values(&values[i - 1], &values[i]) != 0;
        groups[values[i].host] = *n_groups - 1;
    }
    free(values);
}

/* ---------------------------------------------------------------- units */

/* Links the hosts of each unit to rings. */
static const int *link_units(struct arena *arena, const int *unit_of, int n_hosts,
                             int n_units)
{
    int *next = arena_alloc(arena, (size_t)n_hosts, sizeof(*next));
    int *first = mem_alloc((size_t)n_units + 1, sizeof(*first)); /* + 1; 0: none */
    int *last = mem_alloc((size_t)n_units + 1, sizeof(*last));
    for (int i = 0; i < n_hosts; i++) {
        int unit = unit_of[i];
        if (unit < 0) {
            next[i] = -1;
            continue;
        }
        if (first[unit] == 0) {
            first[unit] = i + 1;
        } else {
            next[last[unit]] = i;
        }
        next[i] = first[unit] - 1;
        last[unit] = i;
    }
    free(first);
    free(last);
    return next;
}

static const struct place_span_units *find_units(struct arena *arena,
                                                 const struct resreq_cu *request,
                                                 const struct span_match_hosts *hosts)
{
    static const enum place_span_pref prefs[] = {
        [RESREQ_CU_CONFIG] = PLACE_SPAN_CONFIG,
        [RESREQ_CU_MAXAVAIL] = PLACE_SPAN_MAXAVAIL,
        [RESREQ_CU_MINAVAIL] = PLACE_SPAN_MINAVAIL,
        [RESREQ_CU_BESTFIT] = PLACE_SPAN_BESTFIT,
    };
    struct place_span_units *units = arena_alloc(arena, 1, sizeof(*units));
    int *unit_of = arena_alloc(arena, (size_t)hosts->n_hosts, sizeof(*unit_of));
    for (int i = 0; i < hosts->n_hosts; i++) {
        unit_of[i] =
            hosts->hosts[i].site[0] == '\0'
                ? compute_unit_of(hosts->units, request->type, hosts->hosts[i].name)
                : -1;
    }
    *units = (struct place_span_units){
        .unit_of = unit_of,
        .n_units = hosts->units->of_type[request->type].n_units,
        .pref = prefs[request->pref],
        .max_units = request->max_units,
        .usable_slots = request->usable_slots,
        .is_even = request->is_balanced,
    };
    if (request->is_exclusive) {
        units->next_in_unit =
            link_units(arena, unit_of, hosts->n_hosts, units->n_units);
    }
    return units;
}

/* ---------------------------------------------------------------- groups of alike
 * hosts */

/* By host: 0, it meets the selection; -1. */
static int *begin_groups(struct arena *arena, const struct span_match_hosts *hosts)
{
    int *groups = arena_alloc(arena, (size_t)hosts->n_hosts, sizeof(*groups));
    for (int i = 0; i < hosts->n_hosts; i++) {
        groups[i] = hosts->matches[i] ? 0 : -1;
    }
    return groups;
}

/* All hosts that have one of the resources have all of them. */
static bool have_all(const struct resreq_span *request,
                     const struct span_match_hosts *hosts)
{
    struct value_at value;
    for (int i = 0; i < hosts->n_hosts; i++) {
        int n_had = 0;
        for (int k = 0; k < request->n_same && hosts->matches[i]; k++) {
            n_had += read_value(hosts, i, request->same[k], &value);
        }
        if (n_had > 0 && n_had < request->n_same) {
            return false;
        }
    }
    return true;
}

static void find_groups(struct arena *arena, const struct resreq_span *request,
                        const struct span_match_hosts *hosts, struct place_span *span)
{
    bool is_one = have_all(request, hosts);
    int *groups = NULL;
    for (int i = 0; i < request->n_same; i++) {
        if (i == 0 || !is_one) {
            groups = begin_groups(arena, hosts);
            span->same[span->n_same++] = groups;
        }
        split(hosts, request->same[i], groups, &span->n_same_groups[span->n_same - 1]);
    }
}

/* ---------------------------------------------------------------- tiles */

static int tile_on(const struct resreq_span *request,
                   const struct span_match_hosts *hosts, int host, int id)
{
    int row = hosts->rows[host];
    for (int i = 0; i < request->n_ptiles && row >= 0; i++) {
        if (strcmp(request->ptiles[i].name,
                   resource_table_text(hosts->table, row, id)) == 0) {
            return request->ptiles[i].n_slots;
        }
    }
    return hosts->hosts[host].max > 0 ? hosts->hosts[host].max : 0;
}

static const int *find_tiles(struct arena *arena, const struct resreq_span *request,
                             const struct span_match_hosts *hosts)
{
    int id = RESOURCE_TYPE;
    for (int i = 0; i < request->n_same; i++) {
        id = request->same[i] == RESOURCE_MODEL ? RESOURCE_MODEL : id;
    }
    int *tiles = arena_alloc(arena, (size_t)hosts->n_hosts, sizeof(*tiles));
    for (int i = 0; i < hosts->n_hosts; i++) {
        tiles[i] = tile_on(request, hosts, i, id);
    }
    return tiles;
}

const struct place_span *span_match_make(struct arena *arena,
                                         const struct resreq_span *request,
                                         const struct span_match_hosts *hosts)
{
    static const enum place_span_kind spans[] = {
        [RESREQ_SPAN_NONE] = PLACE_SPAN_NONE,
        [RESREQ_SPAN_ANY] = PLACE_SPAN_NONE,
        [RESREQ_SPAN_HOST] = PLACE_SPAN_HOST,
        [RESREQ_SPAN_PTILE] = PLACE_SPAN_PTILE,
        [RESREQ_SPAN_PTILE_ALL] = PLACE_SPAN_PTILE,
        [RESREQ_SPAN_BLOCK] = PLACE_SPAN_BLOCK,
        [RESREQ_SPAN_STRIPE] = PLACE_SPAN_STRIPE,
    };
    if (spans[request->kind] == PLACE_SPAN_NONE && request->n_same == 0 &&
        !request->cu.is_given) {
        return NULL;
    }
    struct place_span *span = arena_alloc(arena, 1, sizeof(*span));
    span->kind = spans[request->kind];
    span->n_slots = request->n_slots;
    if (request->kind == RESREQ_SPAN_PTILE_ALL) {
        span->ptiles = find_tiles(arena, request, hosts);
    }
    find_groups(arena, request, hosts, span);
    if (request->cu.is_given) {
        span->units = find_units(arena, &request->cu, hosts);
    }
    return span;
}
