/* SPDX-License-Identifier: Apache-2.0 */
/* resize_snapshot.c: see resize_snapshot.h. */
#include "site/pass/resize_snapshot.h"

#include <limits.h>
#include <string.h>

static int *places_of(const struct host_table *own, struct arena *arena,
                      const struct job *job)
{
    int *places = arena_alloc(arena, (size_t)job->n_hosts + 1, sizeof(*places));
    for (int i = 0; i < job->n_hosts; i++) {
        places[i] = host_table_find(own, job->hosts[i].host);
    }
    return places;
}

/* A filter that is the line's own, and what it matches, to be narrowed. */
struct narrow {
    struct place_filter filter;
    uint8_t *mask;
};

static struct narrow *narrow_new(struct arena *arena, const struct place_filter *filter,
                                 int n_hosts)
{
    struct narrow *narrow = arena_alloc(arena, 1, sizeof(*narrow));
    narrow->mask = arena_alloc(arena, (size_t)n_hosts + 1, 1);
    narrow->filter = *filter;
    memcpy(narrow->mask, filter->matches, (size_t)n_hosts);
    narrow->filter.matches = narrow->mask;
    return narrow;
}

/* ---------------------------------------------------------------- how slots lie */

static bool has_place(const struct place_grow *grow, int host)
{
    for (int i = 0; i < grow->n_hosts; i++) {
        if (grow->indexes[i] == host) {
            return true;
        }
    }
    return false;
}

/* The kind of all that it has, by that way of being alike; -1: they are of several. */
static int kind_of(const struct place_span *shape, int way,
                   const struct place_grow *grow)
{
    int kind = grow->indexes[0] >= 0 ? shape->same[way][grow->indexes[0]] : -1;
    for (int i = 1; i < grow->n_hosts; i++) {
        int place = grow->indexes[i];
        if (place < 0 || shape->same[way][place] != kind) {
            return -1;
        }
    }
    return kind;
}

/* Hosts like those that it has: by the first way in which these are alike. */
static void narrow_kinds(const struct place_span *shape, const struct place_grow *grow,
                         int n_hosts, uint8_t *mask)
{
    int way = 0, kind = -1;
    while (way < shape->n_same && (kind = kind_of(shape, way, grow)) < 0) {
        way++;
    }
    for (int i = 0; i < n_hosts; i++) {
        mask[i] = mask[i] && kind >= 0 && shape->same[way][i] == kind;
    }
}

static int largest_tile(const struct place_span *shape, const uint8_t *mask,
                        int n_hosts)
{
    int most = shape->ptiles == NULL ? shape->n_slots : 1;
    for (int i = 0; shape->ptiles != NULL && i < n_hosts; i++) {
        most = mask[i] && shape->ptiles[i] > most ? shape->ptiles[i] : most;
    }
    return most;
}

/* The hosts of new slots, and how many at least: no tile or block is left open but the
 * last. */
static void narrow_shape(struct arena *arena, const struct place_grow *grow,
                         int n_hosts, struct narrow *narrow, struct place_class *line)
{
    struct place_span *shape = arena_copy(arena, narrow->filter.span, sizeof(*shape));
    int least = 1;
    if (shape->n_same > 0) {
        narrow_kinds(shape, grow, n_hosts, narrow->mask);
        shape->n_same = 0;
    }
    for (int i = 0; i < n_hosts; i++) {
        bool is_out = (shape->kind == PLACE_SPAN_HOST && i != grow->indexes[0]) ||
                      (shape->kind == PLACE_SPAN_PTILE && has_place(grow, i));
        narrow->mask[i] = narrow->mask[i] && !is_out;
    }
    if (shape->kind == PLACE_SPAN_PTILE) {
        least = largest_tile(shape, narrow->mask, n_hosts);
    } else if (shape->kind == PLACE_SPAN_BLOCK) {
        least = shape->n_slots;
    }
    line->n_slots = least < line->max_slots ? least : line->max_slots;
    bool is_free = shape->kind == PLACE_SPAN_NONE || shape->kind == PLACE_SPAN_HOST;
    narrow->filter.span = is_free ? NULL : shape;
}

/* ---------------------------------------------------------------- the line */

static void narrow_hosts(struct arena *arena, int n_hosts,
                         const struct place_grow *grow, struct place_class *line)
{
    if (line->filter != NULL && line->filter->span != NULL) {
        struct narrow *narrow = narrow_new(arena, line->filter, n_hosts);
        narrow_shape(arena, grow, n_hosts, narrow, line);
        line->filter = &narrow->filter;
    }
}

void resize_snapshot_make(const struct host_table *own, const struct pass_terms *terms,
                          struct arena *arena, struct job *job, int n_hosts,
                          struct place_class *line)
{
    struct place_grow *grow = arena_alloc(arena, 1, sizeof(*grow));
    struct job_class_entry **turns = arena_alloc(arena, 1, sizeof(*turns));
    int *places = places_of(own, arena, job);
    *grow = (struct place_grow){.hosts = job->hosts,
                                .indexes = places,
                                .n_hosts = job->n_hosts,
                                .is_exclusive = job->spec->is_exclusive};
    job->turn.key = job_key(job);
    job->turn.priority = job->terms->priority;
    turns[0] = &job->turn;
    *line = (struct place_class){
        .queue = job->queue,
        .account = job->seat.account,
        .n_slots = 1,
        .max_slots = job_wanted_slots(job),
        .scope = HOST_SCOPE_OWN,
        .host_list = host_list_cache_get(terms->asked_lists, job),
        .filter = resreq_match_filter(
            terms->needs, resreq_match_find(terms->needs, job->queue, job->spec)),
        .entries = turns,
        .n_entries = 1,
        .limit_class = limits_have_any(job->class) ? job->class : NULL,
        .max_starts = INT_MAX,
        .veto = queue_table_veto(terms->queues, job->queue, terms->local_ms),
        .grow = grow,
    };
    narrow_hosts(arena, n_hosts, grow, line);
    line->rusages = rusage_pass_grow_request(terms->reserves, job, places);
    line->n_rusages = line->rusages != NULL;
}
