/* SPDX-License-Identifier: Apache-2.0 */
/* limit_usage.h: what counts for limits now, to be shown: by limit, then by whose it
 * is.
 *
 * Units: slots, jobs. Ownership: lists are the arena's. Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMIT_LIMIT_USAGE_H
#define SUBLET_SCHED_LIMIT_LIMIT_USAGE_H

#include "sched/limit/limit.h"

struct limit_usage {
    int limit;                     /* its place in the list */
    const char *each[LIMIT_SIDES]; /* whose it is; NULL: nobody has it each */
    int n_slots, n_jobs;
};

/* All limits for which something counts, once for each of those who have them each.
 * Order: the list's, then by users, queues, hosts, projects. Returns their number. */
int limit_usage_list(const struct limits *limits, struct arena *arena,
                     const struct limit_usage **uses);

#endif
