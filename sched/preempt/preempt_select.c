/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_select.c: selects the victims of one job (preempt.h).
 *
 * The groups of hosts (own hosts, each lease) are tried in the order of their best
 * victim. In a group, victims are taken in order until slots and limits suffice; if
 * they never do, all of that is undone.
 *
 *     n1 4 slots, n2 4 slots, all in use by queue low: a 4 on n1; b 2, c 2 on n2
 *     -n 2 of queue high: n1 and n2 are equally loaded, and n1 is first in the file: a.
 *     2 of its 4 slots are left over for the next job.
 *     MINI_JOB: the same, as a alone suffices. OPTIMAL_MINI_JOB: one job suffices, and
 *     b and c are the smallest that do: c, which started later
 *
 * An exclusive job needs empty hosts, and a host is empty only after its last job is
 * suspended. So all victims are taken in order until the job fits, and then those are
 * spared without which it still fits; under OPTIMAL_MINI_JOB the fewest are searched
 * for (preempt_optimal.h). The same holds for a job with span, same or a compound
 * requirement.
 * An exclusive victim opens its hosts. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/preempt/preempt_optimal.h"
#include "sched/preempt/preempt_tentative.h"

static bool wants(const struct preempt *preempt, enum preempt_for reason)
{
    return (preempt->snapshot->policy->preempt_for & (int)reason) != 0;
}

/* True if suspending that job helps: slots, room under a limit or a resource were
 * lacking, and it frees some of that. */
static bool helps(const struct preempt *preempt,
                  const struct preempt_selection *selection, int index, bool has_slots,
                  int n_more, int room_before)
{
    int n_slots = selection->class->n_slots;
    bool gives =
        selection->candidates->rusage != NULL &&
        preempt_resources_helps(&preempt->resources, selection->candidates->demand,
                                n_slots, &preempt->snapshot->jobs[index]);
    if (selection->takes_all || gives) {
        return true;
    }
    if (!has_slots) {
        return n_more > 0;
    }
    if (room_before >= n_slots) {
        return selection->candidates->rusage ==
               NULL; /* a host's limit, or what it does not give */
    }
    return preempt_tentative_limit_slots(preempt, selection->class) > room_before;
}

static bool take_victims(struct preempt *preempt, struct preempt_selection *selection)
{
    int n_slots = selection->class->n_slots;
    int64_t n_free = preempt_tentative_free_in_group(preempt, selection);
    selection->n_victims = 0;
    for (int i = 0;; i++) {
        int room = preempt_tentative_limit_slots(preempt, selection->class);
        bool has_slots = n_free >= n_slots, has_room = room >= n_slots;
        if (has_slots && has_room && preempt_tentative_place(preempt, selection)) {
            return true;
        }
        if (i == selection->n_order) {
            return false;
        }
        int more = preempt_tentative_set(preempt, selection, selection->order[i], true);
        if (helps(preempt, selection, selection->order[i], has_slots, more, room)) {
            selection->victims[selection->n_victims++] = selection->order[i];
            n_free += more;
        } else {
            preempt_tentative_set(preempt, selection, selection->order[i], false);
        }
    }
}

static void undo(struct preempt *preempt, const struct preempt_selection *selection)
{
    for (int i = 0; i < selection->n_victims; i++) {
        preempt_tentative_set(preempt, selection, selection->victims[i], false);
    }
}

/* True if the job is on a host where the preempting job was placed last. */
static bool is_in_way(const struct preempt *preempt, const struct preempt_job *job)
{
    for (int i = 0; i < job->n_pieces; i++) {
        for (int k = 0; k < preempt->n_hosts; k++) {
            if (job->pieces[i].host == preempt->indexes[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Spares the victims that are not on the hosts of the job, if the others suffice, so
 * that spare() need not try each of thousands. */
static void spare_elsewhere(struct preempt *preempt,
                            struct preempt_selection *selection)
{
    int n_all = selection->n_victims, n_near = 0, n_far = n_all;
    int *sorted = mem_alloc((size_t)n_all + 1, sizeof(*sorted));
    for (int i = 0; i < n_all; i++) {
        int victim = selection->victims[i];
        bool is_near = is_in_way(preempt, &preempt->snapshot->jobs[victim]);
        sorted[is_near ? n_near++ : --n_far] = victim; /* the others from behind */
    }
    for (int i = n_near; i < n_all; i++) {
        preempt_tentative_set(preempt, selection, sorted[i], false);
    }
    if (preempt_tentative_place(preempt, selection)) {
        memcpy(selection->victims, sorted, (size_t)n_near * sizeof(int));
        selection->n_victims = n_near;
    } else {
        for (int i = n_near; i < n_all; i++) {
            preempt_tentative_set(preempt, selection, sorted[i], true);
        }
        preempt_tentative_place(preempt, selection);
    }
    free(sorted);
}

/* Spares victims that turned out not to be needed. Parallel victims of a parallel job
 * are spared only if MINI_JOB or OPTIMAL_MINI_JOB is set. */
static void spare(struct preempt *preempt, struct preempt_selection *selection)
{
    bool is_mini = selection->takes_all || selection->candidates->rusage != NULL ||
                   wants(preempt, PREEMPT_FOR_MINI_JOB) ||
                   wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB);
    for (int i = selection->n_victims - 1; i >= 0 && selection->n_victims > 1; i--) {
        int victim = selection->victims[i];
        bool is_parallel = selection->class->n_slots > 1 &&
                           preempt->snapshot->jobs[victim].n_slots > 1;
        if (is_parallel && !is_mini) {
            continue;
        }
        preempt_tentative_set(preempt, selection, victim, false);
        if (preempt_tentative_place(preempt, selection)) {
            selection->n_victims--;
            memmove(&selection->victims[i], &selection->victims[i + 1],
                    (size_t)(selection->n_victims - i) * sizeof(int));
        } else {
            preempt_tentative_set(preempt, selection, victim, true);
        }
    }
}

/* Replaces each victim, from the last, by the job that frees the fewest slots and still
 * suffices. */
static void shrink(struct preempt *preempt, struct preempt_selection *selection)
{
    for (int i = selection->n_victims - 1; i >= 0; i--) {
        const struct preempt_candidates *view = selection->candidates;
        int gain = preempt_candidates_gain(
            &preempt->running, view, &preempt->snapshot->jobs[selection->victims[i]]);
        preempt_tentative_set(preempt, selection, selection->victims[i], false);
        /* `order` has the largest first: the last that fits is the smallest, and of
         * those as small the first is the one that comes first. */
        int best = selection->victims[i];
        for (int k = 0; k < selection->n_order; k++) {
            int other = selection->order[k];
            int of_other = preempt_candidates_gain(&preempt->running, view,
                                                   &preempt->snapshot->jobs[other]);
            if (preempt->is_victim[other] || of_other >= gain) {
                continue;
            }
            preempt_tentative_set(preempt, selection, other, true);
            if (preempt_tentative_place(preempt, selection)) {
                best = other;
                gain = of_other;
            }
            preempt_tentative_set(preempt, selection, other, false);
        }
        selection->victims[i] = best;
        preempt_tentative_set(preempt, selection, best, true);
    }
}

struct sized {
    int job, gain, place;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    if (a->gain != b->gain) {
        return a->gain > b->gain ? -1 : 1;
    }
    return a->place - b->place;
}

/* The group's jobs that are left, as they are to be taken: all, or as many as would do
 * if only slots counted. */
static void set_order(struct preempt *preempt, struct preempt_selection *selection,
                      bool is_all)
{
    struct preempt_candidates *view = selection->candidates;
    int64_t n_slots =
        is_all ? INT64_MIN : preempt_tentative_free_in_group(preempt, selection);
    selection->n_order = 0;
    for (int i = view->first;
         i < view->n_victims && n_slots < selection->class->n_slots; i++) {
        int index = preempt_candidates_at(&preempt->running, view, i);
        int group =
            preempt->state->group_of[preempt->snapshot->jobs[index].pieces[0].host];
        if (!preempt->is_victim[index] && group == selection->group) {
            selection->order[selection->n_order++] = index;
            n_slots += preempt_candidates_gain(&preempt->running, view,
                                               &preempt->snapshot->jobs[index]);
        }
    }
    if (!wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) || preempt->is_exclusive) {
        return;
    }
    struct sized *sized = mem_alloc((size_t)selection->n_order + 1, sizeof(*sized));
    for (int i = 0; i < selection->n_order; i++) {
        const struct preempt_job *job = &preempt->snapshot->jobs[selection->order[i]];
        sized[i] =
            (struct sized){selection->order[i],
                           preempt_candidates_gain(&preempt->running, view, job), i};
    }
    qsort(sized, (size_t)selection->n_order, sizeof(*sized), compare_sizes);
    for (int i = 0; i < selection->n_order; i++) {
        selection->order[i] = sized[i].job;
    }
    free(sized);
}

/* ---------------------------------------------------------------- whole hosts */

/* Hosts of the group that would be empty if all jobs of `order` were suspended, with
 * the jobs on them, numbered by their place in `order`. */
static int list_whole(struct preempt *preempt,
                      const struct preempt_selection *selection,
                      struct preempt_optimal_host *hosts)
{
    int n_places = preempt->place->n_hosts, n_hosts = 0;
    int *n_before = mem_alloc((size_t)n_places + 2, sizeof(*n_before));
    const struct preempt_job *jobs = preempt->snapshot->jobs;
    for (int i = 0; i < selection->n_order; i++) {
        const struct preempt_job *job = &jobs[selection->order[i]];
        for (int k = 0; k < job->n_pieces; k++) {
            n_before[job->pieces[k].host + 2]++;
        }
    }
    for (int i = 0; i < n_places; i++) {
        n_before[i + 2] += n_before[i + 1];
    }
    int *list =
        arena_alloc(preempt->arena, (size_t)n_before[n_places + 1] + 1, sizeof(*list));
    for (int i = 0; i < selection->n_order; i++) {
        const struct preempt_job *job = &jobs[selection->order[i]];
        for (int k = 0; k < job->n_pieces; k++) {
            list[n_before[job->pieces[k].host + 1]++] = i;
        }
    }
    for (int i = 0; i < n_places; i++) {
        int n_slots = selection->candidates->allowed[i] &&
                              preempt->state->group_of[i] == selection->group
                          ? preempt_tentative_free_slots(preempt, i)
                          : 0;
        if (n_slots > 0) {
            hosts[n_hosts++] = (struct preempt_optimal_host){
                n_slots, &list[n_before[i]], n_before[i + 1] - n_before[i]};
        }
    }
    free(n_before);
    return n_hosts;
}

/* OPTIMAL_MINI_JOB of an exclusive job: takes the fewest victims if only slots are
 * lacking; else none, and returns false. */
static bool take_fewest(struct preempt *preempt, struct preempt_selection *selection)
{
    struct preempt_optimal_host *hosts =
        mem_alloc((size_t)preempt->place->n_hosts + 1, sizeof(*hosts));
    bool *chosen = mem_alloc((size_t)selection->n_order + 1, sizeof(*chosen));
    selection->n_victims = selection->n_order;
    for (int i = 0; i < selection->n_order; i++) {
        selection->victims[i] = selection->order[i];
        preempt_tentative_set(preempt, selection, selection->order[i], true);
    }
    int n_hosts = list_whole(preempt, selection, hosts);
    undo(preempt, selection);
    selection->n_victims = 0;
    if (preempt_optimal_select(hosts, n_hosts, selection->n_order,
                               selection->class->n_slots, chosen)) {
        for (int i = 0; i < selection->n_order; i++) {
            if (chosen[i]) {
                selection->victims[selection->n_victims++] = selection->order[i];
                preempt_tentative_set(preempt, selection, selection->order[i], true);
            }
        }
    }
    bool is_enough =
        selection->n_victims > 0 && preempt_tentative_place(preempt, selection);
    if (!is_enough) {
        undo(preempt, selection);
    }
    free(hosts);
    free(chosen);
    return is_enough;
}

/* ---------------------------------------------------------------- with span or same */

/* Makes the first `n_wanted` jobs victims; the first `n_set` already are. */
static void set_victims(struct preempt *preempt,
                        const struct preempt_selection *selection, int n_set,
                        int n_wanted)
{
    for (int i = n_set; i < n_wanted; i++) {
        preempt_tentative_set(preempt, selection, selection->order[i], true);
    }
    for (int i = n_wanted; i < n_set; i++) {
        preempt_tentative_set(preempt, selection, selection->order[i], false);
    }
}

/* Each further victim leaves as much room or more everywhere, so the fewest first jobs
 * of the order that suffice for a job with span, same or parts are found by bisection.
 * The caller spares those that are not on the hosts which the job gets.
 *
 *     n1 4 slots: a 2, b 2; n2 4 slots: c 2, d 2; in the order a c b d
 *     -n 4 span[hosts=1] fits after a, c and b are suspended, on n1: the victims are a
 *     and b; c is spared */
static bool take_for_span(struct preempt *preempt, struct preempt_selection *selection)
{
    int n_few = -1, n_enough = selection->n_order, n_set = n_enough;
    selection->n_victims = 0;
    set_victims(preempt, selection, 0, n_set);
    if (!preempt_tentative_place(preempt, selection)) {
        set_victims(preempt, selection, n_set, 0);
        return false;
    }
    while (n_enough - n_few > 1) {
        int n_half = n_few + (n_enough - n_few) / 2;
        set_victims(preempt, selection, n_set, n_half);
        n_set = n_half;
        if (preempt_tentative_place(preempt, selection)) {
            n_enough = n_half;
        } else {
            n_few = n_half;
        }
    }
    set_victims(preempt, selection, n_set, n_enough);
    for (int i = 0; i < n_enough; i++) {
        selection->victims[selection->n_victims++] = selection->order[i];
    }
    return preempt_tentative_place(preempt, selection);
}

/* ---------------------------------------------------------------- in a group */

static bool choose_with_span(struct preempt *preempt,
                             struct preempt_selection *selection)
{
    set_order(preempt, selection, true);
    selection->takes_all = true;
    if (!take_for_span(preempt, selection)) {
        return false;
    }
    spare_elsewhere(preempt, selection);
    spare(preempt, selection);
    return true;
}

static bool choose_whole(struct preempt *preempt, struct preempt_selection *selection)
{
    set_order(preempt, selection, true);
    if (!wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) ||
        !take_fewest(preempt, selection)) {
        selection->takes_all = true;
        if (!take_victims(preempt, selection)) {
            undo(preempt, selection);
            return false;
        }
        spare_elsewhere(preempt, selection);
    }
    spare(preempt, selection);
    return true;
}

static bool choose_slots(struct preempt *preempt, struct preempt_selection *selection)
{
    /* As few as would do by their slots; all; and all whatever each does for limits. */
    enum { FEW, ALL, BLINDLY, ROUNDS };
    bool is_optimal = wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB), is_enough = false;
    for (int round = is_optimal ? ALL : FEW; round < ROUNDS && !is_enough; round++) {
        set_order(preempt, selection, round > FEW);
        selection->takes_all = round == BLINDLY;
        is_enough = take_victims(preempt, selection);
        if (!is_enough) {
            undo(preempt, selection);
        }
    }
    if (!is_enough) {
        return false;
    }
    spare(preempt, selection);
    if (is_optimal) {
        shrink(preempt, selection);
    }
    return true;
}

bool preempt_select_in_group(struct preempt *preempt,
                             struct preempt_selection *selection)
{
    bool has_span =
        selection->candidates->span != NULL || preempt_tentative_needs_trial(selection);
    bool is_enough = has_span                ? choose_with_span(preempt, selection)
                     : preempt->is_exclusive ? choose_whole(preempt, selection)
                                             : choose_slots(preempt, selection);
    return is_enough && selection->n_victims > 0 &&
           preempt_tentative_place(preempt, selection);
}

/* ---------------------------------------------------------------- one group */

/* Slots that all victims that are left and free hosts come to: enough for the job? An
 * exclusive one has more of a host than they resources; it stays at home. */
static bool may_suffice(struct preempt *preempt,
                        const struct preempt_selection *selection)
{
    if (preempt->is_exclusive) {
        return selection->group == 0;
    }
    int64_t n_slots = preempt_tentative_free_in_group(preempt, selection);
    struct preempt_candidates *view = selection->candidates;
    for (int i = view->first;
         i < view->n_victims && n_slots < selection->class->n_slots; i++) {
        int index = preempt_candidates_at(&preempt->running, view, i);
        const struct preempt_job *job = &preempt->snapshot->jobs[index];
        if (!preempt->is_victim[index] &&
            preempt->state->group_of[job->pieces[0].host] == selection->group) {
            n_slots += preempt_candidates_gain(&preempt->running, view, job);
        }
    }
    return n_slots >= selection->class->n_slots;
}

int preempt_select_left_over(struct preempt *preempt,
                             struct preempt_selection *selection)
{
    selection->n_victims = 0;
    int n_groups = preempt->is_exclusive ? 1 : preempt->state->n_groups;
    for (int i = 0; preempt->plan.n_claims > 0 && i < n_groups; i++) {
        selection->group = i;
        if (preempt_tentative_free_in_group(preempt, selection) >=
                selection->class->n_slots &&
            preempt_tentative_place(preempt, selection)) {
            return i;
        }
    }
    return -1;
}

int preempt_select_group(struct preempt *preempt, struct preempt_selection *selection)
{
    struct preempt_candidates *view = selection->candidates;
    bool *tried = mem_alloc((size_t)preempt->state->n_groups, sizeof(*tried));
    int best = -1, n_least = INT_MAX, n_tried = 0;
    while (view->first < view->n_victims &&
           preempt->is_victim[preempt_candidates_at(&preempt->running, view,
                                                    view->first)]) {
        view->first++;
    }
    for (int i = view->first; i < view->n_victims && n_tried < view->n_groups; i++) {
        int index = preempt_candidates_at(&preempt->running, view, i);
        selection->group =
            preempt->state->group_of[preempt->snapshot->jobs[index].pieces[0].host];
        if (preempt->is_victim[index] || tried[selection->group]) {
            continue;
        }
        tried[selection->group] = true;
        n_tried++;
        if (!may_suffice(preempt, selection) ||
            !preempt_select_in_group(preempt, selection)) {
            continue;
        }
        undo(preempt, selection);
        if (selection->n_victims < n_least) {
            n_least = selection->n_victims;
            best = selection->group;
        }
        if (!wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) || n_least == 1) {
            break;
        }
    }
    free(tried);
    return best;
}
