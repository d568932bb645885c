/* SPDX-License-Identifier: Apache-2.0 */
/* place_reservation.c: what is kept for a job that waits, and lent to others
 * (reservation.h), as a pass comes to each line; see place.h. */
#include "sched/place/place_estimate.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"

/* ---------------------------------------------------------------- starting */

uint64_t place_reservation_job(const struct place_pass *pass, int index)
{
    return pass->snapshot->classes[index].entries[pass->order.next_entry[index]]->key;
}

/* The reservation of the line's next job; -1: it has none. */
static int own_of(const struct place_pass *pass, int index)
{
    const struct reservation_pass *reservations = pass->reservations;
    return reservations != NULL && !reservation_is_idle(reservations)
               ? reservation_find(reservations, place_reservation_job(pass, index))
               : -1;
}

/* What is kept for the line's next job is free for it, and what is kept for jobs behind
 * it, if it may reserve itself. False: nothing is. */
static bool open_turn(const struct place_pass *pass, int index, int own)
{
    struct reservation_pass *reservations = pass->reservations;
    if (reservations == NULL ||
        (own < 0 &&
         (reservation_is_idle(reservations) ||
          !reservation_may(reservations, index, place_reservation_job(pass, index))))) {
        return false;
    }
    reservation_open_turn(reservations, own);
    return true;
}

static bool fit_next(struct place_pass *pass, int index,
                     const struct place_alloc_request *want, struct place_start *start,
                     struct pending_verdict *verdict)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    if (!open_turn(pass, index, own_of(pass, index))) {
        return place_fit_any(pass, class, want, start, verdict);
    }
    if (place_fit_any(pass, class, want, start, verdict)) {
        reservation_use(pass->reservations);
        return true;
    }
    reservation_close(pass->reservations);
    return false;
}

/* On slots that are kept for jobs which cannot start for so long. */
static bool backfill(struct place_pass *pass, const struct place_class *class,
                     const struct place_alloc_request *want, int64_t long_ms,
                     struct place_start *start)
{
    struct reservation_pass *reservations = pass->reservations;
    struct pending_verdict verdict;
    if (reservations == NULL || long_ms == 0 || class->is_exclusive) {
        return false;
    }
    int64_t end_ms = pass->snapshot->now_ms + long_ms;
    for (int i = -1; (i = reservation_next(reservations, i, end_ms)) >= 0;) {
        reservation_open(reservations, i);
        pass->alloc.is_backfill = true;
        bool fits = place_fit_any(pass, class, want, start, &verdict);
        pass->alloc.is_backfill = false;
        if (fits) {
            reservation_backfill(reservations, pass->alloc.indexes, start->hosts,
                                 start->n_hosts, &start->backfill.lender,
                                 &start->backfill.until_ms);
            return true;
        }
        reservation_close(reservations);
    }
    return false;
}

bool place_reservation_fit(struct place_pass *pass, int index,
                           const struct place_alloc_request *want,
                           struct place_start *start, struct pending_verdict *verdict)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    if (fit_next(pass, index, want, start, verdict) ||
        backfill(pass, class, want, class->backfill_ms, start)) {
        return true;
    }
    return class->backfill_slice_ms < class->backfill_ms &&
           backfill(pass, class, want, class->backfill_slice_ms, start);
}

/* ---------------------------------------------------------------- waiting */

/* Whoever ends, limits on hosts leave a job of the line enough of the group: as a start
 * would take it, along the hosts that are there for it. */
static bool may_ever_fit(const struct place_pass *pass, const struct place_class *class,
                         const struct candidates *view, int group)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    int n_slots = 0, n_pieces = 0;
    if (class->limit_class == NULL || !limits_have_host_limits(class->limit_class)) {
        return true;
    }
    struct host_slots *pieces =
        arena_alloc(pass->arena, (size_t)snapshot->n_hosts, sizeof(*pieces));
    for (int i = 0; i < snapshot->n_hosts && n_slots < class->n_slots; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        int most = host->n_lease_slots > host->max ? host->n_lease_slots : host->max;
        if (!view->allowed[i] || pass->state.group_of[i] != group) {
            continue;
        }
        int room = limits_max_slots_on(
            class->limit_class, host->name,
            host->n_processors > 0 ? host->n_processors : most, pieces, n_pieces);
        most = room < most ? room : most;
        pieces[n_pieces++] = (struct host_slots){host->name, most};
        n_slots = most > class->n_slots - n_slots ? class->n_slots : n_slots + most;
    }
    return n_slots >= class->n_slots;
}

/* Of the line's hosts the group where it reserves already, or has the most slots now,
 * among those that are large enough, limits or not. Not of a lease that is still to be
 * made: its one slot is for who can start, and the rest comes after that. */
static struct candidate_group *group_to_keep(struct place_pass *pass,
                                             const struct place_class *class,
                                             struct candidates *view, int group_before)
{
    struct candidate_group *best = NULL;
    int n_most = 0, n_slots = class->n_slots;
    for (int i = 0; i < view->n_groups; i++) {
        struct candidate_group *group = &view->groups[i];
        int n_free = place_fit_count(pass, group, n_slots);
        if (group->capacity < n_slots || group->is_lease_unmade ||
            (n_free == 0 && group_before < 0) ||
            !may_ever_fit(pass, class, view, group->group)) {
            continue;
        }
        if (group->group == group_before) {
            return group;
        }
        if (n_free > n_most) {
            best = group;
            n_most = n_free;
        }
    }
    return best;
}

/* What is free for the line's next job is kept for it, up to the fewest slots that it
 * asks for; what it has lent counts. False: that is nothing. */
static bool keep_slots(struct place_pass *pass, int index, int own)
{
    struct reservation_pass *reservations = pass->reservations;
    const struct place_class *class = &pass->snapshot->classes[index];
    struct candidates *view = candidates_of(
        &pass->state, class, class->n_rusages > 0 ? class->rusages : NULL);
    struct place_start start = {.n_hosts = 0};
    const struct limit *limit;
    int before,
        n_wanted = class->n_slots - reservation_backfilled(reservations, &before);
    struct place_alloc_request want = {
        .min = 1,
        .max = n_wanted,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced};
    if (reservation_is_open(reservations)) {
        reservation_restore_candidates(reservations, view);
    }
    struct candidate_group *group =
        n_wanted > 0 ? group_to_keep(pass, class, view, before) : NULL;
    pass->alloc.is_reservation = true;
    if (group != NULL &&
        !place_alloc(&pass->alloc, view, group, &want, &start, &limit)) {
        start.n_hosts = 0;
    }
    pass->alloc.is_reservation = false;
    if (start.n_hosts == 0 && own < 0) {
        return false;
    }
    reservation_set(reservations, index, place_reservation_job(pass, index),
                    pass->alloc.indexes, start.hosts, start.n_hosts);
    if (class->limit_class != NULL && start.n_hosts > 0) {
        limits_tentative_count(pass->draft, class->limit_class, start.hosts,
                               start.n_hosts);
    }
    return true;
}

/* The job chooses its hosts, and has what is free there. False: it fits nowhere,
 * whoever ends. */
static bool keep_target(struct place_pass *pass, int index, bool has_starts)
{
    struct reservation_pass *reservations = pass->reservations;
    const struct place_class *class = &pass->snapshot->classes[index];
    struct place_start start;
    const int *places;
    bool fits = place_estimate_fit(pass, index, &start, &places);
    if (has_starts) {
        reservation_want_pass(reservations); /* which knows when these end */
    }
    if (!fits) {
        return false;
    }
    if (!reservation_target_has_resources(reservations, index)) {
        start.rusage = NULL; /* it waits for slots alone */
    }
    struct host_slots *in_hand =
        arena_alloc(pass->arena, (size_t)start.n_hosts, sizeof(*in_hand));
    int n_in_hand = reservation_target_set(
        reservations, index, place_reservation_job(pass, index), places, start.hosts,
        start.n_hosts, start.rusage, in_hand);
    if (class->limit_class != NULL && n_in_hand > 0) {
        limits_tentative_count(pass->draft, class->limit_class, in_hand, n_in_hand);
    }
    return true;
}

/* The job waits for what it may reserve. */
static bool may_keep(const struct place_pass *pass, int index,
                     enum pending_reason reason)
{
    const struct reservation_pass *reservations = pass->reservations;
    return reason == REASON_BUSY || reason == REASON_SPAN ||
           ((reason == REASON_RUSAGE || reason == REASON_RESERVED_BY_OTHERS) &&
            reservations != NULL &&
            reservation_target_has_resources(reservations, index));
}

static bool keep(struct place_pass *pass, int index, int own, bool has_starts)
{
    struct reservation_pass *reservations = pass->reservations;
    if (reservations == NULL ||
        !reservation_may(reservations, index, place_reservation_job(pass, index))) {
        return false;
    }
    return reservation_target_applies(reservations, index)
               ? keep_target(pass, index, has_starts)
               : keep_slots(pass, index, own);
}

/* Others are preempted for the line's jobs; true where they begin to be. */
static bool preempt_others(struct place_pass *pass, int index,
                           struct pending_verdict *verdict)
{
    struct preempt *preempt = pass->preempt;
    if (preempt == NULL) {
        return false;
    }
    int n_claims = preempt_result(preempt)->n_claims;
    preempt_for_class(preempt, index, pass->order.next_entry[index], &pass->state,
                      pass->draft, verdict);
    return preempt_result(preempt)->n_claims > n_claims;
}

void place_reservation_pend(struct place_pass *pass, int index, struct place_plan *plan)
{
    struct reservation_pass *reservations = pass->reservations;
    struct pending_verdict *verdict = &plan->verdicts[index];
    int own = own_of(pass, index);
    if (own >= 0 && !may_keep(pass, index, verdict->reason)) {
        reservation_drop(reservations, own); /* it waits for something else */
        own = -1;
    }
    bool is_open =
        may_keep(pass, index, verdict->reason) && open_turn(pass, index, own);
    bool has_more = preempt_others(pass, index, verdict);
    if (verdict->reason == REASON_PREEMPTING && is_open && (has_more || own >= 0)) {
        reservation_use(reservations); /* room is made for it */
        return;
    }
    if (may_keep(pass, index, verdict->reason) &&
        keep(pass, index, own, plan->n_starts > 0)) {
        return;
    }
    if (is_open) {
        reservation_close(reservations);
    }
    if (own >= 0) {
        reservation_drop(reservations, own);
    }
}
