/* SPDX-License-Identifier: Apache-2.0 */
/* pg_batch.h: rows that one statement writes, with an array for each column.
 *
 * Rows are collected during a transaction, and sent at its end or if PG_BATCH_ROWS are
 * there: the rows of all batches, in the order in which the batches were opened
 * (pg_send_rows). A row
 * replaces an earlier one that has the same key, as a statement cannot write one row of
 * the table twice. Why: a statement for each row takes the server most of the time of a
 * row (docs/bench.md). Errors show at pg_commit. Layer: sys. */
#ifndef SUBLET_SYS_PG_PG_BATCH_H
#define SUBLET_SYS_PG_PG_BATCH_H

#include "sys/pg/pg.h"

enum { PG_BATCH_ROWS = 1000 };

struct pg_batch;
/* `sql` is borrowed; its parameters $1 ... $n_columns are arrays, which need casts; the
 * first `n_keys` columns are the key, 0: each row is a row of its own. */
int pg_batch_open(struct pg *pg, const char *sql, int n_columns, int n_keys,
                  struct pg_batch **batch, struct err *err) MUST_CHECK;
/* Before the connection is closed; its rows are dropped. NULL is fine. */
void pg_batch_free(struct pg_batch *batch);

/* In a transaction: a text for each column, NULL for NULL; they are copied. */
void pg_batch_add(struct pg_batch *batch, const char *const *texts);

#endif
