/* SPDX-License-Identifier: Apache-2.0 */
/* run_step_start.h: the beginning of one command of a run: its cgroup, its process at
 * the gate, its clocks.
 *
 * Its first instruction comes after the record says that it has begun; that of an
 * interactive job waits for its user besides. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_STEP_START_H
#define SUBLET_HOST_GUARD_RUN_STEP_START_H

#include "host/guard/guard_run.h"

/* The one that the course is at. Errors: nothing of it is left. */
int run_step_start_command(struct guard_run *life, struct err *err) MUST_CHECK;

#endif
