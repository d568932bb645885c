/* SPDX-License-Identifier: Apache-2.0 */
/* place_estimate.c: see place_estimate.h. Room only grows as jobs end: the fewest ends
 * are found by halving. Each look is at a pass of its own, as it would be then. */
#include "sched/place/place_estimate.h"

#include "sched/reservation/reservation.h"

/* The pass, after so many ends. */
struct look {
    struct place_snapshot snapshot;
    struct place_pass pass;
    struct arena arena;
};

/* What was free as the pass began is what the room is made with. */
static void copy_now(const struct place_state *now, struct place_state *then)
{
    for (int i = 0; i < then->snapshot->n_hosts; i++) {
        then->used[i] = now->used[i];
    }
    const struct rusage_supply *reserve = then->snapshot->supply;
    for (int i = 0; reserve != NULL && i < reserve->n_supplies; i++) {
        then->supply_left[i] = now->supply_left[i];
    }
}

static void free_slots(const struct place_state *now, struct place_state *then,
                       const int *n_freed)
{
    for (int i = 0; i < then->snapshot->n_hosts; i++) {
        int used = then->used[i] - n_freed[i];
        then->used[i] = used > 0 ? used : 0;
        then->dispatched_ms[i] = 0;
        then->is_used_exclusively[i] = then->snapshot->hosts[i].is_lease_unmade ||
                                       (now->is_used_exclusively[i] && used > 0);
    }
}

static void look_init(struct look *look, const struct place_pass *pass, int n_ends)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    struct place_state *state = &look->pass.state;
    arena_init(&look->arena);
    look->snapshot = *snapshot;
    look->snapshot.reservations = NULL;
    look->snapshot.preempt = NULL;
    look->pass = *pass;
    look->pass.snapshot = &look->snapshot;
    look->pass.reservations = NULL;
    look->pass.preempt = NULL;
    look->pass.arena = &look->arena;
    *state = (struct place_state){.is_estimate = true};
    place_state_init(state, &look->arena, &look->snapshot);
    if (n_ends < reservation_start_count_ends(pass->reservations)) {
        copy_now(&pass->state, state);
    }
    int *n_freed =
        arena_alloc(&look->arena, (size_t)snapshot->n_hosts, sizeof(*n_freed));
    reservation_start_add_ends(pass->reservations, n_ends, n_freed, state->supply_left);
    free_slots(&pass->state, state, n_freed);
    place_alloc_init(&look->pass.alloc, state, pass->limits, NULL);
}

static bool fits_after(struct place_pass *pass, const struct place_class *class,
                       int n_ends, struct place_start *start, const int **places)
{
    struct look look;
    struct pending_verdict verdict;
    const struct place_alloc_request want = {
        .min = class->n_slots,
        .max = class->n_slots,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced};
    look_init(&look, pass, n_ends);
    bool fits = place_fit_any(&look.pass, class, &want, start, &verdict);
    if (fits) {
        size_t n_hosts = (size_t)start->n_hosts;
        start->hosts =
            arena_copy(pass->arena, start->hosts, n_hosts * sizeof(*start->hosts));
        *places =
            arena_copy(pass->arena, look.pass.alloc.indexes, n_hosts * sizeof(int));
    }
    arena_release(&look.arena);
    return fits;
}

bool place_estimate_fit(struct place_pass *pass, int index, struct place_start *start,
                        const int **places)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    int few = 0, enough = reservation_start_count_ends(pass->reservations);
    if (!fits_after(pass, class, enough, start, places)) {
        return false;
    }
    while (few < enough) {
        int n_ends = few + (enough - few) / 2;
        if (fits_after(pass, class, n_ends, start, places)) {
            enough = n_ends;
        } else {
            few = n_ends + 1;
        }
    }
    return fits_after(pass, class, enough, start, places);
}
