/* SPDX-License-Identifier: Apache-2.0 */
/* local_resources.h: LSF_LOCAL_RESOURCES, what an administrator says that a host has.
 *
 *     [resource linux] [!bigmem] [resourcemap 2*verilog] [type X86_64] [model EPYC]
 *
 * `[resource NAME]`, or a bare `[NAME]`: the Boolean is there; `!` before it: for jobs
 * that ask for it, alone. `[resourcemap VALUE*NAME]`: so much of it, or this text.
 * `[type T]`, `[model M]`: instead of what is detected.
 *
 * Ownership: the values point into the arena.
 * Errors: ERR_PARSE, ERR_BOUNDS with the part that is wrong.
 * Source: LSF's lsf.conf; the seed's section on exclusive resources.
 * Layer: model. */
#ifndef SUBLET_MODEL_LOCAL_RESOURCES_H
#define SUBLET_MODEL_LOCAL_RESOURCES_H

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

enum { LOCAL_RESOURCES_MAX = 32 }; /* with the rest below LOAD_VALUES_MAX */

/* `values` has room for LOCAL_RESOURCES_MAX. */
int local_resources_read(struct arena *arena, const char *text,
                         struct load_value *values, int *n_values,
                         struct err *err) MUST_CHECK;

#endif
