/* SPDX-License-Identifier: Apache-2.0 */
/* queue_demand.h: what the waiting jobs of each queue could start with if a pool had
 * any number of hosts that suit them: what a leaf of a plan wants (USAGE).
 *
 * Jobs do not count that could not start whatever slots there are: those of a queue
 * that is inactive or whose window is closed, those beyond a limit on users, queues or
 * projects, and elements beyond the limit of their array. The slots that remain are
 * listed by the size of the jobs, because a job of 8 slots can do nothing with 5; the
 * broker knows how many a leaf may have. Which hosts suit a job is told by a digest
 * only: if it changes, other jobs wait, and a leaf whose jobs could not use its slots
 * is asked again.
 *
 * Units: slots. Ownership: the arena's. Order: queues as configured, sizes growing.
 * Source: docs/design/plans.md "Decided". Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_QUEUE_DEMAND_H
#define SUBLET_SITE_EXCHANGE_QUEUE_DEMAND_H

#include "site/config/site_config.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"

struct queue_demand_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    int64_t local_ms;
};

/* `has_pool`: by queue, whether its jobs may use slots of a pool; others are left out.
 * At most QUEUES_MAX rows. Returns how many. */
int queue_demand_read(const struct queue_demand_parts *parts, const bool *has_pool,
                      struct arena *arena, const struct queue_demand **demands);

#endif
