/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h: the cgroup (v2) of one run: born into it, frozen, killed and counted
 * as one.
 *
 * Freezing, killing and the CPU time need no controller; memory does
 * (memcg.h).
 *
 * Ownership: the cgroup outlives the guard, remove takes it away once it is empty.
 * Errors: none are fatal; a run without a cgroup is held by its session.
 * Source: PITFALLS 5. Layer: host (guard). */
#ifndef SUBLET_HOST_KERNEL_CGROUP_H
#define SUBLET_HOST_KERNEL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct cgroup {
    int dir; /* -1: none */
    const char *path;
};

static inline bool cgroup_is_open(const struct cgroup *cgroup)
{
    return cgroup->dir >= 0;
}

/* Makes, or opens what is there. `path` is borrowed. False: dir is -1. */
bool cgroup_make(struct cgroup *cgroup, const char *path);
bool cgroup_open(struct cgroup *cgroup, const char *path);
void cgroup_close(struct cgroup *cgroup);
void cgroup_remove(struct cgroup *cgroup);

/* Freezes and waits until all stand still (a second at most), or thaws. False where it
 * did not come about yet; the kernel goes on with it. */
bool cgroup_freeze(const struct cgroup *cgroup, bool is_frozen);
void cgroup_kill(const struct cgroup *cgroup);
bool cgroup_is_populated(const struct cgroup *cgroup);

/* -1 where the kernel does not tell. */
int64_t cgroup_cpu_ms(const struct cgroup *cgroup);

#endif
