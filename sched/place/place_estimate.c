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
#include <limits.h>
#include <string.h>

#include "sched/place/place_affinity.h"
#include "sched/place/place_pass.h"
#include "sched/place/place_trial.h"
#include "sched/reservation/reservation.h"

/* A pass of its own, for all steps of all jobs of the pass. */
struct place_estimate {
    struct place_trial trial;
    struct place_pass pass;
    struct arena scratch; /* of one job */
    int n_ends;           /* of all */
    bool *is_unmade;      /* by host: of a lease that is still to be made */
    int *kept_until;  /* by host: so many ends free it from the job that has its compute
                         unit exclusively; 0: there is none */
    int *bound_until; /* by host: so many ends free all of its processors; INT_MAX:
                         it is not known how many. NULL: no job has affinity */
    int *used_last;   /* by host: after all ends; NULL: not counted yet ... */
    int64_t *left_last; /* ... and the supplies */
    const int *hosts;   /* that the job looks at */
    int n_hosts;
    int *all_hosts;
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

static int *bound_until(const struct place_pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    int *until = arena_alloc(pass->arena, (size_t)snapshot->n_hosts, sizeof(*until));
    const struct reservation_end *ends =
        reservation_start_list_ends(pass->reservations);
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct affinity_host *host = &snapshot->affinity[i];
        for (int k = 0; k < host->n_attempts; k++) {
            int n_ends =
                reservation_start_find_end(pass->reservations, ends, host->attempts[k]);
            until[i] = n_ends > until[i] ? n_ends : until[i];
        }
    }
    return until;
}

static struct place_estimate *estimate_new(struct place_pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    struct arena *arena = pass->arena;
    struct place_estimate *estimate = arena_alloc(arena, 1, sizeof(*estimate));
    size_t n_hosts = (size_t)snapshot->n_hosts;
    arena_init(&estimate->scratch);
    place_trial_init(&estimate->trial, arena, &pass->state, pass->limits);
    estimate->trial.state.is_estimate = true;
    estimate->pass = *pass;
    estimate->pass.snapshot = &estimate->trial.snapshot;
    estimate->pass.reservations = NULL;
    estimate->pass.preempt = NULL;
    estimate->pass.arena = &estimate->scratch;
    estimate->pass.state = estimate->trial.state;
    estimate->pass.state.arena = &estimate->scratch;
    estimate->pass.alloc = estimate->trial.alloc;
    estimate->pass.alloc.state = &estimate->pass.state;
    estimate->n_ends = reservation_start_count_ends(pass->reservations);
    estimate->kept_until = arena_alloc(arena, n_hosts, sizeof(int));
    estimate->is_unmade = arena_alloc(arena, n_hosts, sizeof(bool));
    estimate->all_hosts = arena_alloc(arena, n_hosts, sizeof(int));
    estimate->bound_until = snapshot->affinity != NULL ? bound_until(pass) : NULL;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        uint64_t job = snapshot->hosts[i].unit_of;
        estimate->is_unmade[i] = snapshot->hosts[i].is_lease_unmade;
        estimate->kept_until[i] = job != 0 ? ends_until(pass, job) : 0;
        estimate->all_hosts[i] = i;
    }
    return estimate;
}

void place_estimate_free(struct place_pass *pass)
{
    if (pass->estimate != NULL) {
        arena_release(&pass->estimate->scratch);
    }
}

/* Of a job that needs whole compute units, hosts count that it may not use itself. */
static void set_hosts(struct place_estimate *estimate, const struct place_class *class)
{
    estimate->hosts = estimate->all_hosts;
    estimate->n_hosts = estimate->pass.snapshot->n_hosts;
    if (candidates_exclusive_units(class) == NULL) {
        estimate->hosts =
            candidates_eligible(&estimate->pass.state, class, &estimate->n_hosts);
    }
}

/* After all ends, what was free as the pass began is what the room is made with. */
static void count_last(struct place_estimate *estimate, const struct place_pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    const struct rusage_supply *supply = snapshot->supply;
    int *used = arena_alloc(pass->arena, (size_t)snapshot->n_hosts, sizeof(int));
    if (supply != NULL) {
        estimate->left_last = arena_copy(pass->arena, supply->left,
                                         (size_t)supply->n_supplies * sizeof(int64_t));
    }
    reservation_start_add_all(pass->reservations, used, estimate->left_last);
    for (int i = 0; i < snapshot->n_hosts; i++) {
        used[i] = snapshot->hosts[i].used - used[i];
    }
    estimate->used_last = used;
}

/* The hosts after so many ends. */
static void look_after(struct place_estimate *estimate, const struct place_pass *pass,
                       int n_ends)
{
    const struct place_state *now = &pass->state;
    struct place_state *then = &estimate->pass.state;
    bool is_last = n_ends == estimate->n_ends;
    if (is_last && estimate->used_last == NULL) {
        count_last(estimate, pass);
    }
    for (int i = 0; i < estimate->n_hosts; i++) {
        int host = estimate->hosts[i];
        int used = is_last
                       ? estimate->used_last[host]
                       : now->used[host] -
                             reservation_start_freed(pass->reservations, n_ends, host);
        then->used[host] = used > 0 ? used : 0;
        then->dispatched_ms[host] = 0; /* not that of an earlier step either */
        then->is_used_exclusively[host] = estimate->is_unmade[host] ||
                                          estimate->kept_until[host] > n_ends ||
                                          (now->is_used_exclusively[host] && used > 0);
        if (estimate->bound_until != NULL) {
            place_affinity_assume(then, now, host,
                                  estimate->bound_until[host] <= n_ends, is_last);
        }
    }
    if (pass->snapshot->supply != NULL && pass->snapshot->supply->n_supplies > 0) {
        memcpy(then->supply_left, is_last ? estimate->left_last : now->supply_left,
               (size_t)pass->snapshot->supply->n_supplies * sizeof(int64_t));
    }
    if (!is_last) {
        reservation_start_add_left(pass->reservations, n_ends, then->supply_left);
    }
}

static bool fits_after(struct place_estimate *estimate, const struct place_pass *pass,
                       const struct place_class *class, int n_ends,
                       struct place_start *start)
{
    struct pending_verdict verdict;
    const struct place_alloc_request want = {
        .min = class->n_slots,
        .max = class->n_slots,
        .is_balanced = pass->snapshot->queues[class->queue].is_balanced};
    look_after(estimate, pass, n_ends);
    candidates_forget_class(&estimate->pass.state, class);
    return place_fit_any(&estimate->pass, class, &want, start, &verdict);
}

/* The fewest ends after which it fits; -1: it does not even after all. */
static int find_fewest(struct place_estimate *estimate, const struct place_pass *pass,
                       const struct place_class *class, struct place_start *start)
{
    int few = 0, enough = estimate->n_ends;
    if (!fits_after(estimate, pass, class, enough, start)) {
        return -1;
    }
    while (few < enough) {
        int n_ends = few + (enough - few) / 2;
        if (fits_after(estimate, pass, class, n_ends, start)) {
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
                        const int **places, int *n_ends)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    if (pass->estimate == NULL) {
        pass->estimate = estimate_new(pass);
    }
    struct place_estimate *estimate = pass->estimate;
    set_hosts(estimate, class);
    *n_ends = find_fewest(estimate, pass, class, start);
    bool fits = *n_ends >= 0 && fits_after(estimate, pass, class, *n_ends, start);
    if (fits) {
        copy_start(pass->arena, start);
        *places = arena_copy(pass->arena, estimate->pass.alloc.indexes,
                             (size_t)start->n_hosts * sizeof(int));
    }
    candidates_forget_class(&estimate->pass.state, class);
    estimate->pass.alloc.preferences = NULL;
    place_affinity_forget(&estimate->pass.state);
    arena_clear(&estimate->scratch);
    return fits;
}
