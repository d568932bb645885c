/* SPDX-License-Identifier: Apache-2.0 */
/* memcg.h: the memory of one run as the kernel counts and limits it, by the
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
#ifndef SUBLET_HOST_KERNEL_MEMCG_H
#define SUBLET_HOST_KERNEL_MEMCG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/kernel/cgroup.h"

struct memcg {
    int dir;          /* -1: the kernel keeps nothing */
    const char *path; /* of a cgroup of version 1; NULL: version 2, `dir` is borrowed */
};

static inline bool memcg_is_open(const struct memcg *memory)
{
    return memory->dir >= 0;
}

void memcg_init(struct memcg *memory);
/* Version 2: what the run's cgroup has of it. False: nothing. */
bool memcg_use_cgroup(struct memcg *memory, const struct cgroup *cgroup);
/* Version 1: makes the cgroup, or opens what is there. False: nothing is kept. */
bool memcg_make(struct memcg *memory, const char *path);
/* Version 1: this process, and all that it will start, count in it. */
bool memcg_add_process(const struct memcg *memory, pid_t pid);
/* All have ended, or nobody has come. */
void memcg_remove(struct memcg *memory);

/* The kernel keeps the run below that; false where it cannot, or no more. */
bool memcg_set_limit(const struct memcg *memory, int64_t kib);
/* How often it has killed for that; -1: it does not tell. */
int64_t memcg_oom_kills(const struct memcg *memory);
/* Whether it then ends the whole run, so that nobody has to look. */
bool memcg_kills_whole_run(const struct memcg *memory);
int64_t memcg_peak_kib(const struct memcg *memory); /* -1: not told */

#endif
