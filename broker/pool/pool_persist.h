/* SPDX-License-Identifier: Apache-2.0 */
/* pool_persist.h: what of a pool's cycles outlives the broker: the time window and the
 * size of the latest one, and what nodes keep of the policy that they had before.
 *
 * A window that begins while no broker runs recalls as one that begins in front of it,
 * and what is being recalled for that stays so. A window that the configuration has no
 * more is forgotten, as with a plan that is loaded anew; rows of a pool that it has no
 * more are deleted with the next batch.
 *
 * Rows are written where something of them is new. Units: slots.
 * Order: nodes by path. Source: docs/adr/0029. Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_PERSIST_H
#define SUBLET_BROKER_POOL_POOL_PERSIST_H

#include "broker/pool/pool_table.h"

/* From disk, before the start, pools before what is kept, that in its order. */
void pool_persist_load_pool(struct pool_table *pools, const struct row_pool *row);
void pool_persist_load_carried(struct pool_table *pools, const struct row_kept *row);

/* A cycle has ended by that plan, in a pool of so many slots, and left `told`; the pool
 * is still as the cycle before has left it. */
void pool_persist_store(struct pool_entry *pool, const struct plan *plan, int64_t slots,
                        const struct pool_record *told, struct effects *effects);

/* There is no such pool any more. */
void pool_persist_drop(struct pool_table *pools, const char *name);
/* Deletes the rows of those, once. */
void pool_persist_tick(struct pool_table *pools, struct effects *effects);

#endif
