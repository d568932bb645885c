/* SPDX-License-Identifier: Apache-2.0 */
/* pool_persist.h: what a restarted broker knows of a pool's cycles: the time window and
 * the size of the latest one, and what nodes may keep from the policy that they had
 * before.
 *
 * So a window that begins while no broker runs recalls as one that begins while it
 * runs, and such a recall is not forgotten. A window that is not configured any more is
 * forgotten, as when a plan is loaded; rows of a pool that is not configured any more
 * are deleted with the next batch.
 *
 * Rows are written when they have changed. Units: slots. Order: nodes by path.
 * Source: docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_PERSIST_H
#define SUBLET_BROKER_POOL_POOL_PERSIST_H

#include "broker/pool/pool_table.h"

/* Restores the rows, before the start: pools first, then what nodes carry, by path. */
void pool_persist_load_pool(struct pool_table *pools, const struct row_pool *row);
void pool_persist_load_carried(struct pool_table *pools, const struct row_kept *row);

/* Stores what a cycle by that plan, in a pool of so many slots, has changed: `records`
 * are new, and the pool has those of the cycle before. */
void pool_persist_store(struct pool_entry *pool, const struct plan *plan, int64_t slots,
                        const struct pool_record *records, struct effects *effects);

/* The pool is not configured any more. */
void pool_persist_drop(struct pool_table *pools, const char *name);
/* Deletes the rows of such pools, once. */
void pool_persist_tick(struct pool_table *pools, struct effects *effects);

#endif
