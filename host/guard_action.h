/* SPDX-License-Identifier: Apache-2.0 */
/* guard_action.h: a command of JOB_CONTROLS while it runs: what it is told, and its
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
#ifndef SUBLET_HOST_GUARD_ACTION_H
#define SUBLET_HOST_GUARD_ACTION_H

#include "host/guard_account.h"
#include "host/guard_crew.h"
#include "host/guard_job.h"
#include "host/guard_spec.h"

#define GUARD_ACTION_NEVER INT64_MAX

struct guard_action {
    enum job_control action;
    pid_t pid;        /* 0: none runs */
    int64_t until_ms; /* it is ended then; NEVER: none runs */
};

/* Of whom it is, and on whom it acts. */
struct guard_action_place {
    int dir; /* the run's */
    const struct guard_spec *spec;
    const struct guard_account *account;
    const struct guard_crew *crew;
    int reasons; /* enum halt_cause, added up */
};

void guard_action_init(struct guard_action *action);
bool guard_action_is_on(const struct guard_action *action);
/* Begins the command of the spec; ERR_FULL where there is no room for a process. */
int guard_action_begin(struct guard_action *action, enum job_control which,
                       const struct guard_action_place *place, int64_t now_ms,
                       struct err *err) MUST_CHECK;
/* A child has ended: true where it was this command. */
bool guard_action_ended(struct guard_action *action, pid_t pid);
/* SIGKILL to it and its session; its end still comes. */
void guard_action_kill(struct guard_action *action);

#endif
