/* SPDX-License-Identifier: Apache-2.0 */
/* db_column.h: single values into a statement and out of its result.
 *
 * Unsigned numbers keep their 64 bits, not their order.
 * Ownership: what is read is copied into the arena, or else borrowed until the
 * statement runs again.
 * Errors: ERR_IO for a value that only another program can have written.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_COLUMN_H
#define SUBLET_SYS_DB_DB_COLUMN_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/msg.h"

/* A bind that fails (no memory) leaves NULL, which NOT NULL then refuses. NULL is "".
 */
void db_column_bind_text(sqlite3_stmt *statement, int at, const char *text);
void db_column_bind_int(sqlite3_stmt *statement, int at, int64_t number);
void db_column_bind_hosts(sqlite3_stmt *statement, int at,
                          const struct host_slots *hosts, int n_hosts);
/* A blob: each text with its NUL. */
void db_column_bind_texts(sqlite3_stmt *statement, int at, const char *const *texts,
                          int n_texts);
/* Borrowed until the statement runs again; "" for NULL. */
const char *db_column_text(sqlite3_stmt *statement, int column);
int db_column_read_hosts(sqlite3_stmt *statement, int column, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts,
                         struct err *err) MUST_CHECK;
const char *const *db_column_read_texts(sqlite3_stmt *statement, int column,
                                        struct arena *arena, int *n_texts);
/* The index of a column's word among `words`; 0 for NULL. */
int db_column_read_word(sqlite3_stmt *statement, int column, const char *const *words,
                        int n_words, int *index, struct err *err) MUST_CHECK;
/* SQLite's complaint about the statement's connection. */
int db_column_fail(sqlite3_stmt *statement, const char *what, struct err *err);

#endif
