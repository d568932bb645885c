/* SPDX-License-Identifier: Apache-2.0 */
/* place_reservation.c: see place_pass.h: reservations of pending jobs and backfill
 * (reservation.h) as the pass reaches each class. */
#include "sched/place/place_pass.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"

/* ---------------------------------------------------------------- starting */

uint64_t place_reservation_job(const struct place_pass *pass, int index)
{
    return pass->snapshot->classes[index].entries[pass->order.next_entry[index]]->key;
}

/* The reservation of the next job of the class; -1: it has none. */
static int reservation_of(const struct place_pass *pass, int index)
{
    const struct reservation_pass *reservations = pass->reservations;
    return reservations != NULL && !reservation_is_idle(reservations)
               ? reservation_find(reservations, place_reservation_job(pass, index))
               : -1;
}

/* Frees the reservation of the next job for that job, those that give way to it, and
 * those of all later jobs if it may reserve. False if there is nothing to free. */
static bool open_for_next(const struct place_pass *pass, int index, int own,
                          bool may_reserve)
{
    struct reservation_pass *reservations = pass->reservations;
    int queue = pass->snapshot->classes[index].queue;
    if (reservations == NULL || (own < 0 && reservation_is_idle(reservations))) {
        return false;
    }
    bool takes_later =
        may_reserve &&
        (own >= 0 ||
         reservation_may(reservations, index, place_reservation_job(pass, index)));
    if (!takes_later && !reservation_gives_way(reservations, queue)) {
        return false;
    }
    reservation_open_for(reservations, queue, own, takes_later);
    return true;
}

static bool fit_next(struct place_pass *pass, int index,
                     const struct place_alloc_request *request,
                     struct place_start *start, struct pending_verdict *verdict)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    if (!open_for_next(pass, index, reservation_of(pass, index), true)) {
        return place_fit_any(pass, class, request, start, verdict);
    }
    if (place_fit_any(pass, class, request, start, verdict)) {
        reservation_use(pass->reservations);
        return true;
    }
    reservation_close(pass->reservations);
    return false;
}

/* Places a job that runs for `run_ms` on slots reserved by a job that cannot start
 * earlier. */
static bool backfill(struct place_pass *pass, const struct place_class *class,
                     const struct place_alloc_request *request, int64_t run_ms,
                     struct place_start *start)
{
    struct reservation_pass *reservations = pass->reservations;
    struct pending_verdict verdict;
    if (reservations == NULL || run_ms == 0 || class->is_exclusive) {
        return false;
    }
    int64_t end_ms = pass->snapshot->now_ms + run_ms;
    for (int i = -1;
         (i = reservation_next(reservations, class->queue, i, end_ms)) >= 0;) {
        reservation_open(reservations, i);
        pass->alloc.is_backfill = true;
        bool fits = place_fit_any(pass, class, request, start, &verdict);
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
                           const struct place_alloc_request *request,
                           struct place_start *start, struct pending_verdict *verdict)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    if (fit_next(pass, index, request, start, verdict) ||
        backfill(pass, class, request, class->backfill_ms, start)) {
        return true;
    }
    return class->backfill_slice_ms < class->backfill_ms &&
           backfill(pass, class, request, class->backfill_slice_ms, start);
}

/* ---------------------------------------------------------------- reserving */

/* True if limits on hosts can leave a job of the class enough slots of the group once
 * other jobs end. */
static bool may_ever_fit(const struct place_pass *pass, const struct place_class *class,
                         const struct candidates *candidates, int group)
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
        if (!candidates->allowed[i] || pass->state.group_of[i] != group) {
            continue;
        }
        int limit = limits_max_slots_on(
            class->limit_class, host->name,
            host->n_processors > 0 ? host->n_processors : most, pieces, n_pieces);
        most = limit < most ? limit : most;
        pieces[n_pieces++] = (struct host_slots){host->name, most};
        n_slots = most > class->n_slots - n_slots ? class->n_slots : n_slots + most;
    }
    return n_slots >= class->n_slots;
}

/* The group where the job has a reservation already, or else the large enough group
 * with the most free slots. A lease that is still to be made is no such group: its one
 * slot is for a job that can start. */
static struct candidate_group *group_to_reserve(struct place_pass *pass,
                                                const struct place_class *class,
                                                struct candidates *candidates,
                                                int group_before)
{
    struct candidate_group *best = NULL;
    int n_most = 0, n_slots = class->n_slots;
    for (int i = 0; i < candidates->n_groups; i++) {
        struct candidate_group *group = &candidates->groups[i];
        int n_free = place_fit_count(pass, group, n_slots);
        if (group->capacity < n_slots || group->is_lease_unmade ||
            (n_free == 0 && group_before < 0) ||
            !may_ever_fit(pass, class, candidates, group->group)) {
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

/* Reserves free slots, up to the fewest that the job asks for; lent slots count.
 * False if it reserves none. */
static bool reserve_slots(struct place_pass *pass, int index, int own)
{
    struct reservation_pass *reservations = pass->reservations;
    const struct place_class *class = &pass->snapshot->classes[index];
    struct candidates *candidates = candidates_of(&pass->state, class, 0);
    struct place_start start = {.n_hosts = 0};
    const struct limit *limit;
    int before,
        n_wanted = class->n_slots - reservation_backfilled(reservations, &before);
    struct place_alloc_request request = {
        .min = 1,
        .max = n_wanted,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced};
    if (reservation_is_open(reservations)) {
        reservation_restore_candidates(reservations, candidates);
    }
    struct candidate_group *group =
        n_wanted > 0 ? group_to_reserve(pass, class, candidates, before) : NULL;
    pass->alloc.is_reservation = true;
    if (group != NULL &&
        !place_alloc(&pass->alloc, candidates, group, &request, &start, &limit)) {
        start.n_hosts = 0;
    }
    pass->alloc.is_reservation = false;
    if (start.n_hosts == 0 && own < 0) {
        return false;
    }
    reservation_set(reservations, index, place_reservation_job(pass, index),
                    pass->alloc.indexes, start.hosts, start.n_hosts);
    if (class->limit_class != NULL && start.n_hosts > 0) {
        limits_tentative_count(pass->limits, class->limit_class, start.hosts,
                               start.n_hosts);
    }
    return true;
}

/* Replaces the hosts of the start by all hosts of their units, with all slots that are
 * free or in use there: as jobs end, no other job is to take them. */
static void widen_to_units(const struct place_pass *pass,
                           const struct place_span_units *units,
                           struct place_start *start, const int **places)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    const struct place_state *state = &pass->state;
    size_t n_most = (size_t)snapshot->n_hosts;
    bool *is_listed = arena_alloc(pass->arena, n_most, sizeof(*is_listed));
    int *indexes = arena_alloc(pass->arena, n_most, sizeof(*indexes));
    struct host_slots *hosts = arena_alloc(pass->arena, n_most, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = 0; i < start->n_hosts; i++) {
        for (int at = (*places)[i]; !is_listed[at]; at = units->next_in_unit[at]) {
            int n_slots = place_state_free_slots(state, at, false) + state->used[at];
            is_listed[at] = true;
            indexes[n_hosts] = at;
            hosts[n_hosts] = (struct host_slots){snapshot->hosts[at].name, n_slots};
            n_hosts += n_slots > 0;
        }
    }
    start->hosts = hosts;
    start->n_hosts = n_hosts;
    *places = indexes;
}

/* Counts what the job has in hand for limits, up to its slots. */
static void count_held(struct place_pass *pass, const struct place_class *class,
                       struct host_slots *held, int n_held)
{
    int n_left = class->n_slots, n_counted = 0;
    while (n_counted < n_held && n_left > 0) {
        struct host_slots *at = &held[n_counted++];
        at->n_slots = at->n_slots < n_left ? at->n_slots : n_left;
        n_left -= at->n_slots;
    }
    if (class->limit_class != NULL && n_counted > 0) {
        limits_tentative_count(pass->limits, class->limit_class, held, n_counted);
    }
}

/* The job chooses its hosts and reserves what is free there. False if it does not fit
 * even after all running jobs end. */
static bool reserve_target(struct place_pass *pass, int index, bool has_starts)
{
    struct reservation_pass *reservations = pass->reservations;
    const struct place_class *class = &pass->snapshot->classes[index];
    struct place_start start;
    const int *places;
    int n_ends;
    bool fits = place_estimate_fit(pass, index, &start, &places, &n_ends);
    if (has_starts) {
        reservation_want_pass(
            reservations); /* it knows the ends of the jobs that start now */
    }
    if (!fits) {
        return false;
    }
    const struct place_span_units *units = candidates_exclusive_units(class);
    if (units != NULL) {
        widen_to_units(pass, units, &start, &places);
    }
    struct host_slots *held =
        arena_alloc(pass->arena, (size_t)start.n_hosts, sizeof(*held));
    start.job = place_reservation_job(pass, index);
    int64_t not_before_ms = candidates_has_affinity(class)
                                ? reservation_start_end_ms(reservations, n_ends)
                                : 0;
    int n_held = reservation_target_set(reservations, index, &start, places,
                                        not_before_ms, held);
    count_held(pass, class, held, n_held);
    return true;
}

/* The job is pending for something that it may reserve. */
static bool may_reserve(const struct place_pass *pass, int index,
                        enum pending_reason reason)
{
    const struct reservation_pass *reservations = pass->reservations;
    return reason == REASON_BUSY || reason == REASON_SPAN ||
           (reason == REASON_EXCLUSIVE &&
            candidates_exclusive_units(&pass->snapshot->classes[index]) != NULL) ||
           ((reason == REASON_RUSAGE || reason == REASON_RESERVED_BY_OTHERS) &&
            reservations != NULL &&
            (reservation_target_has_resources(reservations, index) ||
             candidates_has_affinity(&pass->snapshot->classes[index])));
}

static bool reserve(struct place_pass *pass, int index, int own, bool has_starts)
{
    struct reservation_pass *reservations = pass->reservations;
    if (reservations == NULL ||
        !reservation_may(reservations, index, place_reservation_job(pass, index))) {
        return false;
    }
    return reservation_target_applies(reservations, index)
               ? reserve_target(pass, index, has_starts)
               : reserve_slots(pass, index, own);
}

/* Preempts jobs for those of the class. True if it chose new victims. */
static bool preempt_others(struct place_pass *pass, int index,
                           struct pending_verdict *verdict)
{
    struct preempt *preempt = pass->preempt;
    if (preempt == NULL) {
        return false;
    }
    int n_claims = preempt_result(preempt)->n_claims;
    preempt_for_class(preempt, index, pass->order.next_entry[index], pass->limits,
                      verdict);
    return preempt_result(preempt)->n_claims > n_claims;
}

void place_reservation_pend(struct place_pass *pass, int index, struct place_plan *plan)
{
    struct reservation_pass *reservations = pass->reservations;
    struct pending_verdict *verdict = &plan->verdicts[index];
    int own = reservation_of(pass, index);
    if (own >= 0 && !may_reserve(pass, index, verdict->reason)) {
        reservation_drop(reservations, own); /* it is pending for something else */
        own = -1;
    }
    bool is_open =
        open_for_next(pass, index, own, may_reserve(pass, index, verdict->reason));
    bool has_more = preempt_others(pass, index, verdict);
    if (verdict->reason == REASON_PREEMPTING && is_open && (has_more || own >= 0)) {
        reservation_use(reservations); /* its victims will free what it needs */
        return;
    }
    if (may_reserve(pass, index, verdict->reason) &&
        reserve(pass, index, own, plan->n_starts > 0)) {
        return;
    }
    if (is_open) {
        reservation_close(reservations);
    }
    if (own >= 0) {
        reservation_drop(reservations, own);
    }
}
