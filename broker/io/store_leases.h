/* SPDX-License-Identifier: Apache-2.0 */
/* store_leases.h: ROW_LEASE in its tables: the contract, its hosts, and the shared
 * resources that come with it.
 *
 * A contract often changes its split and keeps its hosts: a host's row is written only
 * where it differs from what stands there.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_LEASES_H
#define SUBLET_BROKER_IO_STORE_LEASES_H

#include "broker/io/store.h"
#include "sys/db/db.h"
#include "sys/exported_table.h"

struct store_leases {
    sqlite3_stmt *put, *add, *put_host, *add_host, *tail, *cut_hosts, *all, *hosts;
    struct exported_table exported;
};

int store_leases_put(struct store_leases *leases, struct db *db,
                     const struct row_lease *lease, struct err *err) MUST_CHECK;
int store_leases_load(struct store_leases *leases, struct db *db, store_row_fn fn,
                      void *arg, struct err *err) MUST_CHECK;

#endif
