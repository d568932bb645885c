/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite.h: the statements of a store that is a file; part of store.h.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_SQLITE_H
#define SUBLET_BROKER_IO_STORE_STORE_SQLITE_H

#include <sqlite3.h>

#include "broker/io/store/event_index.h"
#include "broker/io/store/store_parts.h"

/* Statements are prepared at their first use (db_statement). */
struct store_sqlite {
    struct store store;
    struct db *db;
    struct db_rows *rows;
    struct arena texts; /* of statements that are put together */
    struct store_history {
        sqlite3_stmt *forget, *events, *leases, *event;
        sqlite3_stmt *last_events, *latest;
    } history;
    struct event_index index;
    struct store_present {
        sqlite3_stmt *cut_leases, *put_lease, *cut_sites, *put_site;
    } present;
    struct store_series {
        sqlite3_stmt *name, *cut, *thin, *forget, *find;
        sqlite3_stmt *put[STORE_SERIES_KINDS], *read[STORE_SERIES_KINDS];
    } series;
};

/* Of a store whose store_db is not NULL. */
static inline struct store_sqlite *store_sqlite_of(struct store *store)
{
    return (struct store_sqlite *)store;
}

#endif
