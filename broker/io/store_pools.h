/* SPDX-License-Identifier: Apache-2.0 */
/* store_pools.h: tables pool and pool_kept of the broker's store (store.h has the
 * rules).
 *
 * Order: pools by name, what nodes keep by pool and path. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_POOLS_H
#define SUBLET_BROKER_IO_STORE_POOLS_H

#include "broker/io/store.h"
#include "sys/db/db.h"

struct store_pools {
    sqlite3_stmt *put, *cut, *all;
    sqlite3_stmt *put_kept, *cut_kept, *all_kept;
};

int store_pools_put(struct store_pools *pools, struct db *db,
                    const struct row_pool *pool, struct err *err) MUST_CHECK;
int store_pools_put_carried(struct store_pools *pools, struct db *db,
                            const struct row_kept *kept, struct err *err) MUST_CHECK;
/* All pools, then all that nodes keep. */
int store_pools_load(struct store_pools *pools, struct db *db, store_row_fn fn,
                     void *arg, struct err *err) MUST_CHECK;

#endif
