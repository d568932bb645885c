/* SPDX-License-Identifier: Apache-2.0 */
/* place_pass.h: the state of a pass, and the steps that place.c makes of it:
 * place_fit.c finds slots for a job or explains why there are none, place_reservation.c
 * reserves and backfills, place_estimate.c chooses the hosts where a job reserves,
 * place_grow.c adds slots to running jobs, and place_resume.c lets suspended jobs go
 * on. Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_PASS_H
#define SUBLET_SCHED_PLACE_PLACE_PASS_H

#include "sched/place/candidates.h"
#include "sched/place/place_alloc.h"
#include "sched/place/place_order.h"

struct place_pass {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    struct limits_tentative *limits;       /* NULL: no limits */
    struct preempt *preempt;               /* NULL: there is no preemption */
    struct reservation_pass *reservations; /* NULL: no queue reserves slots */
    uint8_t **grow_hosts; /* by class: hosts that match a growing job, where the pass
                             narrows them, else NULL */
    int *grow_kept;       /* by host: slots kept from the job that grows now; NULL: none
                             are kept */
    struct place_state state;
    struct place_order order;
    struct place_alloc alloc;
    struct place_resuming *resuming;
    struct place_estimate *estimate; /* NULL: none was made yet */
    bool has_exclusive_grow;         /* an exclusive job asks for more of its hosts */
    int64_t next_ms;                 /* of the plan */
};

/* ---------------------------------------------------------------- fitting */

/* Free slots of the group, counted up to `enough`. */
int place_fit_count(const struct place_pass *pass, const struct candidate_group *group,
                    int enough);
/* Places a job with the first alternative of its rusage that fits. Otherwise the
 * verdict explains the first alternative that would fit if other jobs ended, or else
 * the first one. */
bool place_fit_any(struct place_pass *pass, const struct place_class *class,
                   const struct place_alloc_request *request, struct place_start *start,
                   struct pending_verdict *verdict);

/* ---------------------------------------------------------------- reserving */

/* The key of the next job of the class. */
uint64_t place_reservation_job(const struct place_pass *pass, int index);
/* Places the next job of the class on free slots and its own reservation, or else as a
 * backfill job for its whole run limit, or else for a part of that. */
bool place_reservation_fit(struct place_pass *pass, int index,
                           const struct place_alloc_request *request,
                           struct place_start *start, struct pending_verdict *verdict);
/* The next job of the class does not start: it preempts or reserves. */
void place_reservation_pend(struct place_pass *pass, int index,
                            struct place_plan *plan);

/* For the next job of the class, while the reservations that it may use are open.
 * `places` become the indexes of the start's hosts, `n_ends` how many jobs have to end
 * before. False: it fits nowhere, whichever jobs end. */
bool place_estimate_fit(struct place_pass *pass, int index, struct place_start *start,
                        const int **places, int *n_ends);
void place_estimate_free(struct place_pass *pass);

/* ---------------------------------------------------------------- resuming */

void place_resume_init(struct place_pass *pass);
/* Suspended jobs that come before the class go on if they fit; -1: all that are left.
 * What is free for those that do not fit is kept from jobs of the class and later
 * ones. */
void place_resume_before(struct place_pass *pass, int class, struct place_plan *plan);
/* Counts slots that those wait for that have not gone on; after the last of them. */
void place_resume_count_waiting(const struct place_pass *pass, struct place_plan *plan);
/* All suspended jobs have been tried. */
bool place_resume_is_over(const struct place_pass *pass);

/* ---------------------------------------------------------------- growing */

/* The snapshot for the pass: a copy with filters that the pass may narrow if exclusive
 * jobs grow. */
const struct place_snapshot *place_grow_init(struct place_pass *pass,
                                             const struct place_snapshot *snapshot);
/* Before the running job of a class is placed: limits do not count it as another job,
 * and an exclusive one may use its own hosts and empty ones. */
void place_grow_open(struct place_pass *pass, int index);
/* After that: it gets these slots; NULL if none, and then the verdict says why. */
void place_grow_close(struct place_pass *pass, const struct place_class *class,
                      const struct place_start *more, struct pending_verdict *verdict);

#endif
