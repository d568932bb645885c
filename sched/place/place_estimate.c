/* SPDX-License-Identifier: Apache-2.0 */
/* place_estimate.c: where a pending job will fit first, as far as run limits tell.
 *
 * Running jobs are taken to end in the order of their run limits, those without one
 * last, oldest first. Jobs that have reservations and come earlier in the pass take
 * first of what becomes free, and end last of all. The job goes to the hosts where it
 * fits after the fewest ends. All rules of a start hold except JOB_ACCEPT_INTERVAL, and
 * the job does not go to a lease that is still to be made. A select requirement counts
 * as met where only reserved resources prevent it.
 *
 *     n1: 1000 MB, 2 jobs of 400 MB end at 10:00 and 11:00; n2: the same, 12:00, 13:00
 *     a job of 500 MB fits on n1 at 10:00, one of 900 MB at 11:00
 *
 * There is only more room as jobs end, so the fewest ends are found by bisection. Each
 * step tries a pass of its own, as it would be then. */
#include <string.h>

#include "sched/place/place_pass.h"
#include "sched/place/place_trial.h"
#include "sched/reservation/reservation.h"

/* A pass of its own, for all looks for one job. */
struct look {
    struct place_trial trial;
    struct place_pass pass;
    struct arena arena;
    bool *is_unmade; /* by host: of a lease that is still to be made */
    int *kept_until; /* by host: so many ends free it from the job that has its compute
                        unit exclusively; 0: there is none */
    int *n_freed;    /* by host: slots of jobs that have ended */
};

/* The number of ends up to that of the job; those of all, if it is not among them. */
static int ends_until(const struct place_pass *pass, uint64_t job)
{
    const struct reservation_snapshot *reservations = pass->snapshot->reservations;
    int i = 0;
    while (i < reservations->n_runs && reservations->runs[i].key != job) {
        i++;
    }
    return i + 1;
}

static void look_init(struct look *look, const struct place_pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    size_t n_hosts = (size_t)snapshot->n_hosts;
    arena_init(&look->arena);
    place_trial_init(&look->trial, &look->arena, &pass->state, pass->limits);
    look->trial.state.is_estimate = true;
    look->pass = *pass;
    look->pass.snapshot = &look->trial.snapshot;
    look->pass.reservations = NULL;
    look->pass.preempt = NULL;
    look->pass.arena = &look->arena;
    look->pass.state = look->trial.state;
    look->pass.alloc = look->trial.alloc;
    look->pass.alloc.state = &look->pass.state;
    look->n_freed = arena_alloc(&look->arena, n_hosts, sizeof(*look->n_freed));
    look->is_unmade = arena_alloc(&look->arena, n_hosts, sizeof(*look->is_unmade));
    look->kept_until = arena_alloc(&look->arena, n_hosts, sizeof(int));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        uint64_t job = snapshot->hosts[i].unit_of;
        look->is_unmade[i] = snapshot->hosts[i].is_lease_unmade;
        look->kept_until[i] = job != 0 ? ends_until(pass, job) : 0;
    }
}

/* As it was when the pass began. */
static void copy_first(const struct place_snapshot *snapshot, struct place_state *then)
{
    const struct rusage_supply *supply = snapshot->supply;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        then->used[i] = snapshot->hosts[i].used;
    }
    for (int i = 0; supply != NULL && i < supply->n_supplies; i++) {
        then->supply_left[i] = supply->left[i];
    }
}

static void copy_now(const struct place_state *now, struct place_state *then)
{
    const struct place_snapshot *snapshot = now->snapshot;
    memcpy(then->used, now->used, (size_t)snapshot->n_hosts * sizeof(*then->used));
    if (snapshot->supply != NULL) {
        memcpy(then->supply_left, now->supply_left,
               (size_t)snapshot->supply->n_supplies * sizeof(*then->supply_left));
    }
}

static void free_slots(const struct look *look, const struct place_state *now,
                       int n_ends, struct place_state *then)
{
    for (int i = 0; i < look->trial.snapshot.n_hosts; i++) {
        int used = then->used[i] - look->n_freed[i];
        then->used[i] = used > 0 ? used : 0;
        then->is_used_exclusively[i] = look->is_unmade[i] ||
                                       look->kept_until[i] > n_ends ||
                                       (now->is_used_exclusively[i] && used > 0);
    }
}

/* The hosts after so many ends. After all of them, what was free as the pass began is
 * what the room is made with. */
static void look_after(struct look *look, const struct place_pass *pass, int n_ends)
{
    struct place_state *state = &look->pass.state;
    if (n_ends < reservation_start_count_ends(pass->reservations)) {
        copy_now(&pass->state, state);
    } else {
        copy_first(&look->trial.snapshot, state);
    }
    memset(look->n_freed, 0,
           (size_t)look->trial.snapshot.n_hosts * sizeof(*look->n_freed));
    reservation_start_add_ends(pass->reservations, n_ends, look->n_freed,
                               state->supply_left);
    free_slots(look, &pass->state, n_ends, state);
    candidates_forget(state);
}

static bool fits_after(struct look *look, const struct place_pass *pass,
                       const struct place_class *class, int n_ends,
                       struct place_start *start)
{
    struct pending_verdict verdict;
    const struct place_alloc_request want = {
        .min = class->n_slots,
        .max = class->n_slots,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced};
    look_after(look, pass, n_ends);
    return place_fit_any(&look->pass, class, &want, start, &verdict);
}

/* The fewest ends after which it fits; -1: it does not even after all. */
static int find_fewest(struct look *look, const struct place_pass *pass,
                       const struct place_class *class, struct place_start *start)
{
    int few = 0, enough = reservation_start_count_ends(pass->reservations);
    if (!fits_after(look, pass, class, enough, start)) {
        return -1;
    }
    while (few < enough) {
        int n_ends = few + (enough - few) / 2;
        if (fits_after(look, pass, class, n_ends, start)) {
            enough = n_ends;
        } else {
            few = n_ends + 1;
        }
    }
    return enough;
}

/* The start in the arena of the pass. */
static void copy_start(struct arena *arena, struct place_start *start)
{
    size_t n_parts = (size_t)start->n_parts;
    struct place_part *parts =
        arena_copy(arena, start->parts, n_parts * sizeof(*parts));
    for (int i = 0; i < start->n_parts; i++) {
        parts[i].pieces = arena_copy(
            arena, parts[i].pieces, (size_t)parts[i].n_pieces * sizeof(*parts->pieces));
    }
    start->parts = parts;
    start->hosts =
        arena_copy(arena, start->hosts, (size_t)start->n_hosts * sizeof(*start->hosts));
}

bool place_estimate_fit(struct place_pass *pass, int index, struct place_start *start,
                        const int **places)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    struct look look;
    look_init(&look, pass);
    int n_ends = find_fewest(&look, pass, class, start);
    bool fits = n_ends >= 0 && fits_after(&look, pass, class, n_ends, start);
    if (fits) {
        copy_start(pass->arena, start);
        *places = arena_copy(pass->arena, look.pass.alloc.indexes,
                             (size_t)start->n_hosts * sizeof(int));
    }
    arena_release(&look.arena);
    return fits;
}
