/* SPDX-License-Identifier: Apache-2.0 */
/* store_parts.h: the tables of the store, one .c file each, and single fields of a row
 * into a statement and out of its result. The rules are in store.h.
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

/* ----------------------------------------------------------- store_history.c */

enum { STORE_EVENTS_MAX = 1000000 };

struct store_history {
    sqlite3_stmt *append, *forget, *events, *leases, *lease;
    sqlite3_stmt *last_events, *last_of_lease, *latest;
};

int store_history_append(struct store_history *history, struct db *db,
                         const struct row_history *row, struct err *err) MUST_CHECK;
/* The id of the latest row; 0: there was none. */
int store_history_last(struct store_history *history, struct db *db, int64_t *id,
                       struct err *err) MUST_CHECK;
/* See store_read_history. */
int store_history_page(struct store_history *history, struct db *db,
                       const struct msg_query *query, struct arena *arena,
                       struct value **value, const char **next,
                       struct err *err) MUST_CHECK;

/* ------------------------------------------------------------ store_leases.c */

struct store_leases {
    sqlite3_stmt *put, *add, *put_host, *add_host, *tail, *cut_hosts, *all, *hosts;
    struct exported_table exported;
};

int store_leases_put(struct store_leases *leases, struct db *db,
                     const struct row_lease *lease, struct err *err) MUST_CHECK;
int store_leases_load(struct store_leases *leases, struct db *db, store_row_fn fn,
                      void *arg, struct err *err) MUST_CHECK;

/* ------------------------------------------------------------- store_pools.c */

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

/* ----------------------------------------------------------- store_present.c */

struct store_present {
    sqlite3_stmt *cut_leases, *put_lease, *cut_sites, *put_site;
};

int store_present_clear(struct store_present *present, struct db *db,
                        struct err *err) MUST_CHECK;
/* `page`: the object with the array "leases", or "sites". */
int store_present_leases(struct store_present *present, struct db *db,
                         const struct value *page, struct err *err) MUST_CHECK;
int store_present_sites(struct store_present *present, struct db *db,
                        const struct value *page, struct err *err) MUST_CHECK;

#endif
