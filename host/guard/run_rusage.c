/* SPDX-License-Identifier: Apache-2.0 */
/* run_rusage.c: see run_rusage.h. */
#include "host/guard/run_rusage.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* CPU time of all processes that the guard has waited for, and of their children that
 * they have waited for. */
static int64_t waited_cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

void run_rusage_measure(const struct procs *procs, struct run_rusage_sample *sample)
{
    int n_members = 0;
    int64_t page_kib = sysconf(_SC_PAGESIZE) / 1024, ticks = 0;
    struct process *members = procs_members(procs, &n_members);
    *sample = (struct run_rusage_sample){.n_processes = n_members};
    for (int i = 0; i < n_members; i++) {
        ticks += (int64_t)members[i].cpu_ticks;
        sample->mem_kib += (int64_t)members[i].resident_pages * page_kib;
        sample->swap_kib += (int64_t)(members[i].virtual_bytes / 1024);
        sample->n_threads += (int64_t)members[i].n_threads;
    }
    free(members);
    sample->cpu_ms = waited_cpu_ms() + ticks * 1000 / sysconf(_SC_CLK_TCK);
}

/* -1: nothing counts. */
static int64_t counted_cpu_ms(const struct procs *procs)
{
    return cgroup_is_open(&procs->cgroup) ? cgroup_cpu_ms(&procs->cgroup) : -1;
}

int64_t run_rusage_procs_cpu_ms(const struct procs *procs)
{
    int64_t counted_ms = counted_cpu_ms(procs);
    struct run_rusage_sample sample;
    if (counted_ms >= 0) {
        return counted_ms;
    }
    run_rusage_measure(procs, &sample);
    return sample.cpu_ms;
}

void run_rusage_add_cgroups(struct run_rusage *rusage, const struct procs *procs)
{
    rusage->cpu_ms += larger(counted_cpu_ms(procs), 0);
    rusage->peak_kib = larger(memcg_peak_kib(&procs->memcg), rusage->peak_kib);
}

void run_rusage_sample_run(struct run_rusage *rusage, const struct procs *procs,
                           struct run_rusage_sample *sample)
{
    int64_t counted_ms = counted_cpu_ms(procs);
    run_rusage_measure(procs, sample);
    sample->cpu_ms = rusage->cpu_ms + (counted_ms >= 0 ? counted_ms : sample->cpu_ms);
    rusage->peak_kib = larger(larger(memcg_peak_kib(&procs->memcg), sample->mem_kib),
                              rusage->peak_kib);
}

void run_rusage_record(const struct run_rusage *rusage, struct guard_record *record)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    record->cpu_ms = (uint64_t)larger(rusage->cpu_ms, waited_cpu_ms());
    record->mem_kib = (uint64_t)larger(rusage->peak_kib, usage.ru_maxrss);
}
