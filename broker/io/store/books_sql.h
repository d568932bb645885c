/* SPDX-License-Identifier: Apache-2.0 */
/* books_sql.h: the statements of the broker's books (books.h): the same texts in both
 * stores. Errors: those of store.h. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_BOOKS_SQL_H
#define SUBLET_BROKER_IO_STORE_BOOKS_SQL_H

#include "broker/io/store/store.h"

/* Parameters, of what $1 ... are; (rows). */
enum books_statement {
    BOOKS_CARRY,       /* lease, start, epoch, provider, consumer, unless it is there */
    BOOKS_UNDO,        /* lease; entries that begin after: start */
    BOOKS_ENTRIES,     /* lease, from, to, limit (start, epoch, provider, consumer) */
    BOOKS_SUMS,        /* lease, from, to (start, provider_ms, consumer_ms) */
    BOOKS_CUT_ENTRIES, /* lease, before */
    BOOKS_ADD_SUM,     /* lease, n_hours, start, provider_ms, consumer_ms */
    BOOKS_CUT_SUMS,    /* lease, n_hours, from, to */
    BOOKS_MERGE,       /* lease, from, to */
    BOOKS_RESIZE,      /* lease, from, to, sign: counts what is there into the size */
    BOOKS_SIZE,        /* (n_bytes) */
    BOOKS_LAST,        /* of each lease (lease, start, epoch, provider, consumer) */
    BOOKS_OLDEST,      /* before, limit: entries (lease, start) */
    BOOKS_OLDEST_SUMS, /* n_hours, before, limit (lease, start) */
    BOOKS_FIRST,       /* lease (start of all, start of its entries) */
    BOOKS_STATEMENTS
};

struct books_param {
    const char *text; /* NULL: the number */
    int64_t number;
};

enum { BOOKS_PARAMS_MAX = 5, BOOKS_COLUMNS_MAX = 5 };

/* A row: its first column as a text (borrowed), and all as numbers. */
typedef void books_row_fn(void *arg, const char *text, const int64_t *numbers);

struct books_sql;
int books_sql_new(struct store *store, struct books_sql **sql,
                  struct err *err) MUST_CHECK;
void books_sql_free(struct books_sql *sql); /* NULL is fine */
/* In a transaction: an entry (lease, start, epoch, provider, consumer), which replaces
 * the one of that start. */
int books_sql_open(struct books_sql *sql, const struct books_param *params,
                   struct err *err) MUST_CHECK;
/* Before its commit. */
int books_sql_end(struct books_sql *sql, struct err *err) MUST_CHECK;
/* About once a second, outside of transactions. */
int books_sql_rest(struct books_sql *sql, struct err *err) MUST_CHECK;
/* In a transaction. */
int books_sql_run(struct books_sql *sql, enum books_statement which,
                  const struct books_param *params, struct err *err) MUST_CHECK;
/* Outside of transactions. */
int books_sql_ask(struct books_sql *sql, enum books_statement which,
                  const struct books_param *params, books_row_fn *fn, void *arg,
                  struct err *err) MUST_CHECK;

#endif
