/* SPDX-License-Identifier: Apache-2.0 */
/* rlimit_watch.h: a run's limits: those that the kernel keeps for each process, and
 * those that the guard watches over all of them together.
 *
 * The kernel keeps the sizes of files, data segments, stacks and core files, and the
 * CPU time of each single process; the memory of a run where there is a memory
 * controller for it. All else is looked at now and then: CPU time as its cgroup counts
 * it, else (and the rest always) by the processes that are there and those that were
 * waited for. A look is taken no more often than that it costs a fiftieth of a
 * processor.
 *
 * Units: milliseconds of the monotonic clock, KiB. Source: LSF's lsb.queues.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RLIMIT_WATCH_H
#define SUBLET_HOST_GUARD_RLIMIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "host/kernel/procs.h"
#include "model/job_rlimit.h"
#include "model/msg.h"

struct rlimit_watch {
    const struct job_rlimits *limits;
    int64_t cpu_before_ms;  /* what the commands before the job have used */
    bool has_kernel_memory; /* the kernel keeps the memory limit (memcg.h) */
    bool counts_kills;      /* ... and kills one by one: it is looked at */
    int64_t n_oom_kills;    /* that it has counted before the job */
    int64_t look_at;        /* the next look; INT64_MAX: nothing is watched */
    enum run_cause exceeded;
};

/* In the job's process, before it becomes its account. `is_leased`: somebody else's
 * work does not go before the host's own. */
void rlimit_watch_impose(const struct job_rlimits *limits, bool is_leased);

/* The job itself is about to begin, in this crew. */
void rlimit_watch_begin(struct rlimit_watch *watch, const struct job_rlimits *limits,
                        const struct procs *crew, int64_t now_ms);
/* Looks if it is time; NONE: nothing is exceeded. */
enum run_cause rlimit_watch_check(struct rlimit_watch *watch, const struct procs *crew,
                                  int64_t now_ms);
/* The job has ended with this wait status: what of the limits was behind that. */
enum run_cause rlimit_watch_cause(const struct rlimit_watch *watch,
                                  const struct procs *crew, int status);

/* CPU time of the crew's processes, ended ones too; and of those alone that the guard
 * has waited for. */
int64_t rlimit_watch_cpu_ms(const struct procs *crew);
int64_t rlimit_watch_waited_ms(void);

#endif
