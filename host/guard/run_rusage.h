/* SPDX-License-Identifier: Apache-2.0 */
/* run_rusage.h: the resource usage of a run: CPU time and peak memory.
 *
 * A run uses several cgroups, one after the other; the counters of each are added up
 * before it is removed. Without a cgroup that counts, usage is that of the processes
 * that live and of those that the guard has waited for.
 *
 * Units: milliseconds, KiB. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_RUSAGE_H
#define SUBLET_HOST_GUARD_RUN_RUSAGE_H

#include <stdint.h>

#include "host/exec/exec.h"
#include "host/kernel/kernel.h"

struct run_rusage {
    int64_t cpu_ms, peak_kib; /* of cgroups that were removed */
};

/* Before the cgroups are removed. */
void run_rusage_add_cgroups(struct run_rusage *rusage, const struct procs *procs);
/* All processes have ended: puts their usage into the record. */
void run_rusage_record(const struct run_rusage *rusage, struct guard_record *record);

/* Usage of the processes that live; CPU time includes those that were waited for. */
struct run_rusage_sample {
    int64_t cpu_ms, mem_kib, swap_kib, n_processes, n_threads;
};
void run_rusage_measure(const struct procs *procs, struct run_rusage_sample *sample);
/* The same with all CPU time of the run so far; notes the peak of its memory. */
void run_rusage_sample_run(struct run_rusage *rusage, const struct procs *procs,
                           struct run_rusage_sample *sample);
/* CPU time of the present cgroup, or as measured. */
int64_t run_rusage_procs_cpu_ms(const struct procs *procs);

#endif
