/* SPDX-License-Identifier: Apache-2.0 */
/* db_rows.h: rows (model/row.h) in the tables of a store.
 *
 * Ownership: rows are borrowed, both ways: the row of a load callback lives until it
 * returns. Errors: as db_table.h; ERR_STATE for a kind that the store does not have.
 * Order: loading goes by row_kind, inside a kind by key. Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_ROWS_H
#define SUBLET_SYS_DB_DB_ROWS_H

#include "model/row.h"
#include "sys/db/db_table.h"

struct db_rows;
/* `defs` is by row_kind; a kind without a schema is not in this store. */
int db_rows_open(struct db *db, const struct db_table_def *defs, struct db_rows **rows,
                 struct err *err) MUST_CHECK;
void db_rows_close(struct db_rows *rows); /* NULL is fine */

int db_rows_write(struct db_rows *rows, const struct row *row,
                  struct err *err) MUST_CHECK;

typedef void (*db_rows_fn)(void *arg, const struct row *row);
int db_rows_load(struct db_rows *rows, db_rows_fn fn, void *arg,
                 struct err *err) MUST_CHECK;

#endif
