/* SPDX-License-Identifier: Apache-2.0 */
/* guard_memory.h: the memory of one run as the kernel counts and limits it, by the
 * memory controller of cgroups, version 2 or 1.
 *
 * Version 2: files of the run's own cgroup, where the controller is there. Version 1: a
 * second cgroup of the run, in that controller's hierarchy, which its processes are put
 * in before their first instruction; nothing but memory is done by it.
 *
 * A run that goes beyond its limit loses processes by SIGKILL: all of them in version
 * 2, in version 1 one after the other, so that the guard has to look.
 *
 * Units: KiB. Ownership: a cgroup of version 1 outlives the guard, remove takes it away
 * once it is empty; `path` is borrowed. Errors: none are fatal, the guard looks at the
 * processes where the kernel does not. Source: cgroup-v2.rst, cgroup-v1/memory.rst.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_MEMORY_H
#define SUBLET_HOST_GUARD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/guard_cgroup.h"

struct guard_memory {
    int dir;          /* -1: the kernel keeps nothing */
    const char *path; /* of a cgroup of version 1; NULL: version 2, `dir` is borrowed */
};

static inline bool guard_memory_is_kept(const struct guard_memory *memory)
{
    return memory->dir >= 0;
}

void guard_memory_init(struct guard_memory *memory);
/* Version 2: what the run's cgroup has of it. False: nothing. */
bool guard_memory_share(struct guard_memory *memory, const struct guard_cgroup *cgroup);
/* Version 1: makes the cgroup, or opens what is there. False: nothing is kept. */
bool guard_memory_make(struct guard_memory *memory, const char *path);
/* Version 1: this process, and all that it will start, count in it. */
bool guard_memory_enter(const struct guard_memory *memory, pid_t pid);
/* All have ended, or nobody has come. */
void guard_memory_remove(struct guard_memory *memory);

/* The kernel keeps the run below that; false where it cannot, or no more. */
bool guard_memory_limit(const struct guard_memory *memory, int64_t kib);
/* How often it has killed for that; -1: it does not tell. */
int64_t guard_memory_kills(const struct guard_memory *memory);
/* Whether it then ends the whole run, so that nobody has to look. */
bool guard_memory_kills_all(const struct guard_memory *memory);
int64_t guard_memory_peak_kib(const struct guard_memory *memory); /* -1: not told */

#endif
