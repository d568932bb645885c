/* SPDX-License-Identifier: Apache-2.0 */
/* place_affinity.h: the processors that a pass gives to jobs with affinity. Suspended
 * jobs keep theirs, so that such a job does not preempt.
 *
 * Ownership: the arena's. Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_AFFINITY_H
#define SUBLET_SCHED_PLACE_PLACE_AFFINITY_H

#include "sched/place/place_state.h"

/* The affinity of a job that reserves like this; NULL: it has none. */
const struct affinity_request *place_affinity_of(const struct rusage_request *rusage);
/* Tasks that fit on the host now, up to its slots; 0 where the host is kept. */
int place_affinity_room(const struct place_state *state, int host,
                        const struct affinity_request *request);
/* The start's tasks get their processors, and its binding. `indexes` are those of its
 * hosts. False: the binding is too long, or there is no room; nothing is taken. */
bool place_affinity_take(const struct place_state *state,
                         const struct affinity_request *request,
                         struct place_start *start, const int *indexes);

/* The host is kept for a reservation more (`sign` 1) or less (-1). */
void place_affinity_keep(const struct place_state *state, int host, int sign);

/* For an estimate of later: the host is as it is now in the pass, or `is_idle`: no
 * processor of it is used, and with `is_last` it is kept for nothing. */
void place_affinity_assume(const struct place_state *then,
                           const struct place_state *now, int host, bool is_idle,
                           bool is_last);
/* Forgets what is in an arena that is about to be cleared. */
void place_affinity_forget(const struct place_state *state);

#endif
