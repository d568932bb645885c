/* SPDX-License-Identifier: Apache-2.0 */
/* store_fields.h: single fields of a row into a statement and out of its result.
 *
 * A bind that fails (no memory) leaves NULL, which NOT NULL then refuses. Unsigned
 * numbers keep their 64 bits, not their order.
 * Ownership: texts are borrowed until the statement runs again.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_FIELDS_H
#define SUBLET_BROKER_IO_STORE_FIELDS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

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

#endif
