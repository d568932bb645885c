/* SPDX-License-Identifier: Apache-2.0 */
/* control_command.h: a command of JOB_CONTROLS while it runs: what it is told, and its
 * end.
 *
 * It runs as the job's user in /tmp, without input and output, with the job's variables
 * and
 *
 *     LS_EXEC_T            JOB_CONTROLS
 *     LSB_JOBPIDS          the job's processes, with blanks between them
 *     LSB_JOBPGIDS         their process groups
 *     LSB_SUSP_REASONS     to suspend: why, by the bits of LSF's lsbatch.h
 *     LSB_SUSP_SUBREASONS  0
 *
 * It is not of the job: it stands in a session of its own outside of the job's cgroup,
 * and is not stopped with it. One that has not ended after a minute is ended with all
 * of its session.
 *
 * Units: milliseconds of the monotonic clock. Source: lsf.md 3.5.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_CONTROL_COMMAND_H
#define SUBLET_HOST_GUARD_CONTROL_COMMAND_H

#include "host/exec/run_spec.h"
#include "host/guard/launch.h"
#include "host/kernel/account.h"
#include "host/kernel/procs.h"

#define CONTROL_COMMAND_NEVER INT64_MAX

struct control_command {
    enum job_control action;
    pid_t pid;        /* 0: none runs */
    int64_t until_ms; /* it is ended then; NEVER: none runs */
};

/* Of whom it is, and on whom it acts. */
struct control_command_context {
    int dir; /* the run's */
    const struct run_spec *spec;
    const struct account *account;
    const struct procs *crew;
    int reasons; /* enum halt_cause, added up */
};

void control_command_init(struct control_command *action);
bool control_command_is_running(const struct control_command *action);
/* Begins the command of the spec; ERR_FULL where there is no room for a process. */
int control_command_begin(struct control_command *action, enum job_control which,
                          const struct control_command_context *place, int64_t now_ms,
                          struct err *err) MUST_CHECK;
/* A child has ended: true where it was this command. */
bool control_command_ended(struct control_command *action, pid_t pid);
/* SIGKILL to it and its session; its end still comes. */
void control_command_kill(struct control_command *action);

#endif
