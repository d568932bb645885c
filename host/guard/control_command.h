/* SPDX-License-Identifier: Apache-2.0 */
/* control_command.h: runs a command of JOB_CONTROLS.
 *
 * It runs as the job's user in /tmp, without input and output, with the environment of
 * the job and
 *
 *     LS_EXEC_T            JOB_CONTROLS
 *     LSB_JOBPIDS          the job's processes, separated by blanks
 *     LSB_JOBPGIDS         their process groups
 *     LSB_SUSP_REASONS     for suspend: the reasons, by the bits of LSF's lsbatch.h
 *     LSB_SUSP_SUBREASONS  0
 *
 * It does not belong to the job: it has a session of its own outside of the job's
 * cgroup, and is not stopped with the job.
 *
 * Source: docs/design/scheduling.md
 * "Suspend, resume, terminate". Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_CONTROL_COMMAND_H
#define SUBLET_HOST_GUARD_CONTROL_COMMAND_H

#include "host/exec/exec.h"
#include "host/kernel/kernel.h"

struct control_command_context {
    int dir; /* the run's */
    const struct run_spec *spec;
    const struct account *account;
    const struct procs *procs; /* the processes that it acts on */
    int reasons;               /* enum suspend_cause, added up */
};

/* Launches the command of the spec. Errors: ERR_FULL no process can be made. */
int control_command_launch(enum job_control which,
                           const struct control_command_context *context, pid_t *pid,
                           struct err *err) MUST_CHECK;

#endif
