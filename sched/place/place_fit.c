/* SPDX-License-Identifier: Apache-2.0 */
/* place_fit.c: where one job fits, and why it fits nowhere; see place.h.
 *
 * The reason is found once for candidates and a number of slots, and holds for all
 * classes after that. */
#include <stdlib.h>

#include "sched/place/place_compound.h"
#include "sched/place/place_pass.h"
#include "sched/reservation/reservation.h"

enum { LOOKED_AT_ONCE = 128 }; /* hosts */

/* ---------------------------------------------------------------- groups */

int place_fit_count(const struct place_pass *pass, const struct candidate_group *group,
                    int enough)
{
    int n_free = 0;
    for (int i = 0; i < group->count && n_free < enough; i++) {
        n_free += candidates_free_slots(&pass->state, group->heap[i].host, group);
    }
    return n_free;
}

/* The group with the best host of those that have free slots for the whole job; those
 * in `tried` are out. */
static struct candidate_group *choose_group(struct place_pass *pass,
                                            struct candidates *view, int n_slots,
                                            const bool *tried)
{
    struct candidate_group *best = NULL;
    for (int i = 0; i < view->n_groups; i++) {
        struct candidate_group *group = &view->groups[i];
        const struct candidate *top =
            tried[i] ? NULL : candidates_top(&pass->state, group);
        if (top != NULL &&
            (best == NULL || candidates_is_better(top, &best->heap[0])) &&
            place_fit_count(pass, group, n_slots) >= n_slots) {
            best = group;
        }
    }
    return best;
}

/* ---------------------------------------------------------------- why nowhere */

static int count_free(const struct place_pass *pass, const struct candidates *view)
{
    int n_free = 0;
    for (int i = 0; i < view->n_groups; i++) {
        const struct candidate_group *group = &view->groups[i];
        for (int k = 0; k < group->count; k++) {
            n_free +=
                candidates_free_slots(&pass->state, group->heap[k].host, group) > 0;
        }
    }
    return n_free;
}

/* Hosts that have too little to reserve, by the item that says so: those of the item
 * that most of them lack come first. */
struct lack {
    int n_hosts;         /* in all */
    bool has_full;       /* others have enough, and are full, closed or loaded */
    int item, n_of_item; /* -1: none */
};

/* True if there is no slot for the view's jobs on a host with enough to reserve. */
static bool is_full(const struct place_pass *pass, const struct candidates *view,
                    int64_t accept_ms, int host)
{
    return place_state_load(pass->snapshot, view->queue, host) != NULL ||
           place_state_in_accept_interval(&pass->state, host, accept_ms) ||
           place_state_free_slots(&pass->state, host, view->is_exclusive) == 0;
}

static bool is_usable(const struct place_pass *pass, const struct candidates *view,
                      int host)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    return at->is_open && !at->is_held && !pass->state.is_used_exclusively[host] &&
           place_state_load(pass->snapshot, view->queue, host) == NULL;
}

/* Counts these hosts of a group. */
static void add_lack(const struct place_pass *pass, const struct candidates *view,
                     int64_t accept_ms, const int *hosts, int n_hosts,
                     struct lack *lack, int *by_item)
{
    int lacking[LOOKED_AT_ONCE];
    rusage_supply_find_lacks(pass->snapshot->supply, pass->state.supply_left,
                             view->rusage, hosts, n_hosts, lacking);
    for (int i = 0; i < n_hosts; i++) {
        if (lacking[i] < 0) {
            lack->has_full = lack->has_full || is_full(pass, view, accept_ms, hosts[i]);
        } else if (is_usable(pass, view, hosts[i])) {
            lack->n_hosts++;
            by_item[lacking[i]]++;
        }
    }
}

static struct lack count_lack(const struct place_pass *pass,
                              const struct candidates *view)
{
    struct lack lack = {.item = -1};
    int n_items = view->rusage != NULL ? view->rusage->n_items : 0;
    int *by_item = arena_alloc(pass->arena, (size_t)n_items, sizeof(*by_item));
    for (int i = 0; view->rusage != NULL && i < view->n_groups; i++) {
        const struct candidate_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k += LOOKED_AT_ONCE) {
            int n_left = group->n_members - k;
            add_lack(pass, view, group->accept_ms, &group->members[k],
                     n_left < LOOKED_AT_ONCE ? n_left : LOOKED_AT_ONCE, &lack, by_item);
        }
    }
    for (int i = 0; i < n_items; i++) {
        if (by_item[i] > lack.n_of_item) {
            lack.item = i;
            lack.n_of_item = by_item[i];
        }
    }
    return lack;
}

/* Hosts with room that were given a job too shortly before; notes when the first of
 * them takes one again. */
static int count_accept_interval(struct place_pass *pass, const struct candidates *view)
{
    int64_t accept_ms = pass->snapshot->queues[view->queue].accept_interval_ms;
    int n_waiting = 0;
    for (int i = 0; accept_ms > 0 && i < view->n_groups; i++) {
        const struct candidate_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k++) {
            int host = group->members[k];
            int64_t over_ms = pass->state.dispatched_ms[host] + accept_ms;
            bool has_enough =
                view->rusage == NULL ||
                rusage_supply_find_lack(pass->snapshot->supply, pass->state.supply_left,
                                        view->rusage, host) < 0;
            if (has_enough &&
                place_state_in_accept_interval(&pass->state, host, accept_ms) &&
                place_state_load(pass->snapshot, view->queue, host) == NULL &&
                place_state_free_slots(&pass->state, host, view->is_exclusive) > 0) {
                n_waiting++;
                pass->next_ms = over_ms < pass->next_ms ? over_ms : pass->next_ms;
            }
        }
    }
    return n_waiting;
}

/* What cannot be reserved: hosts lack it, or (`lacking`) a host that the job looked at
 * had too little for all of its slots. */
static void explain_lack(const struct place_pass *pass, struct candidates *view,
                         const struct lack *lack, int lacking)
{
    struct pending_verdict *verdict = &view->verdict;
    int item = lacking >= 0 ? lacking : lack->item;
    verdict->n_short = lack->n_hosts;
    verdict->n_full -= lack->n_hosts;
    if (item >= 0) {
        const struct rusage_item *ask = &view->rusage->items[item];
        const struct rusage_resource *resource =
            &pass->snapshot->supply->resources[ask->resource];
        verdict->resource = resource->name;
        verdict->limit = resource->limit;
        verdict->need_milli =
            ask->threshold_milli > ask->milli ? ask->threshold_milli : ask->milli;
        verdict->is_per_slot = ask->scope == RESREQ_SCOPE_SLOT;
        verdict->n_of_resource = item == lack->item ? lack->n_of_item : 0;
    }
}

/* Hosts as they are, or as they would be if nothing ran anywhere. */
struct span_context {
    const struct place_pass *pass;
    const struct candidate_group *group;
    bool is_empty;
};

/* A lease's host may be handed all slots of its contract. */
static int size_of(const struct place_host *host)
{
    return host->n_lease_slots > host->max ? host->n_lease_slots : host->max;
}

static int room_at(void *arg, int host, const struct rusage_piece *pieces, int n_pieces)
{
    const struct span_context *at = arg;
    (void)pieces;
    (void)n_pieces;
    return at->is_empty ? size_of(&at->pass->snapshot->hosts[host])
                        : candidates_free_slots(&at->pass->state, host, at->group);
}

/* The most slots of so many that could lie on hosts of one group. */
static int count_fitting(const struct place_pass *pass, const struct candidates *view,
                         int n_slots, bool is_empty)
{
    int most = 0;
    for (int i = 0; i < view->n_groups && most < n_slots; i++) {
        const struct candidate_group *group = &view->groups[i];
        struct span_context at = {pass, group, is_empty};
        size_t n_hosts = (size_t)group->n_members;
        struct place_span_request request = {
            .hosts = group->members,
            .n_hosts = group->n_members,
            .min = n_slots,
            .max = n_slots,
            .room = room_at,
            .arg = &at,
            .pieces = mem_alloc(n_hosts + 1, sizeof(*request.pieces)),
        };
        int n_fit = place_span_fit(view->span, &request);
        most = n_fit > most ? n_fit : most;
        free(request.pieces);
    }
    return most;
}

/* Free slots with which a host is of use by itself. */
static int least_on(const struct place_span *span, int host, int n_slots)
{
    switch (span->kind) {
    case PLACE_SPAN_HOST:
        return n_slots;
    case PLACE_SPAN_PTILE:
        return span->ptiles != NULL ? span->ptiles[host] : span->n_slots;
    case PLACE_SPAN_BLOCK:
        return span->n_slots;
    case PLACE_SPAN_NONE:
    case PLACE_SPAN_STRIPE:
        break;
    }
    return 1;
}

/* Of the hosts with free slots those with too few, and the one with the most. */
static void look_at_free(const struct place_pass *pass, const struct candidates *view,
                         int n_slots, struct pending_verdict *verdict)
{
    const struct place_span *span = view->span;
    const struct place_host *hosts = pass->snapshot->hosts;
    int most = 0;
    for (int i = 0; i < view->n_groups; i++) {
        const struct candidate_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k++) {
            int host = group->members[k];
            int n_free = candidates_free_slots(&pass->state, host, group);
            int n = verdict->span.is_impossible ? size_of(&hosts[host]) : n_free;
            int least = least_on(span, host, n_slots);
            bool is_small = least > 0 && n_free < (least < n_slots ? least : n_slots);
            bool is_loaded =
                place_state_load(pass->snapshot, view->queue, host) != NULL;
            if (n_free > 0 && !is_loaded) {
                verdict->n_small += is_small;
                verdict->n_apart +=
                    !is_small && (span->n_same > 0 || span->units != NULL);
            }
            if (n > most) {
                most = n;
                /* Borrowed ones have names of the pass. */
                verdict->span.host =
                    hosts[host].lease[0] == '\0' ? hosts[host].name : NULL;
            }
        }
    }
    if (span->kind == PLACE_SPAN_HOST) {
        verdict->span.n_fit = most < verdict->span.n_fit ? verdict->span.n_fit : most;
    }
}

/* Explains in the verdict which part of the span free slots cannot meet, or no slots
 * ever could. `n_free` is the number of hosts with free slots. */
static bool explain_span(const struct place_pass *pass, const struct candidates *view,
                         int n_slots, int n_free, struct pending_verdict *verdict)
{
    const struct place_span *span = view->span;
    if (span == NULL) {
        return false;
    }
    int n_fit = count_fitting(pass, view, n_slots, true);
    bool is_impossible = n_fit < n_slots;
    if (!is_impossible && n_free == 0) {
        return false; /* neither span nor same is the cause */
    }
    n_fit = is_impossible ? n_fit : count_fitting(pass, view, n_slots, false);
    verdict->span = (struct pending_reason_span){
        .kind = span->kind,
        .n_span = span->n_slots,
        .is_same = span->n_same > 0,
        .has_units = span->units != NULL,
        .has_first = span->is_first != NULL,
        .is_impossible = is_impossible,
        .n_wanted = n_slots,
        .n_fit = n_fit,
    };
    verdict->n_small = verdict->n_apart = 0;
    look_at_free(pass, view, n_slots, verdict);
    return true;
}

/* Why the view has no room for so many slots. */
static void explain(struct place_pass *pass, struct candidates *view, int n_slots,
                    const struct limit *limit)
{
    struct pending_verdict *verdict = &view->verdict;
    int n_asked = verdict->n_hosts - verdict->n_excluded - verdict->n_avoided;
    int n_allowed = n_asked - verdict->n_unmet - verdict->n_reserved;
    int n_free = count_free(pass, view);
    struct lack lack = count_lack(pass, view);
    bool has_span = explain_span(pass, view, n_slots, n_free, verdict);
    int lacking = view->rusage != NULL ? pass->alloc.lacking : -1;
    view->explained_slots = n_slots;
    verdict->n_accept_interval = count_accept_interval(pass, view);
    verdict->n_full = n_allowed - verdict->n_closed - verdict->n_exclusive -
                      verdict->n_loaded - verdict->n_accept_interval - n_free;
    verdict->limit = NULL;
    explain_lack(pass, view, &lack, lacking);
    verdict->n_limited = limit != NULL ? n_free : 0;
    verdict->limit = limit != NULL ? limit->name : verdict->limit;
    if (n_allowed == 0 && verdict->n_reserved > 0) {
        const struct place_reserved *spent = view->filter->reserved;
        verdict->reason = REASON_RESERVED_BY_OTHERS;
        verdict->resource = spent->resource;
        verdict->total_milli = spent->total_milli;
        verdict->reserved_milli = spent->reserved_milli;
    } else if (n_allowed == 0 && verdict->n_avoided > 0) {
        verdict->reason = REASON_AVOIDED;
    } else if (n_allowed == 0) {
        verdict->reason = n_asked > 0 ? REASON_UNMET : REASON_NO_HOST;
    } else if (verdict->n_closed == n_allowed) {
        verdict->reason = REASON_CLOSED;
    } else if (view->capacity < n_slots) {
        verdict->reason = REASON_TOO_LARGE;
    } else if (has_span && verdict->span.is_impossible) {
        verdict->reason = REASON_SPAN_LARGE;
    } else if (verdict->n_loaded > 0 &&
               verdict->n_loaded + verdict->n_closed == n_allowed) {
        verdict->reason = REASON_LOAD;
    } else if (limit != NULL) {
        verdict->reason = REASON_HOST_LIMIT;
    } else if (lacking >= 0 || (lack.n_hosts > 0 && !lack.has_full)) {
        verdict->reason = verdict->limit != NULL ? REASON_LIMIT : REASON_RUSAGE;
    } else if (verdict->n_accept_interval > 0) {
        verdict->reason = REASON_ACCEPT_INTERVAL;
    } else if (has_span) {
        verdict->reason = REASON_SPAN;
    } else {
        verdict->reason = view->is_exclusive ? REASON_EXCLUSIVE : REASON_BUSY;
    }
}

/* ---------------------------------------------------------------- one job */

/* Reserved slots count as free for this job. */
static bool is_opened(const struct place_pass *pass)
{
    const struct reservation_pass *reservations = pass->reservations;
    return reservations != NULL && reservation_is_open(reservations);
}

/* No room was found for as many, or fewer. */
static bool is_stuck(struct place_pass *pass, struct candidates *view, int n_slots)
{
    return is_opened(pass) ? reservation_is_stuck(pass->reservations, view, n_slots)
                           : n_slots >= view->failed_slots;
}

static void set_stuck(struct place_pass *pass, struct candidates *view, int n_slots)
{
    if (is_opened(pass)) {
        reservation_set_stuck(pass->reservations, view, n_slots);
        view->explained_slots = 0; /* not valid for jobs without these slots */
    } else if (n_slots < view->failed_slots) {
        view->failed_slots = n_slots;
    }
}

static bool fit(struct place_pass *pass, struct candidates *view,
                const struct place_alloc_request *want, struct place_start *start)
{
    int n_slots = want->min;
    const struct limit *limit = NULL;
    struct candidate_group *group = NULL;
    bool *tried = NULL;
    pass->alloc.lacking = -1;
    bool is_open = is_opened(pass), was_vain = is_stuck(pass, view, n_slots);
    if (was_vain && is_open) {
        return false; /* jobs without these slots find the reason */
    }
    if (is_open) {
        reservation_restore_candidates(pass->reservations, view);
    }
    if (!was_vain) {
        tried = arena_alloc(pass->arena, (size_t)view->n_groups, sizeof(*tried));
        group = choose_group(pass, view, n_slots, tried);
        view->explained_slots = 0;
    }
    while (group != NULL) {
        if (place_alloc(&pass->alloc, view, group, want, start, &limit)) {
            int first = pass->state.first_host[group->group];
            start->lease = group->group == 0 ? "" : pass->snapshot->hosts[first].lease;
            return true;
        }
        tried[group - view->groups] = true;
        group = choose_group(pass, view, n_slots, tried);
    }
    if (view->explained_slots != n_slots) {
        explain(pass, view, n_slots, limit);
    }
    set_stuck(pass, view, n_slots);
    return false;
}

/* The end of other jobs does not change this. */
static bool is_hopeless(enum pending_reason reason)
{
    return reason == REASON_NO_HOST || reason == REASON_AVOIDED ||
           reason == REASON_UNMET || reason == REASON_TOO_LARGE ||
           reason == REASON_SPAN_LARGE;
}

/* On the first group of hosts where all parts of a compound requirement fit. */
static bool fit_parts(struct place_pass *pass, const struct place_class *class,
                      const struct place_alloc_request *want, struct place_start *start,
                      struct pending_verdict *verdict)
{
    const struct limit *limit = NULL;
    int part = 0, failed = 0;
    for (int i = 0; i < class->n_rusages && is_opened(pass); i++) {
        reservation_restore_candidates(pass->reservations,
                                       candidates_of(&pass->state, class, i));
    }
    for (int group = 0; group < pass->state.n_groups; group++) {
        if (place_compound_alloc(&pass->alloc, class, group, want, start, &part,
                                 &limit)) {
            int first = pass->state.first_host[group];
            start->lease = group == 0 ? "" : pass->snapshot->hosts[first].lease;
            return true;
        }
        failed = group == 0 || part > failed ? part : failed;
    }
    struct candidates *view = candidates_of(&pass->state, class, failed);
    explain(pass, view, place_compound_slots(class, failed, want->min), limit);
    *verdict = view->verdict;
    return false;
}

bool place_fit_any(struct place_pass *pass, const struct place_class *class,
                   const struct place_alloc_request *want, struct place_start *start,
                   struct pending_verdict *verdict)
{
    if (candidates_has_parts(class)) {
        return fit_parts(pass, class, want, start, verdict);
    }
    int64_t next_ms = candidates_next_ms(&pass->state, class);
    pass->next_ms = next_ms < pass->next_ms ? next_ms : pass->next_ms;
    for (int i = 0; i < candidates_alternatives(&pass->state, class); i++) {
        struct candidates *view = candidates_of(&pass->state, class, i);
        if (fit(pass, view, want, start)) {
            return true;
        }
        if (i == 0 ||
            (is_hopeless(verdict->reason) && !is_hopeless(view->verdict.reason))) {
            *verdict = view->verdict;
        }
    }
    return false;
}
