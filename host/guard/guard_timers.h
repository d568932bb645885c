/* SPDX-License-Identifier: Apache-2.0 */
/* guard_timers.h: by when a guard has something to do, and what: one table of
 * deadlines.
 *
 * Each row says when it is due, from what the run is at (NEVER: not now), and what is
 * done then; so whoever changes the run's state need not think of its deadlines. What
 * stands still is not woken to be told of a limit. Of a run that has ended nothing is
 * due but what its disk has not taken.
 *
 * Units: milliseconds of the monotonic clock.
 * Order: rows that are due at once go from the top down. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_TIMERS_H
#define SUBLET_HOST_GUARD_GUARD_TIMERS_H

#include "host/guard/guard_run.h"

/* The earliest deadline; NEVER: none. */
int64_t guard_timers_next_ms(const struct guard_run *life);
/* The same as poll wants it: milliseconds from now on, -1: none. */
int guard_timers_timeout_ms(const struct guard_run *life);
/* Takes in what has changed (who is connected), and does what is due. */
void guard_timers_step(struct guard_run *life);

#endif
