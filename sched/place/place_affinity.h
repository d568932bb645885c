/* SPDX-License-Identifier: Apache-2.0 */
/* place_affinity.h: the processors that a pass gives to jobs with affinity. Suspended
 * jobs keep theirs, so that such a job neither preempts nor reserves.
 *
 * Ownership: the arena's. Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_AFFINITY_H
#define SUBLET_SCHED_PLACE_PLACE_AFFINITY_H

#include "sched/place/place_state.h"

/* The affinity of a job that reserves like this; NULL: it has none. */
const struct affinity_request *place_affinity_of(const struct rusage_request *rusage);
/* Tasks that fit on the host now, up to its slots. */
int place_affinity_room(const struct place_state *state, int host,
                        const struct affinity_request *request);
/* The start's tasks get their processors, and its binding. `indexes` are those of its
 * hosts. False: the binding is too long, or there is no room; nothing is taken. */
bool place_affinity_take(const struct place_state *state,
                         const struct affinity_request *request,
                         struct place_start *start, const int *indexes);

#endif
