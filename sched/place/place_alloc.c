/* SPDX-License-Identifier: Apache-2.0 */
/* place_alloc.c: see place_alloc.h. Hosts leave the group's heap as they are looked at,
 * and those with slots left go back in the end; the last one may stay where it is, as
 * it only ever belongs further down. */
#include "sched/place/place_alloc.h"

#include <limits.h>
#include <stdlib.h>

#include "sched/place/place_affinity.h"
#include "sched/reservation/reservation.h"

void place_alloc_init(struct place_alloc *alloc, struct place_state *state,
                      const struct limits_tentative *draft,
                      const struct reservation_pass *reservations)
{
    *alloc = (struct place_alloc){
        .state = state, .limits = draft, .reservations = reservations};
    alloc->tried = arena_alloc(state->arena, (size_t)state->snapshot->n_hosts,
                               sizeof(*alloc->tried));
    alloc->pieces = arena_alloc(state->arena, (size_t)state->snapshot->n_hosts,
                                sizeof(*alloc->pieces));
    alloc->indexes =
        arena_alloc(state->arena, (size_t)state->snapshot->n_hosts, sizeof(int));
    alloc->slots_on =
        arena_alloc(state->arena, (size_t)state->snapshot->n_hosts, sizeof(int));
}

/* The job's pieces on other hosts, the first one first. */
static int list_pieces(struct place_alloc *alloc, int host)
{
    int n_pieces = 0;
    for (int i = 0; i < alloc->n_tried; i++) {
        const struct place_alloc_host *taken = &alloc->tried[i];
        if (taken->n_slots > 0 && taken->candidate.host != host) {
            alloc->pieces[n_pieces++] =
                (struct rusage_piece){taken->candidate.host, taken->n_slots};
        }
    }
    return n_pieces;
}

/* Slots for which the host has enough to reserve, in addition to those pieces. */
static int reserved_on(struct place_alloc *alloc, const struct candidates *view,
                       int host, const struct rusage_piece *pieces, int n_pieces,
                       int n_most)
{
    int lacking = -1;
    int room = rusage_supply_max_slots(alloc->state->snapshot->supply,
                                       alloc->state->supply_left, view->rusage, host,
                                       pieces, n_pieces, &lacking);
    if (view->rusage->affinity != NULL) {
        int n_bound = place_affinity_room(alloc->state, host, view->rusage->affinity);
        n_most = n_bound < n_most ? n_bound : n_most;
    }
    if (room < n_most) {
        alloc->lacking = lacking;
        return room;
    }
    return n_most;
}

int place_alloc_limited(const struct place_alloc *alloc, const struct candidates *view,
                        int host, const struct host_slots *pieces, int n_pieces,
                        const struct limit **limit)
{
    const struct place_host *at = &alloc->state->snapshot->hosts[host];
    int n_processors = at->n_processors > 0 ? at->n_processors : at->max;
    const struct limit *by = NULL;
    if (view->limit_class == NULL ||
        (alloc->is_backfill && reservation_has_host(alloc->reservations, host))) {
        return INT_MAX;
    }
    int room = limits_slots_left_on(alloc->limits, view->limit_class, at->name,
                                    n_processors, pieces, n_pieces, &by);
    *limit = by != NULL ? by : *limit;
    return room;
}

/* Slots that the job may take on this host, in addition to those pieces. */
static int room_on(struct place_alloc *alloc, const struct candidates *view, int host,
                   const struct host_slots *pieces, int n_pieces,
                   const struct limit **limit)
{
    int n_free = place_state_free_slots(alloc->state, host, view->is_exclusive);
    if (view->rusage != NULL && n_free > 0) {
        n_free = reserved_on(alloc, view, host, alloc->pieces, list_pieces(alloc, host),
                             n_free);
    }
    int room = place_alloc_limited(alloc, view, host, pieces, n_pieces, limit);
    return room < n_free ? room : n_free;
}

/* Of the best host as many slots as there are, at most `wanted`; -1: there is none. */
static int take_top(struct place_alloc *alloc, const struct candidates *view,
                    struct candidate_group *group, int wanted, bool may_stay,
                    struct place_start *start, const struct limit **limit)
{
    const struct candidate *top = candidates_top(alloc->state, group);
    if (top == NULL) {
        return -1;
    }
    struct place_alloc_host *taken = &alloc->tried[alloc->n_tried++];
    int host = top->host;
    taken->candidate = *top;
    taken->n_slots = 0;
    taken->n_slots = room_on(alloc, view, host, start->hosts, start->n_hosts, limit);
    taken->n_slots = taken->n_slots < wanted ? taken->n_slots : wanted;
    taken->n_slots = taken->n_slots > 0 ? taken->n_slots : 0;
    if (taken->n_slots > 0) {
        alloc->indexes[start->n_hosts] = host;
        start->hosts[start->n_hosts++] =
            (struct host_slots){.host = alloc->state->snapshot->hosts[host].name,
                                .n_slots = taken->n_slots};
    }
    taken->is_popped = may_stay ? taken->n_slots < wanted : true;
    if (taken->is_popped) {
        candidates_pop(group);
    }
    return taken->n_slots;
}

static int take_stacked(struct place_alloc *alloc, const struct candidates *view,
                        struct candidate_group *group, int wanted,
                        struct place_start *start, const struct limit **limit)
{
    int n_slots = 0, n_more;
    while (n_slots < wanted && (n_more = take_top(alloc, view, group, wanted - n_slots,
                                                  true, start, limit)) >= 0) {
        n_slots += n_more;
    }
    return n_slots;
}

/* One slot more on the host that has this piece of the job already. */
static bool add_one(struct place_alloc *alloc, const struct candidates *view,
                    struct place_alloc_host *taken, struct place_start *start,
                    int piece, const struct limit **limit)
{
    struct host_slots own = start->hosts[piece];
    int last = start->n_hosts - 1;
    start->hosts[piece] = start->hosts[last]; /* the others are the first ones */
    int room = room_on(alloc, view, taken->candidate.host, start->hosts, last, limit);
    start->hosts[piece] = own;
    if (room <= own.n_slots) {
        return false;
    }
    taken->n_slots = ++start->hosts[piece].n_slots;
    return true;
}

static int take_balanced(struct place_alloc *alloc, const struct candidates *view,
                         struct candidate_group *group, int wanted,
                         struct place_start *start, const struct limit **limit)
{
    int n_slots = 0, n_before = -1, n_more;
    while (n_slots < wanted &&
           (n_more = take_top(alloc, view, group, 1, false, start, limit)) >= 0) {
        n_slots += n_more;
    }
    while (n_slots < wanted && n_slots > n_before) {
        n_before = n_slots;
        for (int i = 0, piece = 0; i < alloc->n_tried && n_slots < wanted; i++) {
            if (alloc->tried[i].n_slots > 0) {
                n_slots +=
                    add_one(alloc, view, &alloc->tried[i], start, piece++, limit);
            }
        }
    }
    return n_slots;
}

/* ---------------------------------------------------------------- with span or same */

/* What place_span_fit asks about. */
struct span_context {
    struct place_alloc *alloc;
    const struct candidates *view;
    struct host_slots *names; /* scratch: of pieces */
    const struct limit **limit;
};

static int max_slots_beside(void *arg, int host, const struct rusage_piece *pieces,
                            int n_pieces)
{
    const struct span_context *at = arg;
    const struct place_host *hosts = at->alloc->state->snapshot->hosts;
    int n_free = place_state_free_slots(at->alloc->state, host, at->view->is_exclusive);
    if (at->view->rusage != NULL && n_free > 0) {
        n_free = reserved_on(at->alloc, at->view, host, pieces, n_pieces, n_free);
    }
    for (int i = 0; at->view->limit_class != NULL && i < n_pieces; i++) {
        at->names[i] =
            (struct host_slots){hosts[pieces[i].host].name, pieces[i].n_slots};
    }
    int room =
        place_alloc_limited(at->alloc, at->view, host, at->names, n_pieces, at->limit);
    return room < n_free ? room : n_free;
}

/* True where hosts that come later in the order change nothing. */
static bool is_final(const struct place_span *span,
                     const struct place_span_request *request, int n_slots)
{
    bool is_balanced = span->kind == PLACE_SPAN_STRIPE ||
                       (span->kind == PLACE_SPAN_NONE && request->is_balanced);
    return span->n_same == 0 && !is_balanced &&
           n_slots >= (span->kind == PLACE_SPAN_HOST ? request->min : request->max);
}

static void start_pieces(struct place_alloc *alloc,
                         const struct place_span_request *request,
                         struct place_start *start)
{
    const struct place_host *hosts = alloc->state->snapshot->hosts;
    for (int i = 0; i < request->n_pieces; i++) {
        const struct rusage_piece *piece = &request->pieces[i];
        alloc->slots_on[piece->host] = piece->n_slots;
        alloc->indexes[start->n_hosts] = piece->host;
        start->hosts[start->n_hosts++] =
            (struct host_slots){hosts[piece->host].name, piece->n_slots};
    }
    for (int i = 0; i < alloc->n_tried; i++) {
        struct place_alloc_host *taken = &alloc->tried[i];
        taken->n_slots = alloc->slots_on[taken->candidate.host];
        alloc->slots_on[taken->candidate.host] = 0;
    }
}

/* By host, of those that have been looked at; NULL: the span does not ask. */
static const int *list_preferences(struct place_alloc *alloc,
                                   const struct place_span *span)
{
    struct place_state *state = alloc->state;
    if (span->units == NULL) {
        return NULL;
    }
    if (alloc->preferences == NULL) {
        alloc->preferences =
            arena_alloc(state->arena, (size_t)state->snapshot->n_hosts, sizeof(int));
    }
    for (int i = 0; i < alloc->n_tried; i++) {
        const struct candidate *candidate = &alloc->tried[i].candidate;
        alloc->preferences[candidate->host] = candidate->preference;
    }
    return alloc->preferences;
}

/* As few hosts of the order are looked at as will do. */
static int take_with_span(struct place_alloc *alloc, const struct candidates *view,
                          struct candidate_group *group,
                          const struct place_alloc_request *want,
                          struct place_start *start, const struct limit **limit)
{
    enum { FEW = 16 };
    const struct place_span *span = view->span;
    size_t n_most = (size_t)group->count + 1;
    struct span_context at = {alloc, view, mem_alloc(n_most, sizeof(*at.names)), limit};
    int *hosts = mem_alloc(n_most, sizeof(*hosts));
    struct place_span_request request = {
        .hosts = hosts,
        .min = want->min,
        .max = want->max,
        .is_balanced = want->is_balanced,
        .is_reservation = alloc->is_reservation,
        .room = max_slots_beside,
        .arg = &at,
        .pieces = mem_alloc(n_most, sizeof(*request.pieces)),
    };
    const struct candidate *top;
    int n_slots = 0, n_looked = FEW;
    bool is_over = false;
    while (!is_over) {
        while (alloc->n_tried < n_looked &&
               (top = candidates_top(alloc->state, group)) != NULL) {
            hosts[request.n_hosts++] = top->host;
            alloc->tried[alloc->n_tried++] =
                (struct place_alloc_host){.candidate = *top, .is_popped = true};
            candidates_pop(group);
        }
        is_over = alloc->n_tried < n_looked;
        if (is_over || (span->n_same == 0 && span->units == NULL)) {
            request.preferences = list_preferences(alloc, span);
            n_slots = place_span_fit(span, &request);
            is_over = is_over || is_final(span, &request, n_slots);
        }
        n_looked *= 2;
    }
    start_pieces(alloc, &request, start);
    alloc->n_span_slots = n_slots;
    free(hosts);
    free(at.names);
    free(request.pieces);
    return n_slots;
}

/* ---------------------------------------------------------------- one job */

/* Of the start's hosts, the first one first. */
static void reserve_pieces(struct place_alloc *alloc,
                           const struct rusage_request *rusage,
                           const struct place_start *start)
{
    struct place_state *state = alloc->state;
    int n_pieces = start->n_hosts;
    for (int i = 0; i < n_pieces; i++) {
        alloc->pieces[i] =
            (struct rusage_piece){alloc->indexes[i], start->hosts[i].n_slots};
    }
    size_t n_most = (size_t)n_pieces * (size_t)rusage->n_items;
    struct rusage_amount *parts = arena_alloc(state->arena, n_most, sizeof(*parts));
    int n_parts = rusage_supply_amounts(state->snapshot->supply, rusage, alloc->pieces,
                                        n_pieces, parts);
    rusage_supply_take(state->supply_left, parts, n_parts, 1);
}

/* Gives the slots to the job, or to no job. Hosts with slots left return to the heap.
 */
static void settle(struct place_alloc *alloc, struct candidate_group *group,
                   const struct place_start *start, bool is_kept, bool is_exclusive)
{
    struct place_state *state = alloc->state;
    if (is_kept && group->rusage != NULL) {
        reserve_pieces(alloc, group->rusage, start);
    }
    for (int i = 0; i < alloc->n_tried; i++) {
        struct place_alloc_host *taken = &alloc->tried[i];
        int host = taken->candidate.host;
        if (is_kept && taken->n_slots > 0) {
            state->used[host] += taken->n_slots;
            if (!alloc->is_reservation) {
                state->dispatched_ms[host] = state->snapshot->now_ms;
            }
            state->is_used_exclusively[host] =
                state->is_used_exclusively[host] || is_exclusive;
            if (group->units != NULL) {
                place_state_close_unit(state, group->units, host);
            }
        }
        taken->candidate.used = state->used[host];
        if (taken->is_popped && candidates_free_slots(state, host, group) > 0) {
            candidates_push(group, &taken->candidate);
        }
    }
    alloc->n_tried = 0;
}

bool place_alloc(struct place_alloc *alloc, struct candidates *view,
                 struct candidate_group *group, const struct place_alloc_request *want,
                 struct place_start *start, const struct limit **limit)
{
    int n_most = want->max < group->count ? want->max : group->count;
    alloc->lacking = -1;
    start->n_hosts = start->n_parts = 0;
    start->rusage = view->rusage;
    start->hosts =
        arena_alloc(alloc->state->arena, (size_t)n_most, sizeof(*start->hosts));
    int n_slots =
        view->span != NULL  ? take_with_span(alloc, view, group, want, start, limit)
        : want->is_balanced ? take_balanced(alloc, view, group, want->max, start, limit)
                            : take_stacked(alloc, view, group, want->max, start, limit);
    const struct affinity_request *affinity = place_affinity_of(view->rusage);
    start->binding = NULL;
    if (affinity != NULL && n_slots >= want->min &&
        !place_affinity_take(alloc->state, affinity, start, alloc->indexes)) {
        n_slots = 0;
    }
    settle(alloc, group, start, n_slots >= want->min, want->is_exclusive);
    return n_slots >= want->min;
}
