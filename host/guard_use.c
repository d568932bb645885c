/* SPDX-License-Identifier: Apache-2.0 */
/* guard_use.c: see guard_use.h. */
#include "host/guard_use.h"

#include <sys/resource.h>

#include "host/guard_limits.h"

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

void guard_use_take(struct guard_use *use, const struct guard_crew *crew)
{
    if (guard_cgroup_is_made(&crew->cgroup)) {
        use->cpu_ms += larger(guard_cgroup_cpu_ms(&crew->cgroup), 0);
    }
    use->peak_kib = larger(guard_memory_peak_kib(&crew->memory), use->peak_kib);
}

int64_t guard_use_cpu_ms(const struct guard_use *use, const struct guard_crew *crew)
{
    return use->cpu_ms + guard_limits_cpu_ms(crew);
}

void guard_use_write(const struct guard_use *use, struct guard_record *record)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    record->cpu_ms = (uint64_t)larger(use->cpu_ms, guard_limits_waited_ms());
    record->mem_kib = (uint64_t)larger(use->peak_kib, usage.ru_maxrss);
}
