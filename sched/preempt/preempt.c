/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c: see preempt.h: which jobs of a class preempt, and which slots are held for
 * them. preempt_select.c chooses the victims. */
#include <stdlib.h>

#include "sched/preempt/preempt_tentative.h"

/* ---------------------------------------------------------------- one job */

/* Free slots of the host are held at once, the others as victims free them. */
static void claim_slots(struct preempt *preempt, int host, int n_slots, int *used)
{
    int left = preempt->place->hosts[host].max - used[host];
    int n_now = left < n_slots ? left : n_slots;
    n_now = n_now > 0 ? n_now : 0;
    used[host] += n_now;
    preempt->delta[host] += n_slots - n_now;
}

static void claim_resources(struct preempt *preempt,
                            const struct preempt_selection *selection)
{
    struct rusage_piece *pieces =
        arena_alloc(preempt->arena, (size_t)preempt->n_hosts, sizeof(*pieces));
    const struct place_start *start = &preempt->start;
    for (int i = 0; i < preempt->n_hosts; i++) {
        pieces[i] =
            (struct rusage_piece){preempt->indexes[i], preempt->hosts[i].n_slots};
    }
    for (int i = 0; selection->candidates->has_parts && i < start->n_parts; i++) {
        preempt_resources_claim(&preempt->resources, preempt->arena, &start->parts[i],
                                preempt->state->supply_left);
    }
    if (selection->candidates->rusage != NULL) {
        preempt_resources_claim(&preempt->resources, preempt->arena,
                                &(struct place_part){selection->candidates->rusage,
                                                     pieces, preempt->n_hosts},
                                preempt->state->supply_left);
    }
}

static void make_claim(struct preempt *preempt,
                       const struct preempt_selection *selection,
                       struct preempt_claim *claim)
{
    const struct place_class *class = selection->class;
    bool has_parts = selection->candidates->has_parts;
    if (preempt_tentative_needs_trial(selection)) {
        preempt_tentative_set_start(preempt, selection);
    }
    claim->hosts = arena_copy(preempt->arena, preempt->hosts,
                              (size_t)preempt->n_hosts * sizeof(*preempt->hosts));
    claim->n_hosts = preempt->n_hosts;
    claim->victims = arena_copy(preempt->arena, selection->victims,
                                (size_t)selection->n_victims * sizeof(int));
    claim->n_victims = selection->n_victims;
    claim->lease = "";
    for (int i = 0; i < preempt->n_hosts; i++) {
        claim_slots(preempt, preempt->indexes[i], preempt->hosts[i].n_slots,
                    preempt->state->used);
        if (preempt->is_exclusive) {
            preempt->state->is_used_exclusively[preempt->indexes[i]] = true;
            preempt->is_vacated[preempt->indexes[i]] = false;
        }
        claim->lease = preempt->place->hosts[preempt->indexes[i]].lease;
    }
    claim->rusage = has_parts ? preempt->start.rusage : selection->candidates->rusage;
    claim_resources(preempt, selection);
    preempt->free_slots[selection->group] =
        preempt->is_exclusive ? -1
                              : preempt->free_slots[selection->group] - class->n_slots;
    if (class->limit_class != NULL && preempt->limits != NULL) {
        limits_tentative_count(preempt->limits, class->limit_class, claim->hosts,
                               claim->n_hosts);
    }
}

/* Uses the first alternative that fits on what the victims of other jobs leave; else
 * the first one that fits with victims of its own. */
static bool choose(struct preempt *preempt, const struct place_class *class,
                   struct preempt_claim *claim)
{
    struct preempt_selection selection = {
        .class = class, .order = preempt->order, .victims = preempt->victims};
    int group = -1;
    for (int i = 0; i < preempt->n_candidates && group < 0; i++) {
        selection.candidates = preempt->candidates[i];
        group = preempt_select_left_over(preempt, &selection);
    }
    for (int i = 0; i < preempt->n_candidates && group < 0; i++) {
        selection.candidates = preempt->candidates[i];
        if (selection.candidates->may_suffice &&
            (group = preempt_select_group(preempt, &selection)) >= 0) {
            selection.group = group;
            preempt_select_in_group(preempt, &selection); /* as before */
        }
    }
    if (group >= 0) {
        make_claim(preempt, &selection, claim);
    }
    return group >= 0;
}

/* ---------------------------------------------------------------- a class */

static bool wants_room(enum pending_reason reason)
{
    return reason == REASON_BUSY || reason == REASON_HOST_LIMIT ||
           reason == REASON_LIMIT || reason == REASON_RUSAGE ||
           reason == REASON_EXCLUSIVE || reason == REASON_SPAN;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The job preempts others already. */
static bool find_claim(const struct preempt *preempt, uint64_t job)
{
    size_t n_claims = (size_t)preempt->snapshot->n_claims;
    return n_claims > 0 && bsearch(&job, preempt->claims, n_claims,
                                   sizeof(*preempt->claims), compare_keys) != NULL;
}

/* PREEMPT_DELAY. */
static bool is_delayed(struct preempt *preempt, const struct place_class *class,
                       const struct job_class_entry *entry)
{
    int64_t delay_ms =
        preempt_policy_protection(preempt->snapshot->policy, preempt->arena,
                                  class->queue, class->app)
            ->delay_ms;
    if (delay_ms == 0) {
        return false;
    }
    int64_t until_ms = entry->submit_ms + delay_ms;
    if (until_ms <= preempt->place->now_ms) {
        return false;
    }
    if (until_ms < preempt->plan.next_ms) {
        preempt->plan.next_ms = until_ms;
    }
    return true;
}

/* False if no later job of the class can preempt either. */
static bool preempt_for(struct preempt *preempt, int index, uint64_t job,
                        struct limits_tentative *draft)
{
    const struct place_class *class = &preempt->place->classes[index];
    struct preempt_plan *plan = &preempt->plan;
    if (plan->n_claims == preempt->snapshot->max_jobs) {
        plan->is_cut = true;
        return false;
    }
    if (plan->claims == NULL) { /* most plans have none */
        plan->claims = arena_alloc(preempt->arena, (size_t)preempt->snapshot->max_jobs,
                                   sizeof(*plan->claims));
    }
    struct preempt_claim *claim = &plan->claims[plan->n_claims];
    if (!choose(preempt, class, claim)) {
        return false;
    }
    claim->job = job;
    claim->class_index = index;
    plan->n_claims++;
    if (class->limit_class != NULL && draft != NULL) {
        limits_tentative_count(draft, class->limit_class, claim->hosts, claim->n_hosts);
    }
    return true;
}

static void find_candidates(struct preempt *preempt, const struct place_class *class)
{
    if (candidates_has_parts(class)) {
        preempt->n_candidates = 1;
        preempt->candidates[0] = preempt_candidates_of_parts(&preempt->running, class);
        return;
    }
    preempt->n_candidates = candidates_alternatives(preempt->state, class);
    for (int i = 0; i < preempt->n_candidates; i++) {
        preempt->candidates[i] = preempt_candidates_of(&preempt->running, class, i);
    }
}

/* True if some job may be preempted for the class, by one alternative at least. */
static bool judge_candidates(struct preempt *preempt)
{
    bool may_any = false;
    for (int i = 0; i < preempt->n_candidates; i++) {
        struct preempt_candidates *view = preempt->candidates[i];
        view->may_suffice =
            view->n_victims > 0 &&
            (view->rusage == NULL ||
             preempt_resources_may_suffice(&preempt->resources, view->rusage,
                                           view->allowed, preempt->place->n_hosts));
        may_any = may_any || view->may_suffice;
        if (view->next_ms < preempt->plan.next_ms) {
            preempt->plan.next_ms = view->next_ms;
        }
    }
    return may_any;
}

/* Explains the alternative for which most jobs could be preempted, the first of
 * several. */
static struct pending_reason_preempt explain(const struct preempt *preempt)
{
    int best = 0;
    for (int i = 1; i < preempt->n_candidates; i++) {
        if (preempt->candidates[i]->reason.n_jobs >
            preempt->candidates[best]->reason.n_jobs) {
            best = i;
        }
    }
    return preempt->candidates[best]->reason;
}

static void begin_class(struct preempt *preempt, int class)
{
    preempt->is_exclusive = preempt->place->classes[class].is_exclusive;
    for (int i = 0; i < preempt->state->n_groups; i++) {
        preempt->free_slots[i] = -1;
        preempt->first_host[i] = 0;
    }
    size_t n_jobs = (size_t)preempt->snapshot->n_jobs + 1;
    if (preempt->is_victim == NULL && preempt->snapshot->n_jobs > 0) {
        preempt->is_victim = arena_alloc(preempt->arena, n_jobs, sizeof(bool));
        preempt->order = arena_alloc(preempt->arena, n_jobs, sizeof(int));
        preempt->victims = arena_alloc(preempt->arena, n_jobs, sizeof(int));
    }
    if (preempt->place->classes[class].n_rusages > 0) {
        preempt_resources_begin(&preempt->resources, preempt->state->supply_left);
    }
}

/* Explains in the verdict what the class may preempt. False: nothing. */
static bool look_at(struct preempt *preempt, int index, struct pending_verdict *verdict)
{
    const struct place_class *class = &preempt->place->classes[index];
    verdict->preempt = (struct pending_reason_preempt){0};
    if (preempt_order_of(&preempt->running, class->queue)->n_queues == 0) {
        return false; /* most queues never preempt */
    }
    find_candidates(preempt, class);
    begin_class(preempt, index);
    bool may_any = judge_candidates(preempt);
    verdict->preempt = explain(preempt);
    return may_any;
}

void preempt_for_class(struct preempt *preempt, int index, int first,
                       struct limits_tentative *draft, struct pending_verdict *verdict)
{
    const struct preempt_snapshot *snapshot = preempt->snapshot;
    const struct place_class *class = &preempt->place->classes[index];
    if (!wants_room(verdict->reason) || candidates_has_affinity(class) ||
        candidates_exclusive_units(class) != NULL ||
        (class->is_exclusive && !snapshot->policy->has_exclusive)) {
        return;
    }
    bool may_more = look_at(preempt, index, verdict);
    int n_room = class->max_starts - first;
    for (int i = first; i < class->n_entries && n_room > 0; i++) {
        const struct job_class_entry *entry = class->entries[i];
        bool has_claim = find_claim(preempt, entry->key);
        if (!has_claim && !may_more) {
            return;
        }
        if (!has_claim && is_delayed(preempt, class, entry)) {
            verdict->preempt.is_delayed = true;
            continue;
        }
        if (!has_claim && !preempt_for(preempt, index, entry->key, draft)) {
            return;
        }
        n_room--;
        verdict->reason = i == first ? REASON_PREEMPTING : verdict->reason;
    }
}

/* ---------------------------------------------------------------- life */

bool preempt_needs_jobs(const struct place_snapshot *snapshot,
                        const struct preempt_policy *policy)
{
    for (int i = 0; i < snapshot->n_queues; i++) {
        bool may_any = false;
        for (int k = 0, level; k < snapshot->n_queues && !may_any; k++) {
            may_any = preempt_policy_may(policy, snapshot->queues, i, k, &level);
        }
        for (int k = 0; may_any && k < snapshot->n_classes; k++) {
            if (snapshot->classes[k].queue == i && snapshot->classes[k].grow == NULL) {
                return true;
            }
        }
    }
    return false;
}

struct preempt *preempt_new(struct arena *arena, const struct place_snapshot *place,
                            struct place_state *state)
{
    const struct preempt_snapshot *snapshot = place->preempt;
    size_t n_hosts = (size_t)place->n_hosts + 1, n_claims = (size_t)snapshot->n_claims;
    struct preempt *preempt = arena_alloc(arena, 1, sizeof(*preempt));
    preempt->snapshot = snapshot;
    preempt->place = place;
    preempt->state = state;
    preempt->arena = arena;
    preempt->claims =
        arena_copy(arena, snapshot->claims, n_claims * sizeof(*preempt->claims));
    if (n_claims > 0) {
        qsort(preempt->claims, n_claims, sizeof(*preempt->claims), compare_keys);
    }
    preempt->limits =
        place->limits != NULL ? limits_tentative_new(place->limits) : NULL;
    preempt->running = (struct preempt_running){
        .place = place,
        .snapshot = snapshot,
        .arena = arena,
        .state = state,
        .order_of = arena_alloc(arena, (size_t)place->n_queues + 1,
                                sizeof(*preempt->running.order_of))};
    preempt_resources_init(&preempt->resources, arena, place);
    preempt->delta = arena_alloc(arena, n_hosts, sizeof(int));
    preempt->is_vacated = arena_alloc(arena, n_hosts, sizeof(bool));
    preempt->hosts = arena_alloc(arena, n_hosts, sizeof(*preempt->hosts));
    preempt->indexes = arena_alloc(arena, n_hosts, sizeof(int));
    preempt->free_slots = arena_alloc(arena, (size_t)preempt->state->n_groups,
                                      sizeof(*preempt->free_slots));
    preempt->first_host =
        arena_alloc(arena, (size_t)preempt->state->n_groups, sizeof(int));
    arena_init(&preempt->scratch);
    preempt->plan.jobs = snapshot->jobs;
    preempt->plan.next_ms = INT64_MAX;
    return preempt;
}

void preempt_free(struct preempt *preempt)
{
    if (preempt != NULL) {
        limits_tentative_free(preempt->limits);
        arena_release(&preempt->scratch);
    }
}

void preempt_count_start(struct preempt *preempt, const struct limit_owner *class,
                         const struct host_slots *hosts, int n_hosts)
{
    if (preempt->limits != NULL && class != NULL) {
        limits_tentative_count(preempt->limits, class, hosts, n_hosts);
    }
}

void preempt_count_growth(struct preempt *preempt, const struct limit_owner *class,
                          const struct host_slots *has, int n_has,
                          const struct host_slots *more, int n_more)
{
    if (preempt->limits != NULL && class != NULL) {
        limits_tentative_grow(preempt->limits, preempt->arena, class, has, n_has, more,
                              n_more);
    }
}

/* True if a job that some class may preempt is not protected. */
static bool has_victims(struct preempt *preempt)
{
    const struct place_snapshot *place = preempt->place;
    for (int i = 0; i < place->n_classes; i++) {
        struct preempt_order *order =
            preempt_order_of(&preempt->running, place->classes[i].queue);
        if (order->n_queues > 0) {
            preempt_order_fill(&preempt->running, order);
        }
        if (order->n_heap + order->n_sorted > 0) {
            return true;
        }
    }
    return false;
}

bool preempt_is_idle(struct preempt *preempt)
{
    if (!preempt->is_idle_known) {
        preempt->is_idle_known = true;
        preempt->is_idle = !has_victims(preempt);
    }
    return preempt->is_idle;
}

const struct preempt_plan *preempt_result(const struct preempt *preempt)
{
    return &preempt->plan;
}
