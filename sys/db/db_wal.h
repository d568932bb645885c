/* SPDX-License-Identifier: Apache-2.0 */
/* db_wal.h: notices that a write-ahead log has lost what was committed; part of db.h.
 *
 * SQLite recovers a log up to its first bad frame and says nothing about the rest.
 * After each commit the position of that commit (the log's salts, and its number of
 * frames) is written to PATH-commit. Before SQLite writes to the file, the log is read,
 * and a log that ends before that position is refused. The position is written after
 * the log was synced, and is not synced itself: after a power cut it may be too old,
 * never too new. So a log with two commits behind a bad frame is refused besides: the
 * first of them was synced before the second began. Without a position, a log with any
 * valid frames behind a bad one is refused. One commit behind a bad frame may be what a
 * power cut has torn: then what others know of the store decides (safety.md).
 * Before the log is emptied, the position says so and is synced: a kill or a power cut
 * between the emptying and the next position leaves an empty log that is not refused.
 *
 * Errors: ERR_IO with what would be lost. Source: SQLite's "WAL-mode File Format".
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_WAL_H
#define SUBLET_SYS_DB_DB_WAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/db/db_sums.h"

/* ERR_IO if opening the file would lose committed changes, or if its pages were damaged
 * (`sums`; NULL: there is no file, or it is empty). The caller has the file's lock, or
 * there is no file. */
int db_wal_check(const char *path, const struct db_sums *sums,
                 struct err *err) MUST_CHECK;

struct db_wal {
    char *path; /* of the database */
    int fd;     /* of PATH-commit; -1: it cannot be written */
    int n_frames;
    uint32_t salts[2];
};

/* The position stays as it is until db_wal_committed. `wal` is zeroed. */
int db_wal_open(struct db_wal *wal, const char *path, struct err *err) MUST_CHECK;
void db_wal_close(struct db_wal *wal);
/* The log has so many frames after a commit; 0: all of it is in the database. */
void db_wal_committed(struct db_wal *wal, int n_frames);
/* All of the log is about to go into the database, and the log to be emptied. */
void db_wal_emptying(struct db_wal *wal);

/* The pages that the log has, before a checkpoint; and after it, when all of them are
 * in the database: their sums are written (NULL: those of all pages). */
void db_wal_pages(const struct db_wal *wal, struct db_pages *pages);
void db_wal_sum(struct db_wal *wal, struct db_sums *sums, const struct db_pages *pages);

#endif
