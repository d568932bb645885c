/* SPDX-License-Identifier: Apache-2.0 */
/* guard_start.h: the beginning of one command of a run: its cgroup, its process at the
 * gate, its clocks.
 *
 * Its first instruction comes after the record says that it has begun; that of an
 * interactive job waits for its user besides. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_START_H
#define SUBLET_HOST_GUARD_START_H

#include "host/guard_life.h"

/* The one that the course is at. Errors: nothing of it is left. */
int guard_start_command(struct guard_life *life, struct err *err) MUST_CHECK;

#endif
