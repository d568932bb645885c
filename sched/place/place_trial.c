/* SPDX-License-Identifier: Apache-2.0 */
/* place_trial.c: see place_trial.h. */
#include "sched/place/place_trial.h"

#include "sched/place/place_compound.h"

void place_trial_init(struct place_trial *trial, struct arena *arena,
                      const struct place_state *of,
                      const struct limits_tentative *limits)
{
    trial->snapshot = *of->snapshot;
    trial->snapshot.reservations = NULL;
    trial->snapshot.preempt = NULL;
    trial->state = (struct place_state){.is_estimate = false};
    place_state_init(&trial->state, arena, &trial->snapshot);
    trial->state.eligible = of->eligible;
    trial->state.next_entry = of->next_entry;
    for (int i = 0; i < trial->snapshot.n_hosts; i++) {
        trial->state.dispatched_ms[i] = 0;
    }
    place_alloc_init(&trial->alloc, &trial->state, limits, NULL);
}

static struct candidate_group *find_group(const struct candidates *view, int group)
{
    int i = 0;
    while (i < view->n_groups && view->groups[i].group != group) {
        i++;
    }
    return i < view->n_groups ? &view->groups[i] : NULL;
}

bool place_trial_fit(struct place_trial *trial, const struct place_class *class,
                     int alternative, int group, struct place_start *start)
{
    const struct limit *limit = NULL;
    const struct place_alloc_request want = {
        .min = class->n_slots,
        .max = class->n_slots,
        .is_balanced = trial->snapshot.queues[class->queue].is_balanced,
        .is_exclusive = class->is_exclusive};
    int part;
    *start = (struct place_start){.n_hosts = 0};
    candidates_forget(&trial->state);
    if (candidates_has_parts(class)) {
        return place_compound_alloc(&trial->alloc, class, group, &want, start, &part,
                                    &limit);
    }
    struct candidates *view = candidates_of(&trial->state, class, alternative);
    struct candidate_group *of_view = find_group(view, group);
    return of_view != NULL &&
           place_alloc(&trial->alloc, view, of_view, &want, start, &limit);
}
