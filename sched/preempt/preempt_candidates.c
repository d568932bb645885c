/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_candidates.c: see preempt_candidates.h. */
#include "sched/preempt/preempt_candidates.h"

#include "sched/preempt/preempt_resources.h"

int preempt_candidates_gain(const struct preempt_running *running,
                            const struct preempt_candidates *view,
                            const struct preempt_job *job)
{
    const struct place_host *hosts = running->place->hosts;
    int gain = 0;
    if (job->is_exclusive && !running->snapshot->policy->has_exclusive) {
        return 0;
    }
    for (int i = 0; i < job->n_pieces; i++) {
        const struct rusage_piece *piece = &job->pieces[i];
        int n_slots = job->is_exclusive ? hosts[piece->host].max : piece->n_slots;
        gain += view->allowed[piece->host] ? n_slots : 0;
    }
    return gain;
}

static bool is_on(const struct preempt_candidates *view, const struct preempt_job *job)
{
    for (int i = 0; i < job->n_pieces; i++) {
        if (view->allowed[job->pieces[i].host]) {
            return true;
        }
    }
    return preempt_resources_has(job, view->demand);
}

/* Of all candidates those that are of use here, and what protects them. */
static void count_victims(const struct preempt_running *running,
                          struct preempt_candidates *view)
{
    const struct preempt_order *order = view->order;
    bool is_simple = view->demand == NULL;
    bool *has_victim =
        arena_alloc(running->arena, (size_t)running->state->n_groups, sizeof(bool));
    for (int i = 0; i < order->n_jobs; i++) {
        const struct preempt_order_job *candidate = &order->jobs[i];
        bool is_here = view->allowed[candidate->host] != 0;
        if (!is_here && (candidate->is_on_many_hosts || !is_simple)) {
            is_here = is_on(view, &running->snapshot->jobs[candidate->job]);
        }
        if (!is_here) {
            continue;
        }
        view->reason.n_jobs++;
        view->reason.n_protected[candidate->protection]++;
        view->next_ms =
            candidate->until_ms < view->next_ms ? candidate->until_ms : view->next_ms;
        bool *has_any = &has_victim[running->state->group_of[candidate->host]];
        view->n_groups += candidate->protection == REASON_UNPROTECTED && !*has_any;
        *has_any = *has_any || candidate->protection == REASON_UNPROTECTED;
    }
    view->n_victims = view->reason.n_protected[REASON_UNPROTECTED];
    view->victims =
        arena_alloc(running->arena, (size_t)view->n_victims + 1, sizeof(int));
}

int preempt_candidates_at(const struct preempt_running *running,
                          struct preempt_candidates *view, int place)
{
    while (view->n_listed <= place) {
        int index = preempt_order_at(running, view->order, view->n_seen++);
        if (is_on(view, &running->snapshot->jobs[index])) {
            view->victims[view->n_listed++] = index;
        }
    }
    return view->victims[place];
}

struct preempt_candidates *preempt_candidates_of(struct preempt_running *running,
                                                 const struct place_class *class,
                                                 int alternative)
{
    struct preempt_order *order = preempt_order_of(running, class->queue);
    const struct candidates *candidates =
        candidates_of(running->state, class, alternative);
    const struct rusage_request *rusage = candidates->rusage;
    const uint8_t *allowed = candidates->allowed;
    for (struct preempt_candidates *view = order->candidates; view != NULL;
         view = view->next) {
        if (view->allowed == allowed && view->rusage == rusage) {
            return view;
        }
    }
    struct preempt_candidates *view = arena_alloc(running->arena, 1, sizeof(*view));
    *view = (struct preempt_candidates){.order = order,
                                        .allowed = allowed,
                                        .rusage = rusage,
                                        .span = candidates->span,
                                        .alternative = alternative,
                                        .reason.n_queues = order->n_queues,
                                        .next_ms = INT64_MAX,
                                        .next = order->candidates};
    order->candidates = view;
    preempt_order_fill(running, order);
    if (rusage != NULL) {
        const struct place_snapshot *place = running->place;
        view->demand = preempt_resources_demand(place->supply, running->arena, rusage,
                                                allowed, place->n_hosts);
    }
    count_victims(running, view);
    return view;
}

/* What any of the parts may use, and the most that one of them takes of each supply. */
static void join_part(const struct preempt_running *running,
                      const struct candidates *part, uint8_t *allowed, int64_t *demand)
{
    const struct place_snapshot *place = running->place;
    const struct rusage_supply *supply = place->supply;
    for (int i = 0; i < place->n_hosts; i++) {
        allowed[i] = allowed[i] || part->allowed[i];
    }
    if (part->rusage == NULL || supply == NULL) {
        return;
    }
    const int64_t *of_part = preempt_resources_demand(
        supply, running->arena, part->rusage, part->allowed, place->n_hosts);
    for (int i = 0; i < supply->n_supplies; i++) {
        demand[i] = of_part[i] > demand[i] ? of_part[i] : demand[i];
    }
}

struct preempt_candidates *preempt_candidates_of_parts(struct preempt_running *running,
                                                       const struct place_class *class)
{
    const struct place_snapshot *place = running->place;
    struct preempt_order *order = preempt_order_of(running, class->queue);
    struct preempt_candidates *view = arena_alloc(running->arena, 1, sizeof(*view));
    uint8_t *allowed = arena_alloc(running->arena, (size_t)place->n_hosts + 1, 1);
    int64_t *demand = NULL;
    if (place->supply != NULL) {
        demand = arena_alloc(running->arena, (size_t)place->supply->n_supplies,
                             sizeof(*demand));
    }
    for (int i = 0; i < class->n_rusages; i++) {
        join_part(running, candidates_of(running->state, class, i), allowed, demand);
    }
    *view = (struct preempt_candidates){.order = order,
                                        .allowed = allowed,
                                        .demand = demand,
                                        .has_parts = true,
                                        .reason.n_queues = order->n_queues,
                                        .next_ms = INT64_MAX};
    preempt_order_fill(running, order);
    count_victims(running, view);
    return view;
}
