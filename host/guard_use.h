/* SPDX-License-Identifier: Apache-2.0 */
/* guard_use.h: what a run has used: CPU time and its peak of memory.
 *
 * A run goes through several cgroups, one after the other; what each has counted is
 * taken over before it goes. Where there is none, or it does not count, the processes
 * are asked that are there, and those that the guard has waited for.
 *
 * Units: milliseconds, KiB. Layer: host (guard). */
#ifndef SUBLET_HOST_GUARD_USE_H
#define SUBLET_HOST_GUARD_USE_H

#include <stdint.h>

#include "host/guard_crew.h"
#include "host/guard_record.h"

struct guard_use {
    int64_t cpu_ms, peak_kib; /* of cgroups that are gone */
};

/* Before the crew's cgroups go. */
void guard_use_take(struct guard_use *use, const struct guard_crew *crew);
/* All CPU time so far. */
int64_t guard_use_cpu_ms(const struct guard_use *use, const struct guard_crew *crew);
/* All processes have ended: the use of all of them goes on record. */
void guard_use_write(const struct guard_use *use, struct guard_record *record);

#endif
