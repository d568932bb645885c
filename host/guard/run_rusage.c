/* SPDX-License-Identifier: Apache-2.0 */
/* run_rusage.c: see run_rusage.h. */
#include "host/guard/run_rusage.h"

#include <sys/resource.h>

#include "host/guard/rlimit_watch.h"

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

void run_rusage_take(struct run_rusage *use, const struct procs *crew)
{
    if (cgroup_is_open(&crew->cgroup)) {
        use->cpu_ms += larger(cgroup_cpu_ms(&crew->cgroup), 0);
    }
    use->peak_kib = larger(memcg_peak_kib(&crew->memory), use->peak_kib);
}

int64_t run_rusage_cpu_ms(const struct run_rusage *use, const struct procs *crew)
{
    return use->cpu_ms + rlimit_watch_cpu_ms(crew);
}

void run_rusage_write(const struct run_rusage *use, struct guard_record *record)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    record->cpu_ms = (uint64_t)larger(use->cpu_ms, rlimit_watch_waited_ms());
    record->mem_kib = (uint64_t)larger(use->peak_kib, usage.ru_maxrss);
}
