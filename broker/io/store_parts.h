/* SPDX-License-Identifier: Apache-2.0 */
/* store_parts.h: the statements of the store, and single fields of a row into a
 * statement and out of its result. The rules are in store.h.
 *
 * A bind that fails (no memory) leaves NULL, which NOT NULL then refuses. Unsigned
 * numbers keep their 64 bits, not their order.
 * Ownership: texts are borrowed until the statement runs again.
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
#include "sys/exported_table.h"

static inline void store_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text != NULL ? text : "", -1, SQLITE_STATIC);
}

static inline void store_bind_int(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
}

static inline const char *store_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

/* SQLite's complaint about the statement's connection. */
static inline int store_fail(sqlite3_stmt *statement, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "store: %s: %s", what,
                   sqlite3_errmsg(sqlite3_db_handle(statement)));
}

enum { STORE_EVENTS_MAX = 1000000 };

/* Statements are prepared at their first use (db_statement). */
struct store {
    struct db *db;
    sqlite3_stmt *put_counter, *put_override, *cut_override, *put_site;
    sqlite3_stmt *put_pool, *cut_pool, *put_kept, *cut_kept;
    struct store_leases {
        sqlite3_stmt *put, *add, *put_host, *add_host, *tail, *cut_hosts, *hosts;
        struct exported_table exported;
    } leases;
    struct store_history {
        sqlite3_stmt *append, *forget, *events, *leases, *lease;
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

/* The result of a SELECT, at one of its rows. */
struct store_cursor {
    struct store *store;
    sqlite3_stmt *all;
    struct arena *arena; /* for what belongs to the row */
    struct err *err;
};

int store_leases_put(struct store *store, const struct row_lease *lease,
                     struct err *err) MUST_CHECK;
extern const char store_leases_sql[];
int store_leases_read(const struct store_cursor *at, struct row *row) MUST_CHECK;

int store_history_append(struct store *store, const struct row_history *row,
                         struct err *err) MUST_CHECK;

#endif
