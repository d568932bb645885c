/* SPDX-License-Identifier: Apache-2.0 */
/* journal_books.h: ROW_BOOK in its tables: a lease that this site provides, its hosts,
 * and the shared resources that come with it.
 *
 * A book often changes its split and keeps its hosts: a host's row is written only
 * where it differs from what stands there.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_BOOKS_H
#define SUBLET_SITE_IO_JOURNAL_BOOKS_H

#include "site/io/journal.h"
#include "sys/db/db.h"
#include "sys/exported_table.h"

struct journal_books {
    sqlite3_stmt *put, *put_host, *cut_hosts, *cut, *all, *hosts;
    sqlite3_stmt *put_recall, *cut_recalls, *recalls;
    struct exported_table exported;
};

int journal_books_put(struct journal_books *books, struct db *db,
                      const struct row_book *book, struct err *err) MUST_CHECK;
int journal_books_load(struct journal_books *books, struct db *db, journal_row_fn fn,
                       void *arg, struct err *err) MUST_CHECK;

#endif
