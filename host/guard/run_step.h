/* SPDX-License-Identifier: Apache-2.0 */
/* run_step_next.h: a run from its go to its end: from one command of its course to the
 * next, with whatever processes each of them leaves behind.
 *
 * A command ends when its main process does. What the job left behind is killed before
 * those after it begin, and once more at the end. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_STEP_H
#define SUBLET_HOST_GUARD_RUN_STEP_H

#include "host/guard/guard_run.h"

/* The go has come. */
void run_step_begin(struct guard_run *life);
/* The next command that can be begun; the end of the run where there is none. */
void run_step_next(struct guard_run *life);
/* A child may have ended: `signals` is readable. */
void run_step_on_child(struct guard_run *life);

#endif
