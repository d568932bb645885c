/* SPDX-License-Identifier: Apache-2.0 */
/* guard_advance.h: a run from its go to its end: from one command of its course to the
 * next, with whatever processes each of them leaves behind.
 *
 * A command ends when its main process does. What the job left behind is killed before
 * those after it begin, and once more at the end. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_ADVANCE_H
#define SUBLET_HOST_GUARD_ADVANCE_H

#include "host/guard_life.h"

/* The go has come. */
void guard_advance_begin(struct guard_life *life);
/* The next command that can be begun; the end of the run where there is none. */
void guard_advance(struct guard_life *life);
/* A child may have ended: `signals` is readable. */
void guard_advance_on_child(struct guard_life *life);

#endif
