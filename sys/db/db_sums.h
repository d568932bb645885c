/* SPDX-License-Identifier: Apache-2.0 */
/* db_sums.h: notices that pages of the database file were changed by anything but this
 * program; part of db.h.
 *
 * SQLite's own check finds damage of a page's structure only: a bit in a row's value
 * goes unnoticed. The file changes in checkpoints alone. After each of them the sums of
 * its pages are written behind the position in PATH-commit (sys/db/db_wal.h), and
 * synced. At the start each page must have its sum, except those that the log has:
 * their checkpoint may have ended half-way. Sums that are missing, or whose own sum is
 * wrong, say nothing.
 *
 * A file that was replaced by a copy has other sums: PATH-commit is removed with it.
 *
 * The database file stays open from db_sums_open to db_sums_close, since closing it
 * would drop this process's locks on it: close SQLite's connection before.
 *
 * Errors: ERR_IO with how many pages are damaged. Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_SUMS_H
#define SUBLET_SYS_DB_DB_SUMS_H

#include <stdint.h>

#include "base/err.h"

/* Pages of the log, in any order, some of them several times; numbers from 1. */
struct db_pages {
    uint32_t *items;
    int count, capacity;
};
void db_sums_add_page(struct db_pages *pages, uint32_t page);
void db_sums_release_pages(struct db_pages *pages);

struct db_sums {
    int fd; /* of the database; -1: not open */
    uint64_t *sums;
    int count;
};

/* The database must exist. */
int db_sums_open(struct db_sums *sums, const char *path, struct err *err) MUST_CHECK;
void db_sums_close(struct db_sums *sums);

/* ERR_IO if a page that is not in `log` has another sum than `commit_fd` says. */
int db_sums_check(const struct db_sums *sums, const char *path, int commit_fd,
                  const struct db_pages *log, struct err *err) MUST_CHECK;
/* The pages of `log` were written, NULL: all may have been; -1: the sums cannot be
 * written, for the reason in errno. */
int db_sums_write(struct db_sums *sums, int commit_fd, const struct db_pages *log);

#endif
