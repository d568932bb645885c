/* SPDX-License-Identifier: Apache-2.0 */
/* pool_execute.h: executes a cycle: grants for the contracts of leaves, and recalls
 * from them.
 *
 * A leaf that only the plan of another window has gives back all its slots. A leaf that
 * has to give back some gives idle slots first, then those of other providers, and last
 * those of its own site. A cancel goes the other way round. If hosts are exclusive, a
 * leaf is asked for whole hosts only, and may keep what is less than a host.
 *
 * Order: leaves as in the plan. Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_EXECUTE_H
#define SUBLET_BROKER_POOL_POOL_EXECUTE_H

#include "broker/pool/pool_snapshot.h"

/* The snapshot is the one that the cycle was decided by. */
void pool_execute(const struct pool_world *world, const struct pool_entry *pool,
                  struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                  int64_t now_ms, struct effects *effects);

#endif
