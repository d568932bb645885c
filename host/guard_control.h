/* SPDX-License-Identifier: Apache-2.0 */
/* guard_control.h: what a run is told to do, and what is done to its processes then:
 * stand still, go on, hear a signal, end.
 *
 * An order whose number was carried out is answered and not repeated. One that comes
 * before the go is kept; a kill ends the run then and there. A site's JOB_CONTROLS
 * (guard_action.h) may say how the job itself stands still, goes on and ends.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_CONTROL_H
#define SUBLET_HOST_GUARD_CONTROL_H

#include "host/guard_life.h"

/* An order by number: checked, and carried out or answered. */
void guard_control_order(struct guard_life *life, const struct guard_order *order);
/* One that is known to be good, of a run that has begun. */
void guard_control_carry_out(struct guard_life *life,
                             const struct run_control *control);

/* Ends the command that runs, by the signals from this one on (SIGXCPU, SIGINT). A
 * suspended one is resumed, or it could not hear the signals and clean up; one whose
 * slots are others' (SIGKILL) ends where it stands. */
void guard_control_end(struct guard_life *life, int signal);
/* The next of these signals, if it is due. */
void guard_control_climb(struct guard_life *life, int64_t now);

/* Says that it stands still only once all of it does: others get its slots then. */
void guard_control_stop_all(struct guard_life *life);
/* No command of JOB_CONTROLS runs any more. */
void guard_control_end_action(struct guard_life *life);
/* It has ended, or had its time: what it was to bring about is done. */
void guard_control_after_action(struct guard_life *life);

#endif
