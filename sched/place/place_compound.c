/* SPDX-License-Identifier: Apache-2.0 */
/* place_compound.c: see place_compound.h. Nothing is taken before all parts have room.
 */
#include "sched/place/place_compound.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A part as it is laid out. */
struct part {
    struct candidates *view;
    struct candidate_group *group;
    struct rusage_piece *pieces;
    int n_pieces;
};

struct compound {
    struct place_alloc *alloc;
    struct part *parts;
    int n_parts;              /* that are laid out */
    int *taken;               /* by host: slots of these */
    int64_t *left;            /* by supply: what these leave */
    struct host_slots *names; /* scratch */
    const struct limit **limit;
    int lacking; /* item of the part that is laid out now; -1 */
};

int place_compound_slots(const struct place_class *class, int part, int n_slots)
{
    if (class->rusages[part].n_slots > 0) {
        return class->rusages[part].n_slots;
    }
    for (int i = 0; i < class->n_rusages; i++) {
        n_slots -= class->rusages[i].n_slots;
    }
    return n_slots;
}

static struct candidate_group *group_of(const struct candidates *view, int group)
{
    for (int i = 0; i < view->n_groups; i++) {
        if (view->groups[i].group == group) {
            return &view->groups[i];
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- room */

/* The slots of the parts so far, and those pieces, on other hosts. */
static int list_others(const struct compound *compound, int host,
                       const struct rusage_piece *pieces, int n_pieces)
{
    const struct place_host *hosts = compound->alloc->state->snapshot->hosts;
    int n_names = 0;
    for (int i = 0; i < compound->n_parts; i++) {
        const struct part *part = &compound->parts[i];
        for (int k = 0; k < part->n_pieces; k++) {
            if (part->pieces[k].host != host) {
                compound->names[n_names++] = (struct host_slots){
                    hosts[part->pieces[k].host].name, part->pieces[k].n_slots};
            }
        }
    }
    for (int i = 0; i < n_pieces; i++) {
        compound->names[n_names++] =
            (struct host_slots){hosts[pieces[i].host].name, pieces[i].n_slots};
    }
    return n_names;
}

static int room_beside(void *arg, int host, const struct rusage_piece *pieces,
                       int n_pieces)
{
    struct compound *compound = arg;
    struct place_alloc *alloc = compound->alloc;
    const struct place_state *state = alloc->state;
    const struct part *part = &compound->parts[compound->n_parts];
    const struct candidates *view = part->view;
    int taken = compound->taken[host], lacking = -1;
    int room = place_state_free_slots(state, host, view->is_exclusive) - taken;
    if (room <= 0 ||
        place_state_in_accept_interval(state, host, part->group->accept_ms)) {
        return 0;
    }
    if (view->rusage != NULL && view->rusage->n_items > 0) {
        int reserved =
            rusage_supply_max_slots(state->snapshot->supply, compound->left,
                                    view->rusage, host, pieces, n_pieces, &lacking);
        compound->lacking = reserved < room ? lacking : compound->lacking;
        room = reserved < room ? reserved : room;
    }
    if (view->limit_class != NULL) {
        int n_names = list_others(compound, host, pieces, n_pieces);
        int limited = place_alloc_limited(alloc, view, host, compound->names, n_names,
                                          compound->limit);
        limited = limited == INT_MAX ? room : limited - taken;
        room = limited < room ? limited : room;
    }
    return room;
}

/* ---------------------------------------------------------------- parts */

static int compare(const void *left, const void *right)
{
    return candidates_is_better(left, right) ? -1 : 1; /* no two are the same */
}

/* The hosts of the group that had a free slot, in order as they stand now. */
static int *list_hosts(const struct place_state *state,
                       const struct candidate_group *group)
{
    size_t n_hosts = (size_t)group->count;
    struct candidate *ordered = mem_alloc(n_hosts + 1, sizeof(*ordered));
    int *hosts = mem_alloc(n_hosts + 1, sizeof(*hosts));
    for (size_t i = 0; i < n_hosts; i++) {
        ordered[i] = group->heap[i];
        ordered[i].used = state->used[ordered[i].host];
    }
    qsort(ordered, n_hosts, sizeof(*ordered), compare);
    for (size_t i = 0; i < n_hosts; i++) {
        hosts[i] = ordered[i].host;
    }
    free(ordered);
    return hosts;
}

/* Takes the pieces of the part from what later parts may have. */
static void keep(struct compound *compound, const struct part *part)
{
    const struct place_state *state = compound->alloc->state;
    const struct rusage_request *rusage = part->view->rusage;
    for (int i = 0; i < part->n_pieces; i++) {
        compound->taken[part->pieces[i].host] += part->pieces[i].n_slots;
    }
    if (rusage != NULL && rusage->n_items > 0) {
        size_t n_most = (size_t)part->n_pieces * (size_t)rusage->n_items;
        struct rusage_amount *amounts = mem_alloc(n_most + 1, sizeof(*amounts));
        int n_amounts = rusage_supply_amounts(state->snapshot->supply, rusage,
                                              part->pieces, part->n_pieces, amounts);
        rusage_supply_take(compound->left, amounts, n_amounts, 1);
        free(amounts);
    }
    compound->n_parts++;
}

static bool lay_out(struct compound *compound, struct part *part, int min, int max,
                    bool is_balanced)
{
    static const struct place_span anywhere = {.kind = PLACE_SPAN_NONE};
    struct place_state *state = compound->alloc->state;
    const struct place_span *span =
        part->view->span != NULL ? part->view->span : &anywhere;
    if (part->group == NULL || min < 1) {
        return false;
    }
    int *hosts = list_hosts(state, part->group);
    struct place_span own = *span;
    own.is_first = compound->n_parts == 0 ? span->is_first : NULL;
    struct place_span_request request = {
        .hosts = hosts,
        .n_hosts = part->group->count,
        .min = min,
        .max = max,
        .is_balanced = is_balanced,
        .room = room_beside,
        .arg = compound,
        .pieces = arena_alloc(state->arena, (size_t)part->group->count + 1,
                              sizeof(*request.pieces)),
    };
    compound->lacking = -1;
    bool fits = place_span_fit(&own, &request) >= min;
    part->pieces = request.pieces;
    part->n_pieces = request.n_pieces;
    free(hosts);
    return fits;
}

/* ---------------------------------------------------------------- the start */

static int index_in(const struct place_alloc *alloc, const struct place_start *start,
                    int host)
{
    int at = 0;
    while (at < start->n_hosts && alloc->indexes[at] != host) {
        at++;
    }
    return at;
}

/* The slots of all parts, by host. */
static void add_hosts(struct place_alloc *alloc, const struct part *part,
                      struct place_start *start)
{
    const struct place_host *hosts = alloc->state->snapshot->hosts;
    for (int i = 0; i < part->n_pieces; i++) {
        const struct rusage_piece *piece = &part->pieces[i];
        int at = index_in(alloc, start, piece->host);
        if (at == start->n_hosts) {
            alloc->indexes[start->n_hosts] = piece->host;
            start->hosts[start->n_hosts++] =
                (struct host_slots){hosts[piece->host].name, 0};
        }
        start->hosts[at].n_slots += piece->n_slots;
    }
}

/* What the part reserves, for its own slots on hosts of the start. */
static int add_items(const struct place_alloc *alloc, const struct part *part,
                     const struct place_start *start, struct resreq_rusage_item *items)
{
    const struct rusage_request *rusage = part->view->rusage;
    if (rusage == NULL || rusage->rusage == NULL) {
        return 0;
    }
    struct resreq_rusage_piece *pieces =
        arena_alloc(alloc->state->arena, (size_t)part->n_pieces + 1, sizeof(*pieces));
    for (int i = 0; i < part->n_pieces; i++) {
        pieces[i] = (struct resreq_rusage_piece){
            index_in(alloc, start, part->pieces[i].host), part->pieces[i].n_slots};
    }
    for (int i = 0; i < rusage->rusage->n_items; i++) {
        items[i] = rusage->rusage->items[i];
        items[i].pieces = pieces;
        items[i].n_pieces = part->n_pieces;
    }
    return rusage->rusage->n_items;
}

static void set_start(const struct compound *compound, struct place_start *start)
{
    struct place_alloc *alloc = compound->alloc;
    struct arena *arena = alloc->state->arena;
    size_t n_pieces = 1, n_items = 1;
    for (int i = 0; i < compound->n_parts; i++) {
        const struct rusage_request *rusage = compound->parts[i].view->rusage;
        n_pieces += (size_t)compound->parts[i].n_pieces;
        n_items += rusage != NULL && rusage->rusage != NULL
                       ? (size_t)rusage->rusage->n_items
                       : 0;
    }
    start->n_hosts = 0;
    start->hosts = arena_alloc(arena, n_pieces, sizeof(*start->hosts));
    for (int i = 0; i < compound->n_parts; i++) {
        add_hosts(alloc, &compound->parts[i], start);
    }
    struct resreq_rusage_item *items = arena_alloc(arena, n_items, sizeof(*items));
    struct resreq_rusage *usage = arena_alloc(arena, 1, sizeof(*usage));
    struct rusage_request *request = arena_alloc(arena, 1, sizeof(*request));
    for (int i = 0; i < compound->n_parts; i++) {
        usage->n_items +=
            add_items(alloc, &compound->parts[i], start, &items[usage->n_items]);
    }
    usage->items = items;
    request->rusage = usage;
    start->rusage = usage->n_items > 0 ? request : NULL;
}

static void take(const struct compound *compound, const struct place_start *start,
                 bool is_exclusive)
{
    struct place_alloc *alloc = compound->alloc;
    struct place_state *state = alloc->state;
    for (int i = 0; i < start->n_hosts; i++) {
        int host = alloc->indexes[i];
        state->used[host] += start->hosts[i].n_slots;
        state->dispatched_ms[host] = state->snapshot->now_ms;
        state->is_used_exclusively[host] =
            state->is_used_exclusively[host] || is_exclusive;
    }
    for (int i = 0; compound->left != NULL && i < state->snapshot->supply->n_supplies;
         i++) {
        state->supply_left[i] = compound->left[i];
    }
}

bool place_compound_alloc(struct place_alloc *alloc, const struct place_class *class,
                          int group, const struct place_alloc_request *want,
                          struct place_start *start, int *part,
                          const struct limit **limit)
{
    struct place_state *state = alloc->state;
    const struct rusage_supply *supply = state->snapshot->supply;
    size_t n_hosts = (size_t)state->snapshot->n_hosts + 1;
    size_t n_parts = (size_t) class->n_rusages;
    struct compound compound = {
        .alloc = alloc,
        .parts = arena_alloc(state->arena, n_parts, sizeof(*compound.parts)),
        .taken = mem_alloc(n_hosts, sizeof(*compound.taken)),
        .names = mem_alloc(n_hosts * n_parts, sizeof(*compound.names)),
        .limit = limit,
    };
    if (supply != NULL) {
        size_t n_bytes = (size_t)supply->n_supplies * sizeof(*compound.left);
        compound.left = mem_alloc((size_t)supply->n_supplies + 1, sizeof(int64_t));
        memcpy(compound.left, state->supply_left, n_bytes);
    }
    bool fits = true;
    for (int i = 0; i < class->n_rusages && fits; i++) {
        struct part *at = &compound.parts[i];
        int min = place_compound_slots(class, i, want->min);
        int max = place_compound_slots(class, i, want->max);
        at->view = candidates_of(state, class, i);
        at->group = group_of(at->view, group);
        *part = i;
        fits = lay_out(&compound, at, min, max, want->is_balanced);
        if (fits) {
            keep(&compound, at);
        }
    }
    alloc->lacking = compound.lacking;
    if (fits) {
        set_start(&compound, start);
        take(&compound, start, want->is_exclusive);
    }
    free(compound.taken);
    free(compound.names);
    free(compound.left);
    return fits;
}
