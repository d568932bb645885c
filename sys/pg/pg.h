/* SPDX-License-Identifier: Apache-2.0 */
/* pg.h: a PostgreSQL database under one connection: opening, migration, transactions;
 * structs in its tables.
 *
 * A transaction is sent as one pipeline: nothing is waited for between pg_begin and
 * pg_commit, which waits until the server has committed. The server's settings are
 * checked at opening: synchronous_commit "on" or "remote_apply", fsync on, UTF8. All
 * waiting is bounded (PG_PATIENCE_MS). Why: docs/design/architecture.md "Stores".
 *
 * Errors: ERR_IO with the server's words; ERR_DENIED for settings that would lose
 * commits; ERR_VERSION for tables that a newer program has made; ERR_STALE for the
 * SQLSTATE PG_STATE_STALE; ERR_AWAY when the connection is lost: what was being
 * committed may be committed or not. After an error in a transaction the transaction is
 * undone. Passwords are never in a message. Layer: sys. */
#ifndef SUBLET_SYS_PG_PG_H
#define SUBLET_SYS_PG_PG_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sys/db/db.h"

enum { PG_PATIENCE_MS = 10000, PG_PARAMS_MAX = 64 };

/* Raised by functions of schema/postgres: the caller's knowledge is out of date. */
#define PG_STATE_STALE "SB001"

/* True for "postgresql://..." and "postgres://...". */
bool pg_is_url(const char *text);

struct pg;
int pg_open(const char *url, struct pg **pg, struct err *err) MUST_CHECK;
void pg_close(struct pg *pg); /* NULL is fine */
/* Closes the connection and opens it again, with its statements. */
int pg_reopen(struct pg *pg, struct err *err) MUST_CHECK;

/* All migrations that the database does not have, in one transaction; two programs that
 * start at once do it one after the other. */
int pg_migrate(struct pg *pg, const struct db_migration *migrations,
               struct err *err) MUST_CHECK;

/* A statement that lives as long as `pg`; the text is borrowed, its parameters are $1,
 * $2 ... Prepared here, and again when the connection is opened again. */
struct pg_statement;
int pg_prepare(struct pg *pg, const char *sql, int n_params,
               struct pg_statement **statement, struct err *err) MUST_CHECK;

/* One transaction. Parameters are texts, NULL for NULL, and are copied. An error shows
 * at pg_commit. */
void pg_begin(struct pg *pg);
void pg_send(struct pg *pg, const struct pg_statement *statement,
             const char *const *params);
int pg_commit(struct pg *pg, struct err *err) MUST_CHECK;

/* What collects rows during a transaction (pg_batch.h). Its owner removes it before it
 * frees it, and before pg_close. */
struct pg_writer {
    struct pg_writer *next;
    void (*send)(struct pg_writer *writer); /* all rows that it has */
    void (*drop)(struct pg_writer *writer); /* those that were not sent */
};
void pg_add_writer(struct pg *pg, struct pg_writer *writer);
void pg_remove_writer(struct pg *pg, struct pg_writer *writer);
/* All writers send, in the order in which they were added; pg_commit does it too. */
void pg_send_rows(struct pg *pg);

/* A statement by itself, outside of a transaction; its rows, for PQclear. */
int pg_ask(struct pg *pg, const struct pg_statement *statement,
           const char *const *params, PGresult **rows, struct err *err) MUST_CHECK;
/* Statements without parameters, separated by semicolons: one transaction. */
int pg_run(struct pg *pg, const char *sql, struct err *err) MUST_CHECK;
/* The rows of a statement without parameters. */
int pg_query(struct pg *pg, const char *sql, PGresult **rows,
             struct err *err) MUST_CHECK;

/* A number of a result; 0 for NULL. */
int64_t pg_number(const PGresult *rows, int row, int column);

/* ---------------------------------------------------------------- pg_table.c */

/* Structs in tables, by their schemas: the same tables of fields as in a file
 * (sys/db/db.h), except that rows are written at the end of the transaction. */
struct pg_table;
int pg_table_open(struct pg *pg, const struct db_table_def *def,
                  struct pg_table **table, struct err *err) MUST_CHECK;
void pg_table_close(struct pg_table *table); /* NULL is fine */

/* In a transaction. */
void pg_table_put(struct pg_table *table, const void *record);
void pg_table_delete(struct pg_table *table, const void *record);

/* A row of a result that has all columns of the table, in their order (SELECT *); texts
 * are in the arena. Without lists. */
int pg_table_read(const struct pg_table *table, const PGresult *rows, int row,
                  void *record, struct arena *arena, struct err *err) MUST_CHECK;
/* All rows with their lists, by key. */
int pg_table_load(struct pg_table *table, db_table_fn *fn, void *arg,
                  struct err *err) MUST_CHECK;

#endif
