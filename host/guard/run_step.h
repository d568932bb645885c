/* SPDX-License-Identifier: Apache-2.0 */
/* run_step.h: a run from its GO to its end: launches one command after the other, and
 * kills the processes that each of them leaves behind.
 *
 * The first instruction of a command comes after the record says that it has begun;
 * that of an interactive job also waits for its user. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_STEP_H
#define SUBLET_HOST_GUARD_RUN_STEP_H

#include "host/guard/guard_run.h"

/* The GO has come. */
void run_step_begin(struct guard_run *run);
/* Launches the current command, or the next one that can be launched; ends the run
 * after the last one. */
void run_step_next(struct guard_run *run);
/* A child may have ended: `signals` is readable. */
void run_step_on_child(struct guard_run *run);

#endif
