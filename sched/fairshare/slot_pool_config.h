/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool_config_read.h: SLOT_POOL, SLOT_SHARE, MAX_SLOTS_IN_POOL and
 * USE_PRIORITY_IN_POOL of the queues, as pools.
 *
 * MAX_SLOTS_IN_POOL and USE_PRIORITY_IN_POOL stand in the pool's first queue by
 * priority. Ownership: in conf's arena. Errors: diagnostics. Source: seed 004; lsf.md
 * 2.1. Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_SLOT_POOL_CONFIG_H
#define SUBLET_SCHED_FAIRSHARE_SLOT_POOL_CONFIG_H

#include "base/conf.h"
#include "sched/fairshare/fairshare.h"
#include "sched/fairshare/slot_pool.h"
#include "sched/queue/groups.h"
#include "sched/queue/queue.h"

/* The queues are as queue_read gave them. */
void slot_pool_config_read(struct conf *conf, const struct groups *groups,
                           const struct queue_config *queues, int n_queues,
                           const struct fairshare *shares, struct slot_pools *pools);

#endif
