/* SPDX-License-Identifier: Apache-2.0 */
/* books_file.h: the entries of the broker's books (books.h) in a store that is a file.
 *
 * An entry is appended to the table `held_recent`. BOOKS_RECENT_MAX entries are moved
 * to `held` together, in the order of its key, so that a page of `held` is written once
 * for all entries that it gets; then they are counted into `held_size`. Readers of both
 * move all entries before they read.
 *
 * Errors: those of db_run. Source: docs/adr/0040-changes-are-appended.md. Layer:
 * broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_BOOKS_FILE_H
#define SUBLET_BROKER_IO_STORE_BOOKS_FILE_H

#include "sys/db/db.h"

enum { BOOKS_RECENT_MAX = 4096 };

/* About what a row and its place in the index take, in SQL: the name of the lease is in
 * both. */
#define BOOKS_ENTRY_BYTES(name) "(42 + length(" name ") * 9 / 4)"
#define BOOKS_SUM_BYTES(name) "(48 + length(" name ") * 9 / 4)"

/* Zero-initialised but for `db`, which it borrows. */
struct books_file {
    struct db *db;
    sqlite3_stmt *append, *any, *save, *move, *count, *back, *count_new, *replace;
    sqlite3_stmt *clear, *release;
    int n_recent; /* entries that were appended since they were last moved ... */
    int n_before; /* ... at the last call of books_file_rest */
};

/* In a transaction. It replaces an entry of the lease with that start. */
int books_file_append(struct books_file *file, const char *lease,
                      const int64_t numbers[4], struct err *err) MUST_CHECK;
/* Before its commit. */
int books_file_move_many(struct books_file *file, struct err *err) MUST_CHECK;
/* Call about once a second, between transactions: moves them if none were appended
 * since the last call, so that a reader finds nothing to move while nothing changes. */
int books_file_rest(struct books_file *file, struct err *err) MUST_CHECK;
/* In a transaction, or in one of its own. */
int books_file_move(struct books_file *file, struct err *err) MUST_CHECK;

#endif
