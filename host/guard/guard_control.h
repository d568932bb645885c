/* SPDX-License-Identifier: Apache-2.0 */
/* guard_control.h: what a run is told to do, and what is done to its processes then:
 * stand still, go on, hear a signal, end.
 *
 * An order whose number was carried out is answered and not repeated. One that comes
 * before the go is kept; a kill ends the run then and there. A site's JOB_CONTROLS
 * (control_command.h) may say how the job itself stands still, goes on and ends.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_CONTROL_H
#define SUBLET_HOST_GUARD_GUARD_CONTROL_H

#include "host/guard/guard_run.h"

/* An order by number: checked, and carried out or answered. */
void guard_control_request(struct guard_run *life, const struct guard_request *order);
/* One that is known to be good, of a run that has begun. */
void guard_control_apply(struct guard_run *life, const struct run_control *control);

/* Ends the command that runs, by the signals from this one on (SIGXCPU, SIGINT). A
 * suspended one is resumed, or it could not hear the signals and clean up; one whose
 * slots are others' (SIGKILL) ends where it stands. */
void guard_control_terminate(struct guard_run *life, int signal);
/* The next of these signals, if it is due. */
void guard_control_escalate(struct guard_run *life, int64_t now);

/* Says that it stands still only once all of it does: others get its slots then. */
void guard_control_suspend(struct guard_run *life);
/* No command of JOB_CONTROLS runs any more. */
void guard_control_kill_command(struct guard_run *life);
/* It has ended, or had its time: what it was to bring about is done. */
void guard_control_command_ended(struct guard_run *life);

#endif
