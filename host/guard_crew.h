/* SPDX-License-Identifier: Apache-2.0 */
/* guard_crew.h: all processes of one run, wherever they went, and what is done to all.
 *
 * While the guard lives they are its descendants, completely: as a subreaper it
 * inherits whatever was orphaned, also after setsid and double forks. Of a run whose
 * guard was killed they are its cgroup, those of the job's session, and those that
 * carry the run's mark in their environment.
 *
 * Where the run has a cgroup, freezing and killing go through it and miss nobody.
 * Without one they go by signals to each process, again until a look finds nobody left.
 *
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_CREW_H
#define SUBLET_HOST_GUARD_CREW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/guard_cgroup.h"
#include "host/guard_memory.h"

struct guard_process;

struct guard_crew {
    struct guard_cgroup cgroup;
    struct guard_memory memory;
    pid_t guard;  /* whose descendants they are; 0: it is gone */
    pid_t except; /* but for this one and its own: it acts on them (guard_action.h) */
    /* For a guard that is gone: */
    pid_t session;
    uint64_t session_start;
    const char *mark; /* "SUBLET_RUN=..." */
};

/* Those that live, in a list that the caller frees. */
struct guard_process *guard_crew_members(const struct guard_crew *crew, int *n_members);
/* Number of processes that got the signal. */
int guard_crew_signal(const struct guard_crew *crew, int signal);
/* Returns when all stand still; false where some could not be stopped in time. */
bool guard_crew_suspend(const struct guard_crew *crew);
void guard_crew_resume(const struct guard_crew *crew);
/* SIGKILL to all, once; returns how many were seen alive (at least; 0: none). */
int guard_crew_kill(const struct guard_crew *crew);

#endif
