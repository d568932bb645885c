/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_hostlist.h: lists of nodes as Slurm prints them, "n[1-3,07-09],login".
 *
 * A number keeps the width that it is written with ("07" to "09"). A name may have
 * several groups of brackets; the last one counts fastest.
 *
 * Ownership: names are in the arena. Errors: ERR_PARSE for a text that is no such list;
 * ERR_BOUNDS for a name that is none of a host, or more than HOSTS_MAX names.
 * Source: Slurm's scontrol(1), "show hostnames". Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_HOSTLIST_H
#define SUBLET_SLURM_SLURM_HOSTLIST_H

#include "base/arena.h"
#include "base/err.h"

/* In the order in which they are written; "" is the empty list. */
int slurm_hostlist_read(struct arena *arena, const char *text,
                        const char *const **names, int *n_names,
                        struct err *err) MUST_CHECK;

#endif
