/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_tentative.c: slots, limits and resources as if the victims of a plan were
 * suspended, and where a job would be placed then: on the first hosts of a group that
 * have room, in the snapshot's order, or as its span section says along that order. */
#include <limits.h>
#include <stdlib.h>

#include "sched/preempt/preempt_tentative.h"

/* ---------------------------------------------------------------- one victim */

int preempt_tentative_free_slots(const struct preempt *preempt, int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    int n_used = preempt->state->used[host] + preempt->delta[host];
    bool is_taken =
        preempt->state->is_used_exclusively[host] && !preempt->is_vacated[host];
    if (is_taken || at->is_held ||
        (preempt->is_exclusive && (n_used > 0 || at->is_shared))) {
        return 0;
    }
    return at->max > n_used ? at->max - n_used : 0;
}

/* An exclusive job on its own hosts that holds them even if it is suspended. */
static bool holds_hosts(const struct preempt *preempt, const struct preempt_job *job)
{
    return job->is_exclusive && !preempt->snapshot->policy->has_exclusive;
}

static void count_freed(struct preempt *preempt, const struct preempt_job *job,
                        int more)
{
    int group = preempt->state->group_of[job->pieces[0].host];
    if (preempt->free_slots[group] >= 0) {
        preempt->free_slots[group] += more;
    }
    for (int i = 0; i < job->n_pieces; i++) {
        if (job->pieces[i].host < preempt->first_host[group]) {
            preempt->first_host[group] = job->pieces[i].host;
        }
    }
}

int preempt_tentative_set(struct preempt *preempt,
                          const struct preempt_selection *selection, int index,
                          bool is_victim)
{
    const struct preempt_job *job = &preempt->snapshot->jobs[index];
    const uint8_t *allowed = selection->candidates->allowed;
    int n_before = 0, n_after = 0;
    for (int i = 0; i < job->n_pieces; i++) {
        int host = job->pieces[i].host;
        n_before += allowed[host] ? preempt_tentative_free_slots(preempt, host) : 0;
        if (!holds_hosts(preempt, job)) {
            preempt->delta[host] +=
                is_victim ? -job->pieces[i].n_slots : job->pieces[i].n_slots;
            preempt->is_vacated[host] =
                job->is_exclusive ? is_victim : preempt->is_vacated[host];
        }
        n_after += allowed[host] ? preempt_tentative_free_slots(preempt, host) : 0;
    }
    if (preempt->limits != NULL && job->limit_class != NULL) {
        limits_tentative_yield(preempt->limits, job->limit_class, job->hosts,
                               job->n_pieces, is_victim);
    }
    preempt_resources_set(&preempt->resources, job, is_victim);
    preempt->is_victim[index] = is_victim;
    count_freed(preempt, job, n_after - n_before);
    return n_after - n_before;
}

/* ---------------------------------------------------------------- where it would be */

int preempt_tentative_limit_slots(const struct preempt *preempt,
                                  const struct place_class *class)
{
    const struct limit *limit;
    return class->limit_class != NULL && preempt->limits != NULL
               ? limits_slots_left(preempt->limits, class->limit_class, &limit)
               : INT_MAX;
}

/* Slots that the job may have there in addition to its pieces so far. */
static int room_beside(struct preempt *preempt,
                       const struct preempt_selection *selection, int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    const struct limit_owner *class = selection->class->limit_class;
    const struct rusage_request *rusage = selection->candidates->rusage;
    const struct limit *limit;
    int n = preempt_tentative_free_slots(preempt, host), room = n;
    if (n > 0 && class != NULL && preempt->limits != NULL &&
        limits_have_host_limits(class)) {
        room = limits_slots_left_on(preempt->limits, class, at->name,
                                    at->n_processors > 0 ? at->n_processors : at->max,
                                    preempt->hosts, preempt->n_hosts, &limit);
        n = n < room ? n : room;
    }
    if (n > 0 && rusage != NULL) {
        room = preempt_resources_max_slots(&preempt->resources, rusage, host,
                                           preempt->hosts, preempt->indexes,
                                           preempt->n_hosts);
    }
    return n < room ? n : room;
}

/* ---------------------------------------------------------------- with span or same */

struct span_context {
    struct preempt *preempt;
    const struct preempt_selection *selection;
};

static void set_pieces(struct preempt *preempt, const struct rusage_piece *pieces,
                       int n_pieces)
{
    for (int i = 0; i < n_pieces; i++) {
        preempt->indexes[i] = pieces[i].host;
        preempt->hosts[i] = (struct host_slots){
            preempt->place->hosts[pieces[i].host].name, pieces[i].n_slots};
    }
    preempt->n_hosts = n_pieces;
}

static int max_slots_beside(void *arg, int host, const struct rusage_piece *pieces,
                            int n_pieces)
{
    const struct span_context *context = arg;
    set_pieces(context->preempt, pieces, n_pieces);
    return room_beside(context->preempt, context->selection, host);
}

static bool place_with_span(struct preempt *preempt,
                            const struct preempt_selection *selection)
{
    int n_slots = selection->class->n_slots;
    size_t n_most = (size_t)preempt->place->n_hosts + 1;
    struct span_context context = {preempt, selection};
    int *hosts = mem_alloc(n_most, sizeof(*hosts));
    struct place_span_request request = {
        .hosts = hosts,
        .min = n_slots,
        .max = n_slots,
        .is_balanced = preempt->place->queues[selection->class->queue].is_balanced,
        .room = max_slots_beside,
        .arg = &context,
        .pieces = mem_alloc(n_most, sizeof(*request.pieces)),
    };
    for (int i = 0; i < preempt->place->n_hosts; i++) {
        if (selection->candidates->allowed[i] &&
            preempt->state->group_of[i] == selection->group &&
            preempt_tentative_free_slots(preempt, i) > 0) {
            hosts[request.n_hosts++] = i;
        }
    }
    bool fits = place_span_fit(selection->candidates->span, &request) >= n_slots;
    set_pieces(preempt, request.pieces, request.n_pieces);
    free(hosts);
    free(request.pieces);
    return fits;
}

/* ---------------------------------------------------------------- by a trial */

bool preempt_tentative_needs_trial(const struct preempt_selection *selection)
{
    return selection->candidates->has_parts;
}

/* Slots and resources as if the victims were suspended. */
static void set_trial(const struct preempt *preempt, struct place_state *then)
{
    const struct place_state *now = preempt->state;
    for (int i = 0; i < preempt->place->n_hosts; i++) {
        int used = now->used[i] + preempt->delta[i];
        then->used[i] = used > 0 ? used : 0;
        then->is_used_exclusively[i] =
            now->is_used_exclusively[i] && !preempt->is_vacated[i];
    }
    for (int i = 0; then->supply_left != NULL && i < preempt->place->supply->n_supplies;
         i++) {
        then->supply_left[i] = preempt->resources.left[i];
    }
}

static bool place_by_trial(struct preempt *preempt,
                           const struct preempt_selection *selection,
                           struct arena *arena)
{
    struct place_trial trial;
    struct place_start *start = &preempt->start;
    place_trial_init(&trial, arena, preempt->state, preempt->limits);
    set_trial(preempt, &trial.state);
    bool fits =
        place_trial_fit(&trial, selection->class, selection->candidates->alternative,
                        selection->group, start);
    preempt->n_hosts = fits ? start->n_hosts : 0;
    for (int i = 0; i < preempt->n_hosts; i++) {
        preempt->hosts[i] = start->hosts[i];
        preempt->indexes[i] = trial.alloc.indexes[i];
    }
    return fits;
}

void preempt_tentative_set_start(struct preempt *preempt,
                                 const struct preempt_selection *selection)
{
    place_by_trial(preempt, selection, preempt->arena);
}

/* ---------------------------------------------------------------- the job */

bool preempt_tentative_place(struct preempt *preempt,
                             const struct preempt_selection *selection)
{
    int open = selection->class->n_slots;
    preempt->n_hosts = 0;
    if (preempt_tentative_limit_slots(preempt, selection->class) < open) {
        return false;
    }
    if (preempt_tentative_needs_trial(selection)) {
        arena_clear(&preempt->scratch);
        return place_by_trial(preempt, selection, &preempt->scratch);
    }
    if (selection->candidates->span != NULL) {
        return place_with_span(preempt, selection);
    }
    int first = preempt->place->n_hosts;
    bool is_limited = selection->candidates->rusage != NULL ||
                      (selection->class->limit_class != NULL &&
                       limits_have_host_limits(selection->class->limit_class));
    for (int i = is_limited ? 0 : preempt->first_host[selection->group];
         i < preempt->place->n_hosts && open > 0; i++) {
        if (!selection->candidates->allowed[i] ||
            preempt->state->group_of[i] != selection->group) {
            continue;
        }
        int n = room_beside(preempt, selection, i);
        n = n < open ? n : open;
        if (n > 0) {
            first = i < first ? i : first;
            preempt->indexes[preempt->n_hosts] = i;
            preempt->hosts[preempt->n_hosts++] =
                (struct host_slots){preempt->place->hosts[i].name, n};
            open -= n;
        }
    }
    if (open == 0) {
        preempt->first_host[selection->group] = first;
    }
    return open == 0;
}

int64_t preempt_tentative_free_in_group(struct preempt *preempt,
                                        const struct preempt_selection *selection)
{
    int64_t n_free = 0;
    if (preempt->free_slots[selection->group] >= 0) {
        return preempt->free_slots[selection->group];
    }
    for (int i = 0; i < preempt->place->n_hosts; i++) {
        n_free += selection->candidates->allowed[i] &&
                          preempt->state->group_of[i] == selection->group
                      ? preempt_tentative_free_slots(preempt, i)
                      : 0;
    }
    preempt->free_slots[selection->group] = n_free;
    return n_free;
}
