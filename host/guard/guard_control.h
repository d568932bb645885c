/* SPDX-License-Identifier: Apache-2.0 */
/* guard_control.h: control requests for a run, and what they do to its processes:
 * suspend, resume, signal, terminate.
 *
 * A request whose number was carried out already is answered and not repeated. One that
 * comes before the GO is stored and carried out after it; a kill ends the run at once.
 * A kill, and a limit, send signals to all processes (escalation in exec.h), after a
 * resume. They terminate the current command: before the job this keeps the job from
 * beginning, after the job it does not change the result. The job may have commands of
 * its own for suspend, resume and terminate (JOB_CONTROLS, control_command.h).
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_GUARD_CONTROL_H
#define SUBLET_HOST_GUARD_GUARD_CONTROL_H

#include "host/guard/guard_run.h"

/* Checks a request, and carries it out or answers it. */
void guard_control_request(struct guard_run *run, const struct guard_request *request);
/* Carries out a valid request, for a run that has begun. */
void guard_control_apply(struct guard_run *run, const struct run_control *control);

/* Terminates the current command, beginning with this signal (SIGXCPU, SIGINT,
 * SIGKILL). A suspended command is resumed, or it could not react to the signals,
 * except for SIGKILL: its slots may be in use by other jobs. */
void guard_control_terminate(struct guard_run *run, int signal);
/* Sends the next of these signals, if it is due. */
void guard_control_escalate(struct guard_run *run, int64_t now);

/* Stops all processes. SUSPENDED is reported only once all of them are stopped, because
 * other jobs get the slots then. */
void guard_control_suspend(struct guard_run *run);
/* Kills the running command of JOB_CONTROLS, if any. */
void guard_control_kill_command(struct guard_run *run);
/* That command has ended or was killed for its time: continues what it was for. */
void guard_control_command_ended(struct guard_run *run);

#endif
