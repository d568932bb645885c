/* SPDX-License-Identifier: Apache-2.0 */
/* pool_execute.h: hands out what a cycle has decided: grants to leaves' contracts, and
 * recalls of theirs.
 *
 * A leaf that only the plan of another window has gives all of them back. One that is
 * to give slots back gives idle ones first, then those of other providers, last its own
 * site's. What is cancelled is cancelled the other way round. Where hosts are exclusive
 * it is asked for what whole hosts of it make up, and no more: it may keep what is less
 * than one.
 *
 * Order: leaves as in the plan. Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_EXECUTE_H
#define SUBLET_BROKER_POOL_POOL_EXECUTE_H

#include "broker/pool/pool_snapshot.h"

/* What becomes of the moves of the cycle; the snapshot is the one it was made from. */
void pool_execute(const struct pool_world *world, const struct pool_entry *pool,
                  struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                  int64_t now_ms, struct effects *effects);

#endif
