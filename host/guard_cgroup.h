/* SPDX-License-Identifier: Apache-2.0 */
/* guard_cgroup.h: the cgroup (v2) of one run: born into it, frozen, killed and counted
 * as one.
 *
 * Freezing, killing and the CPU time need no controller; memory does
 * (guard_memory.h).
 *
 * Ownership: the cgroup outlives the guard, remove takes it away once it is empty.
 * Errors: none are fatal; a run without a cgroup is held by its session.
 * Source: PITFALLS 5. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_CGROUP_H
#define SUBLET_HOST_GUARD_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct guard_cgroup {
    int dir; /* -1: none */
    const char *path;
};

static inline bool guard_cgroup_is_made(const struct guard_cgroup *cgroup)
{
    return cgroup->dir >= 0;
}

/* Makes, or opens what is there. `path` is borrowed. False: dir is -1. */
bool guard_cgroup_make(struct guard_cgroup *cgroup, const char *path);
bool guard_cgroup_open(struct guard_cgroup *cgroup, const char *path);
void guard_cgroup_close(struct guard_cgroup *cgroup);
void guard_cgroup_remove(struct guard_cgroup *cgroup);

/* Freezes and waits until all stand still (a second at most), or thaws. False where it
 * did not come about yet; the kernel goes on with it. */
bool guard_cgroup_freeze(const struct guard_cgroup *cgroup, bool is_frozen);
void guard_cgroup_kill(const struct guard_cgroup *cgroup);
bool guard_cgroup_is_populated(const struct guard_cgroup *cgroup);

/* -1 where the kernel does not tell. */
int64_t guard_cgroup_cpu_ms(const struct guard_cgroup *cgroup);

#endif
