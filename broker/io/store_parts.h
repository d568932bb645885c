/* SPDX-License-Identifier: Apache-2.0 */
/* store_parts.h: the tables and statements of the store. The rules are in store.h.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_PARTS_H
#define SUBLET_BROKER_IO_STORE_PARTS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "broker/io/store.h"
#include "model/row.h"
#include "sys/db/db.h"

enum { STORE_EVENTS_MAX = 1000000 };

/* Statements are prepared at their first use (db_statement). */
struct store {
    struct db *db;
    struct db_rows *rows;
    struct store_history {
        sqlite3_stmt *forget, *events, *leases, *lease;
        sqlite3_stmt *last_events, *last_of_lease, *latest;
    } history;
    struct store_present {
        sqlite3_stmt *cut_leases, *put_lease, *cut_sites, *put_site;
    } present;
    struct store_series {
        sqlite3_stmt *name, *cut, *forget, *find;
        sqlite3_stmt *put[STORE_SERIES_KINDS], *read[STORE_SERIES_KINDS];
    } series;
};

/* Deletes the oldest rows, some at a time, so that no commit takes long. */
int store_history_forget(struct store *store, struct err *err) MUST_CHECK;

#endif
