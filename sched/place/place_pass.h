/* SPDX-License-Identifier: Apache-2.0 */
/* place_pass.h: the inside of a pass, for the files that make it: place.c (whose turn
 * it is, who goes on, who waits), place_fit.c (where a job fits, and why nowhere),
 * place_explain.c (what of its shape), place_reservation.c (what is kept for a job that
 * waits, and lent to others), place_estimate.c (where such a job will fit),
 * place_grow.c (what of a running job stands in its own way when it gets more). Layer:
 * sched, within place.
 */
#ifndef SUBLET_SCHED_PLACE_PLACE_PASS_H
#define SUBLET_SCHED_PLACE_PLACE_PASS_H

#include "sched/place/candidates.h"
#include "sched/place/place_alloc.h"
#include "sched/place/place_order.h"

struct place_pass {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    struct limits_tentative *draft;        /* NULL: no limits */
    struct preempt *preempt;               /* NULL: there is no preemption */
    struct reservation_pass *reservations; /* NULL: no queue reserves slots */
    uint8_t **masks; /* by class: of a growing exclusive job, the hosts that match; else
                        NULL. NULL: there is none */
    struct place_state state;
    struct place_order order;
    struct place_alloc alloc;
    int next_resume;
    bool has_exclusive_grow; /* an exclusive job would have more of its own hosts */
    int64_t next_accept_ms;  /* of the plan */
};

/* ---------------------------------------------------------------- fitting */

/* Free slots of the group, as far as `enough`. */
int place_fit_count(const struct place_pass *pass, const struct candidate_group *group,
                    int enough);
/* With the first of its alternatives for which there is enough; else the verdict says
 * what is against the first with which it could start if others ended, or against the
 * first of all. */
bool place_fit_any(struct place_pass *pass, const struct place_class *class,
                   const struct place_alloc_request *want, struct place_start *start,
                   struct pending_verdict *verdict);

/* The view's shape cannot be met by what is free, or could never be: the verdict says
 * what of it. `n_free`: hosts with free slots. */
bool place_explain_span(const struct place_pass *pass, const struct candidates *view,
                        int n_slots, int n_free, struct pending_verdict *verdict);

/* ---------------------------------------------------------------- keeping */

/* The key of the line's next job. */
uint64_t place_reservation_job(const struct place_pass *pass, int index);
/* The line's next job on what is free, or is kept for it; else, where it ends in time,
 * on what is kept for others; where a part of its time will do, in that last. */
bool place_reservation_fit(struct place_pass *pass, int index,
                           const struct place_alloc_request *want,
                           struct place_start *start, struct pending_verdict *verdict);
/* The line's next job does not start: others are preempted for it, or it reserves. */
void place_reservation_pend(struct place_pass *pass, int index,
                            struct place_plan *plan);

/* ---------------------------------------------------------------- growing */

/* The pass's own snapshot: where exclusive jobs grow, their classes have filters that
 * the pass may narrow. */
const struct place_snapshot *place_grow_init(struct place_pass *pass,
                                             const struct place_snapshot *snapshot);
/* The line's running job is looked at: it is one job to the limits all along, and an
 * exclusive one may have more of its own hosts, or hosts where nothing runs. */
void place_grow_open(struct place_pass *pass, int index);
/* It gets these slots more; NULL: none, and the verdict says why. */
void place_grow_close(struct place_pass *pass, const struct place_class *class,
                      const struct place_start *more, struct pending_verdict *verdict);

#endif
