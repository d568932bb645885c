/* SPDX-License-Identifier: Apache-2.0 */
/* procs.h: all processes of one run, wherever they went, and what is done to all.
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
#ifndef SUBLET_HOST_KERNEL_PROCS_H
#define SUBLET_HOST_KERNEL_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/kernel/cgroup.h"
#include "host/kernel/memcg.h"

struct process;

struct procs {
    struct cgroup cgroup;
    struct memcg memory;
    pid_t guard; /* whose descendants they are; 0: it is gone */
    pid_t
        except; /* but for this one and its own: it acts on them (control_command.h) */
    /* For a guard that is gone: */
    pid_t session;
    uint64_t session_start;
    const char *mark; /* "SUBLET_RUN=..." */
};

/* Those that live, in a list that the caller frees. */
struct process *procs_members(const struct procs *crew, int *n_members);
/* Number of processes that got the signal. */
int procs_signal(const struct procs *crew, int signal);
/* Returns when all stand still; false where some could not be stopped in time. */
bool procs_suspend(const struct procs *crew);
void procs_resume(const struct procs *crew);
/* SIGKILL to all, once; returns how many were seen alive (at least; 0: none). */
int procs_kill(const struct procs *crew);

#endif
