/* SPDX-License-Identifier: Apache-2.0 */
/* books_parts.h: the parts of the broker's books (books.h). Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_BOOKS_PARTS_H
#define SUBLET_BROKER_IO_STORE_BOOKS_PARTS_H

#include "broker/io/store/books.h"
#include "broker/io/store/books_sql.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

enum { BOOKS_SPLITS_MAX = 1000 }; /* that are read at once */

/* From `start_ms` on. */
struct books_split {
    int64_t start_ms, epoch, provider, consumer;
};

struct books_splits {
    struct books_split items[BOOKS_SPLITS_MAX];
    int count;
};

/* A lease's last split, and the one that is being committed. */
struct book {
    char *lease;
    bool is_known; /* `now` is written */
    struct books_split now, next;
    struct book *next_changed;
    uint64_t changed_in; /* the transaction of `next` */
    UT_hash_handle hh;
};

struct books {
    struct store *store;
    struct books_sql *sql;
    struct book *books;
    struct book *changed; /* in this transaction ... */
    uint64_t transaction; /* ... which has this number */
    int64_t n_bytes_max;
    int64_t quiet_until_ms; /* nothing is to be done before */
    int64_t logged_ms;      /* the last day that was logged as merged or deleted */
};

void books_drop(struct books *books, struct book *book);

/* In a transaction: rows of the lease that begin in that time leave the size, or are
 * counted into it. */
int books_count_out(struct books *books, const char *lease, int64_t from_ms,
                    int64_t to_ms, struct err *err) MUST_CHECK;
int books_count_in(struct books *books, const char *lease, int64_t from_ms,
                   int64_t to_ms, struct err *err) MUST_CHECK;

/* The first BOOKS_SPLITS_MAX splits that the lease has in that time, with the one that
 * holds at its beginning. */
int books_load_splits(struct books *books, const char *lease, int64_t from_ms,
                      int64_t to_ms, struct books_splits *splits,
                      struct err *err) MUST_CHECK;
/* The hours of what the splits hold in that time. */
void books_integrate(const char *lease, const struct books_splits *splits,
                     int64_t from_ms, int64_t to_ms, usage_row_fn fn, void *arg);

#endif
