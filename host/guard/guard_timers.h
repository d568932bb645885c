/* SPDX-License-Identifier: Apache-2.0 */
/* guard_timers.h: the deadlines of a guard, and what is done at each, as one table.
 *
 * Each row computes from the state of the run when it is due (NEVER: not now), so code
 * that changes the state need not maintain the deadlines. A suspended run is not
 * resumed for a limit. After the end of the run only the record on disk may still be
 * due.
 *
 * Units: milliseconds of the monotonic clock.
 * Order: rows that are due at the same time go from the top down. Layer: host (guard).
 */
#ifndef SUBLET_HOST_GUARD_GUARD_TIMERS_H
#define SUBLET_HOST_GUARD_GUARD_TIMERS_H

#include "host/guard/guard_run.h"

/* The earliest deadline; NEVER: none. */
int64_t guard_timers_next_ms(const struct guard_run *run);
/* The same for poll: milliseconds from now on, -1: none. */
int guard_timers_timeout_ms(const struct guard_run *run);
/* Notices which agents are connected, and does what is due. */
void guard_timers_step(struct guard_run *run);

#endif
