/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit_watch.h: the resource limits of a job: those that the kernel enforces for each
 * process, and those that the guard watches for all processes together.
 *
 * The kernel enforces the sizes of files, data segments, stacks and core files and the
 * CPU time of single processes, and the memory of the run if there is a memory
 * controller. The guard checks the others from time to time: CPU time as the cgroup
 * counts it, else (and the other limits always) the sum over the processes that live
 * and those that were waited for. Checks take at most a fiftieth of a processor.
 *
 * Units: milliseconds of the monotonic clock, KiB. Source: LSF's lsb.queues.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RLIMIT_WATCH_H
#define SUBLET_HOST_GUARD_RLIMIT_WATCH_H

#include "host/exec/exec.h"
#include "host/kernel/kernel.h"

struct rlimit_watch {
    const struct job_rlimits *limits;
    int64_t cpu_before_ms;  /* used by pre-exec commands */
    bool has_kernel_memory; /* the kernel enforces the memory limit (memcg) */
    bool counts_kills;      /* ... and kills single processes: the count is checked */
    int64_t n_oom_kills;    /* the kernel's count before the job */
    int64_t check_at;       /* the next check; INT64_MAX: nothing is watched */
    enum run_cause exceeded;
};

/* Sets the limits of the kernel, in the job's process, before it switches to its
 * account. `is_leased`: its priority must not be above that of the host's own jobs. */
void rlimit_watch_impose(const struct job_rlimits *limits, bool is_leased);

/* The job is about to begin. */
void rlimit_watch_begin(struct rlimit_watch *watch, const struct job_rlimits *limits,
                        const struct procs *procs, int64_t now_ms);
/* The memory limit has become another one while the job runs. */
void rlimit_watch_change(struct rlimit_watch *watch, const struct procs *procs,
                         int64_t now_ms);
/* Checks the limits if that is due; NONE: none is exceeded. */
enum run_cause rlimit_watch_check(struct rlimit_watch *watch, const struct procs *procs,
                                  int64_t now_ms);
/* The job has ended with this wait status: the limit that was the cause, or NONE. */
enum run_cause rlimit_watch_cause(const struct rlimit_watch *watch,
                                  const struct procs *procs, int status);

#endif
