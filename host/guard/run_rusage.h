/* SPDX-License-Identifier: Apache-2.0 */
/* run_rusage.h: what a run has used: CPU time and its peak of memory.
 *
 * A run goes through several cgroups, one after the other; what each has counted is
 * taken over before it goes. Where there is none, or it does not count, the processes
 * are asked that are there, and those that the guard has waited for.
 *
 * Units: milliseconds, KiB. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_RUN_RUSAGE_H
#define SUBLET_HOST_GUARD_RUN_RUSAGE_H

#include <stdint.h>

#include "host/exec/guard_record.h"
#include "host/kernel/procs.h"

struct run_rusage {
    int64_t cpu_ms, peak_kib; /* of cgroups that are gone */
};

/* Before the crew's cgroups go. */
void run_rusage_take(struct run_rusage *use, const struct procs *crew);
/* All CPU time so far. */
int64_t run_rusage_cpu_ms(const struct run_rusage *use, const struct procs *crew);
/* All processes have ended: the use of all of them goes on record. */
void run_rusage_write(const struct run_rusage *use, struct guard_record *record);

#endif
