/* SPDX-License-Identifier: Apache-2.0 */
/* place_compound.c: see place_compound.h. Nothing is taken before all parts have room.
 *
 * Parts are laid out in their order, each as if it came alone to what is left. If one
 * finds no room, it might if an earlier part had a slot less on one of its hosts. So
 * for each such part and host all parts are laid out again with that as a bound, and so
 * on, depth first.
 *
 *     1*{any} + 1*{big}, of n1, which is big, and n2, one slot free on each
 *     any n1; big finds none. At most 0 slots of any on n1: any n2, big n1 */
#include "sched/place/place_compound.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A part as it is laid out. */
struct part {
    struct candidates *view;
    struct candidate_group *group;
    int min, max; /* slots */
    int *hosts;   /* that had a free slot for the part alone, in order */
    int n_hosts;
    int *bounds; /* by host: 1 more than the slots that it may have there; 0: any
                    number; NULL: likewise everywhere */
    struct rusage_piece *pieces;
    int n_pieces;
};

struct compound {
    struct place_alloc *alloc;
    struct part *parts;
    int n_all, n_parts; /* of these the first ones are laid out */
    int n_tries;
    bool is_balanced;
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
    if (part->bounds != NULL && part->bounds[host] > 0) {
        room = part->bounds[host] - 1 < room ? part->bounds[host] - 1 : room;
    }
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
    int *hosts = arena_alloc(state->arena, n_hosts + 1, sizeof(*hosts));
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

static bool lay_out(struct compound *compound, struct part *part)
{
    static const struct place_span anywhere = {.kind = PLACE_SPAN_NONE};
    const struct place_span *span =
        part->view->span != NULL ? part->view->span : &anywhere;
    struct place_span own = *span;
    own.is_first = part == compound->parts ? span->is_first : NULL;
    struct place_span_request request = {
        .hosts = part->hosts,
        .n_hosts = part->n_hosts,
        .min = part->min,
        .max = part->max,
        .is_balanced = compound->is_balanced,
        .room = room_beside,
        .arg = compound,
        .pieces = part->pieces,
    };
    compound->lacking = -1;
    bool fits = part->group != NULL && part->min > 0 &&
                place_span_fit(&own, &request) >= part->min;
    part->n_pieces = fits ? request.n_pieces : 0;
    return fits;
}

/* ---------------------------------------------------------------- all parts */

static void begin(struct compound *compound)
{
    const struct place_state *state = compound->alloc->state;
    const struct rusage_supply *supply = state->snapshot->supply;
    memset(compound->taken, 0,
           (size_t)state->snapshot->n_hosts * sizeof(*compound->taken));
    if (supply != NULL) {
        memcpy(compound->left, state->supply_left,
               (size_t)supply->n_supplies * sizeof(*compound->left));
    }
    compound->n_parts = 0;
}

/* The first part that finds no room beside those before it; NULL: all have room. */
static struct part *lay_out_all(struct compound *compound)
{
    begin(compound);
    compound->n_tries++;
    for (int i = 0; i < compound->n_all; i++) {
        if (!lay_out(compound, &compound->parts[i])) {
            return &compound->parts[i];
        }
        keep(compound, &compound->parts[i]);
    }
    return NULL;
}

static bool has_host(const struct part *part, int host)
{
    int i = 0;
    while (i < part->n_hosts && part->hosts[i] != host) {
        i++;
    }
    return i < part->n_hosts;
}

/* Hosts of the part and of those before it have so many slots together as these need.
 */
static bool has_slots(struct compound *compound, const struct part *last)
{
    const struct place_state *state = compound->alloc->state;
    int64_t n_missing = 0;
    begin(compound); /* `taken` marks the hosts that have been counted */
    for (const struct part *part = compound->parts; part <= last; part++) {
        n_missing += part->min;
        for (int i = 0; i < part->n_hosts; i++) {
            int host = part->hosts[i];
            n_missing -= compound->taken[host] == 0
                             ? place_state_free_slots(state, host, false)
                             : 0;
            compound->taken[host] = 1;
        }
    }
    return n_missing <= 0;
}

/* The part would fit if it were the only one, and those before it do not need too many
 * slots. */
static bool may_fit(struct compound *compound, struct part *part)
{
    if (!has_slots(compound, part)) {
        return false;
    }
    begin(compound);
    compound->n_parts = (int)(part - compound->parts); /* none of them has pieces */
    for (int i = 0; i < compound->n_parts; i++) {
        compound->parts[i].n_pieces = 0;
    }
    return lay_out(compound, part);
}

/* A part that might have less on one of its hosts. */
struct choice {
    struct part *part;
    struct rusage_piece piece;
};

/* Of the parts before the failed one, on hosts that it could use. */
static int list_choices(const struct compound *compound, const struct part *failed,
                        struct choice *choices)
{
    int n_choices = 0;
    for (struct part *part = compound->parts; part < failed; part++) {
        for (int i = 0; i < part->n_pieces; i++) {
            if (has_host(failed, part->pieces[i].host)) {
                choices[n_choices++] = (struct choice){part, part->pieces[i]};
            }
        }
    }
    return n_choices;
}

static bool find_room(struct compound *compound, const struct part *failed);

/* All parts are laid out again, and that one has a slot less on that host. */
static bool fits_with_less(struct compound *compound, const struct choice *choice)
{
    struct place_state *state = compound->alloc->state;
    struct part *part = choice->part;
    if (part->bounds == NULL) {
        part->bounds =
            arena_alloc(state->arena, (size_t)state->snapshot->n_hosts, sizeof(int));
    }
    int before = part->bounds[choice->piece.host];
    part->bounds[choice->piece.host] = choice->piece.n_slots; /* 1 and what is left */
    const struct part *failed = lay_out_all(compound);
    bool fits = failed == NULL || find_room(compound, failed);
    part->bounds[choice->piece.host] = before;
    return fits;
}

static bool find_room(struct compound *compound, const struct part *failed)
{
    size_t n_most = 1;
    for (const struct part *part = compound->parts; part < failed; part++) {
        n_most += (size_t)part->n_pieces;
    }
    struct choice *choices = mem_alloc(n_most, sizeof(*choices));
    int n_choices = list_choices(compound, failed, choices);
    bool fits = false;
    for (int i = 0;
         i < n_choices && !fits && compound->n_tries < PLACE_COMPOUND_TRIES_MAX; i++) {
        fits = fits_with_less(compound, &choices[i]);
    }
    free(choices);
    return fits;
}

/* The first part that finds no room, whichever way those before it are laid out; NULL:
 * all have room. */
static struct part *lay_out_any(struct compound *compound)
{
    struct part *failed = lay_out_all(compound);
    int lacking = compound->lacking;
    if (failed != NULL && failed != compound->parts && may_fit(compound, failed)) {
        lay_out_all(compound);
        failed = find_room(compound, failed) ? NULL : failed;
    }
    compound->lacking = lacking;
    return failed;
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
    struct place_part *parts =
        arena_alloc(arena, (size_t)compound->n_parts, sizeof(*parts));
    for (int i = 0; i < compound->n_parts; i++) {
        const struct part *part = &compound->parts[i];
        parts[i] =
            (struct place_part){part->view->rusage, part->pieces, part->n_pieces};
    }
    start->parts = parts;
    start->n_parts = compound->n_parts;
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

static void part_init(struct place_state *state, const struct place_class *class,
                      int index, int group, const struct place_alloc_request *want,
                      struct part *part)
{
    part->view = candidates_of(state, class, index);
    part->group = group_of(part->view, group);
    part->min = place_compound_slots(class, index, want->min);
    part->max = place_compound_slots(class, index, want->max);
    if (part->group != NULL) {
        part->n_hosts = part->group->count;
        part->hosts = list_hosts(state, part->group);
        part->pieces =
            arena_alloc(state->arena, (size_t)part->n_hosts + 1, sizeof(*part->pieces));
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
        .n_all = class->n_rusages,
        .is_balanced = want->is_balanced,
        .taken = mem_alloc(n_hosts, sizeof(*compound.taken)),
        .names = mem_alloc(n_hosts * n_parts, sizeof(*compound.names)),
        .limit = limit,
    };
    if (supply != NULL) {
        compound.left = mem_alloc((size_t)supply->n_supplies + 1, sizeof(int64_t));
    }
    for (int i = 0; i < compound.n_all; i++) {
        part_init(state, class, i, group, want, &compound.parts[i]);
    }
    const struct part *failed = lay_out_any(&compound);
    alloc->lacking = compound.lacking;
    if (failed == NULL) {
        set_start(&compound, start);
        take(&compound, start, want->is_exclusive);
    } else {
        *part = (int)(failed - compound.parts);
    }
    free(compound.taken);
    free(compound.names);
    free(compound.left);
    return failed == NULL;
}
