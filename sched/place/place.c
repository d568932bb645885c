/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: one pass over the classes of pending jobs, which gives slots away as it
 * goes.
 *
 * Each job, in the order of place_order.h, goes to a group of hosts (candidates.h) that
 * has room for all of it: the group with the best host. There it takes slots along the
 * order of hosts.
 *
 *     queue HOSTS = s1+1 allremote; free: s1 1 of 2, n1@north 3 of 4, n2@north 4 of 4
 *     -n 1   s1, by its preference
 *     -n 1   s1 is full; used / max: n2@north 0, n1@north 1/4: n2@north
 *     -n 5   s1's group has 0 free, north's lease 6: n2@north 3, n1@north 2
 *
 * Slots only become fewer in a pass, and that keeps it cheap. A class whose job finds
 * no room is dropped, and candidates without room for some slots have none for as many
 * or more. Once no host has a slot left, the remaining classes get their reasons in any
 * order and are not sorted. */
#include "sched/place/place.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "sched/place/eligible.h"
#include "sched/place/place_pass.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"

/* ---------------------------------------------------------------- one job */

static struct place_alloc_request request_of(const struct place_pass *pass,
                                             const struct place_class *class)
{
    return (struct place_alloc_request){
        .min = class->n_slots,
        .max = class->max_slots > class->n_slots ? class->max_slots : class->n_slots,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced,
        .is_exclusive = class->is_exclusive,
    };
}

/* What prevents the next job of the class from starting on any host. REASON_STARTED:
 * nothing does, and the job may have up to `want->max` slots. */
static enum pending_reason check_class(const struct place_pass *pass, int index,
                                       struct place_alloc_request *want,
                                       const char **name)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    const struct limit *limit = NULL;
    int room = INT_MAX;
    *want = request_of(pass, class);
    if (class->veto != REASON_NEW) {
        return class->veto;
    }
    if (pass->order.next_entry[index] >= class->max_starts) {
        return REASON_ARRAY_LIMIT;
    }
    if (place_order_max_slots(&pass->order, class->n_slots, &want->max, name) <
        class->n_slots) {
        return REASON_LIMIT;
    }
    if (class->limit_class != NULL) {
        room = limits_slots_left(pass->limits, class->limit_class, &limit);
        want->max = room < want->max ? room : want->max;
    }
    if (room < class->n_slots) {
        *name = limit->name;
        if (limit->is_job_group) {
            return REASON_JOB_GROUP;
        }
        return limits_max_slots(class->limit_class, &limit) < class->n_slots
                   ? REASON_LIMIT_SMALL
                   : REASON_LIMIT;
    }
    return REASON_STARTED;
}

/* Counts the slots of a job that starts for the limits. */
static void count_start(struct place_pass *pass, const struct place_class *class,
                        const struct place_start *start)
{
    if (class->limit_class != NULL) {
        limits_tentative_count(pass->limits, class->limit_class, start->hosts,
                               start->n_hosts);
    }
    if (pass->preempt != NULL) {
        preempt_count_start(pass->preempt, class->limit_class, start->hosts,
                            start->n_hosts);
    }
}

/* True if the next job of the class starts, or its running job gets more slots; else
 * the verdict says why not. */
static bool serve_next(struct place_pass *pass, int index, struct place_plan *plan)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    struct place_start *start = &plan->starts[plan->n_starts];
    struct pending_verdict *verdict = &plan->verdicts[index];
    struct place_alloc_request request;
    const char *limit = NULL;
    *start = (struct place_start){.is_grow = class->grow != NULL};
    if (start->is_grow) {
        place_grow_open(pass, index);
    }
    enum pending_reason reason = check_class(pass, index, &request, &limit);
    bool fits = false;
    if (reason != REASON_STARTED) {
        *verdict = (struct pending_verdict){
            .reason = reason, .limit = limit, .n_hosts = pass->snapshot->n_hosts};
    } else if (start->is_grow) {
        fits = place_fit_any(pass, class, &request, start, verdict);
    } else {
        fits = place_reservation_fit(pass, index, &request, start, verdict);
    }
    if (start->is_grow) {
        place_grow_close(pass, class, fits ? start : NULL, verdict);
    } else if (fits) {
        count_start(pass, class, start);
    }
    start->job = place_reservation_job(pass, index);
    plan->n_starts += fits;
    return fits;
}

/* ---------------------------------------------------------------- pending slots */

/* Counts the slots that the remaining jobs of a class could use on the hosts of each
 * group. `counted_for` is by group: the last class that was counted, plus 1. */
static void count_waiting(struct place_pass *pass, int index, int *counted_for,
                          struct place_plan *plan)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    int64_t n_slots =
        (int64_t)(class->n_entries - pass->order.next_entry[index]) * class->n_slots;
    for (int k = 0; k < candidates_alternatives(&pass->state, class); k++) {
        const struct candidates *candidates = candidates_of(&pass->state, class, k);
        for (int i = 0; i < candidates->n_groups; i++) {
            int group = candidates->groups[i].group;
            if (counted_for[group] != index + 1) {
                counted_for[group] = index + 1;
                place_state_add_waiting(&pass->state, group, n_slots, plan);
            }
        }
    }
}

/* More slots would help, whichever site they are of. */
static bool wants_slots(enum pending_reason reason)
{
    return reason == REASON_BUSY || reason == REASON_TOO_LARGE ||
           reason == REASON_CLOSED || reason == REASON_HOST_LIMIT ||
           reason == REASON_EXCLUSIVE || reason == REASON_SLOT_POOL ||
           reason == REASON_NEW || reason == REASON_PREEMPTING ||
           reason == REASON_ACCEPT_INTERVAL || reason == REASON_SPAN ||
           reason == REASON_SPAN_LARGE;
}

/* They would start if others had fewer slots. */
static bool waits_for_others(enum pending_reason reason)
{
    return reason == REASON_BUSY || reason == REASON_EXCLUSIVE ||
           reason == REASON_SPAN || reason == REASON_SLOT_POOL || reason == REASON_NEW;
}

/* True if the next job of the class would start now, or when other jobs end, if its
 * queue had more of the pool; else the verdict says why not. */
static bool is_startable(struct place_pass *pass, int index,
                         struct pending_verdict *verdict)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    struct place_start start = {0};
    struct place_alloc_request request = request_of(pass, class);
    verdict->n_hosts = pass->snapshot->n_hosts;
    if (class->veto != REASON_NEW) {
        verdict->reason = class->veto;
        return false;
    }
    if (pass->order.next_entry[index] >= class->max_starts) {
        verdict->reason = REASON_ARRAY_LIMIT;
        return false;
    }
    return class->grow != NULL ||
           place_fit_any(pass, class, &request, &start, verdict) ||
           waits_for_others(verdict->reason);
}

/* Gives a reason to the classes that were not served to the end: their queues have
 * their part of a slot pool, or could not use more. A queue saves a share only if it
 * waits for others. */
static void explain_parked(struct place_pass *pass, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    for (int i = 0; i < snapshot->n_classes; i++) {
        struct pending_verdict *verdict = &plan->verdicts[i];
        if (verdict->reason == REASON_NEW && is_startable(pass, i, verdict)) {
            int pool = snapshot->slot_pools->pool_of[snapshot->classes[i].queue];
            *verdict = (struct pending_verdict){
                .reason = REASON_SLOT_POOL,
                .limit = snapshot->slot_pools->pools[pool].name,
                .n_hosts = snapshot->n_hosts};
        }
    }
}

/* ---------------------------------------------------------------- full hosts */

/* No job starts any more, and the verdict on a class no longer depends on the classes
 * before it. With slot pools it does depend on them. Jobs that may preempt or use
 * reserved slots need no free slot; a job that resumes may take the last room under a
 * limit; and the hosts of an exclusive job that grows are not full to it. */
static bool is_full(struct place_pass *pass)
{
    return pass->order.pools.n_pools == 0 && !pass->has_exclusive_grow &&
           (pass->reservations == NULL || reservation_is_idle(pass->reservations)) &&
           place_resume_is_over(pass) && place_state_is_full(&pass->state) &&
           (pass->preempt == NULL || preempt_is_idle(pass->preempt));
}

static void explain_rest(struct place_pass *pass, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    candidates_forget_reasons(&pass->state);
    for (int i = 0; i < snapshot->n_classes; i++) {
        bool was_told = plan->verdicts[i].reason != REASON_NEW;
        bool starts = !was_told && serve_next(pass, i, plan);
        assert(!starts);
        if (!was_told && pass->preempt != NULL && snapshot->classes[i].grow == NULL) {
            preempt_for_class(pass->preempt, i, pass->order.next_entry[i], pass->limits,
                              &plan->verdicts[i]);
        }
    }
}

/* ---------------------------------------------------------------- the pass */

static void pass_init(struct place_pass *pass, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    memset(pass, 0, sizeof(*pass));
    pass->arena = arena;
    pass->next_ms = INT64_MAX;
    pass->snapshot = place_grow_init(pass, snapshot);
    pass->limits =
        snapshot->limits != NULL ? limits_tentative_new(snapshot->limits) : NULL;
    place_state_init(&pass->state, arena, pass->snapshot);
    pass->state.eligible = eligible_set_new(arena);
    place_order_init(&pass->order, arena, pass->snapshot);
    pass->state.next_entry = pass->order.next_entry;
    if (snapshot->preempt != NULL) {
        pass->preempt = preempt_new(arena, pass->snapshot, &pass->state);
    }
    if (snapshot->reservations != NULL) {
        pass->reservations = reservation_new(arena, pass->snapshot, &pass->state);
    }
    place_alloc_init(&pass->alloc, &pass->state, pass->limits, pass->reservations);
    place_resume_init(pass);
}

static void plan_init(struct arena *arena, const struct place_snapshot *snapshot,
                      struct place_plan *plan)
{
    int64_t n_turns = 0;
    for (int i = 0; i < snapshot->n_classes; i++) {
        n_turns += snapshot->classes[i].n_entries;
    }
    size_t most =
        (size_t)(n_turns < snapshot->max_starts ? n_turns : snapshot->max_starts);
    memset(plan, 0, sizeof(*plan));
    plan->starts = arena_alloc(arena, most, sizeof(*plan->starts));
    plan->resumes =
        arena_alloc(arena, (size_t)snapshot->n_resumes + 1, sizeof(*plan->resumes));
    plan->kept =
        arena_alloc(arena, (size_t)snapshot->n_resumes + 1, sizeof(*plan->kept));
    plan->verdicts =
        arena_alloc(arena, (size_t)snapshot->n_classes, sizeof(*plan->verdicts));
    plan->queue_waits =
        arena_alloc(arena, (size_t)snapshot->n_queues + 1, sizeof(*plan->queue_waits));
    plan->waiting_lease =
        arena_alloc(arena, (size_t)snapshot->n_hosts, sizeof(*plan->waiting_lease));
}

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan)
{
    struct place_pass pass;
    int class;
    pass_init(&pass, arena, snapshot);
    plan_init(arena, snapshot, plan);
    while (plan->n_starts < snapshot->max_starts && !is_full(&pass) &&
           (class = place_order_top(&pass.order)) >= 0) {
        place_resume_before(&pass, class, plan);
        if (serve_next(&pass, class, plan)) {
            const struct place_start *start = &plan->starts[plan->n_starts - 1];
            bool is_through = place_order_advance(
                &pass.order, msg_sum_slots(start->hosts, start->n_hosts));
            plan->verdicts[class].reason = is_through ? REASON_STARTED : REASON_NEW;
        } else {
            if (snapshot->classes[class].grow == NULL) {
                place_reservation_pend(&pass, class, plan);
            }
            place_order_drop(&pass.order);
        }
    }
    if (plan->n_starts < snapshot->max_starts && is_full(&pass)) {
        explain_rest(&pass, plan);
    } else {
        plan->is_cut = place_order_top(&pass.order) >= 0;
    }
    if (!plan->is_cut) {
        place_resume_before(&pass, -1, plan);
        explain_parked(&pass, plan);
        place_resume_count_waiting(&pass, plan);
    }
    int *counted_for = arena_alloc(arena, (size_t)pass.state.n_groups, sizeof(int));
    for (int i = 0; i < snapshot->n_classes; i++) {
        int queue = snapshot->classes[i].queue;
        if (pass.order.next_entry[i] == snapshot->classes[i].n_entries) {
            continue;
        }
        if (!plan->is_cut && wants_slots(plan->verdicts[i].reason)) {
            count_waiting(&pass, i, counted_for, plan);
        }
        if (pass.order.pools.position_of[queue] >= 0 &&
            waits_for_others(plan->verdicts[i].reason)) {
            plan->queue_waits[queue] = true;
        }
    }
    plan->next_ms = pass.next_ms;
    plan->preempt = pass.preempt != NULL ? preempt_result(pass.preempt) : NULL;
    plan->reservations = pass.reservations;
    place_estimate_free(&pass);
    preempt_free(pass.preempt);
    limits_tentative_free(pass.limits);
}
