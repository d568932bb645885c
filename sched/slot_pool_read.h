/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool_read.h: SLOT_POOL, SLOT_SHARE, MAX_SLOTS_IN_POOL and USE_PRIORITY_IN_POOL
 * of the queues, as pools.
 *
 * MAX_SLOTS_IN_POOL and USE_PRIORITY_IN_POOL stand in the pool's first queue by
 * priority. Ownership: in conf's arena. Errors: diagnostics. Source: seed 004; lsf.md
 * 2.1. Layer: sched (base only). */
#ifndef SUBLET_SCHED_SLOT_POOL_READ_H
#define SUBLET_SCHED_SLOT_POOL_READ_H

#include "base/conf.h"
#include "sched/groups.h"
#include "sched/queue.h"
#include "sched/share_config.h"
#include "sched/slot_pool.h"

/* The queues are as queue_read gave them. */
void slot_pool_read(struct conf *conf, const struct groups *groups,
                    const struct queue_config *queues, int n_queues,
                    const struct share_config *shares, struct slot_pools *pools);

#endif
