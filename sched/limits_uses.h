/* SPDX-License-Identifier: Apache-2.0 */
/* limits_uses.h: what counts for limits now, to be shown: by limit, then by whose it
 * is.
 *
 * Units: slots, jobs. Ownership: lists are the arena's. Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMITS_USES_H
#define SUBLET_SCHED_LIMITS_USES_H

#include "sched/limits.h"

struct limits_use {
    int limit;                     /* its place in the list */
    const char *each[LIMIT_SIDES]; /* whose it is; NULL: nobody has it each */
    int n_slots, n_jobs;
};

/* All limits for which something counts, once for each of those who have them each.
 * Order: the list's, then by users, queues, hosts, projects. Returns their number. */
int limits_uses_list(const struct limits *limits, struct arena *arena,
                     const struct limits_use **uses);

#endif
