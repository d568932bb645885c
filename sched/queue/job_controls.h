/* SPDX-License-Identifier: Apache-2.0 */
/* job_controls.h: JOB_CONTROLS of a queue, and SUSPEND_CONTROL, RESUME_CONTROL and
 * TERMINATE_CONTROL of an application: the signals or commands that suspend, resume and
 * terminate its jobs; JOB_WARNING_ACTION of either, which warns them.
 *
 *     JOB_CONTROLS = SUSPEND[SIGTSTP] RESUME[/opt/app/wake $LSB_JOBPIDS]
 *     JOB_CONTROLS = SUSPEND[brequeue $LSB_JOBID]
 *
 * A command may contain brackets in pairs. Suspension by brequeue (`sublet requeue`) is
 * carried out by the site: it terminates the job and requeues it. Commands that request
 * the control they are run for (SUSPEND[bstop], TERMINATE[bkill]) would wait for
 * themselves, and are errors.
 *
 * Ownership: texts in the arena. Errors: ERR_PARSE; ERR_UNBUILT for CHKPNT.
 * Source: docs/design/scheduling.md "Suspend, resume, terminate". Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_QUEUE_JOB_CONTROLS_H
#define SUBLET_SCHED_QUEUE_JOB_CONTROLS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/job_control.h"

struct job_controls {
    const char
        *actions[JOB_CONTROL_KINDS]; /* signal or command; NULL: the usual signals */
};

int job_controls_read(struct arena *arena, const char *text,
                      struct job_controls *controls, struct err *err) MUST_CHECK;
/* Parses one control alone, without brackets. */
int job_controls_read_one(struct arena *arena, enum job_control action,
                          const char *text, struct job_controls *controls,
                          struct err *err) MUST_CHECK;
/* True if suspension requeues the job. */
bool job_controls_requeue(const struct job_controls *controls);

#endif
