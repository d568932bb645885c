/* SPDX-License-Identifier: Apache-2.0 */
/* db.h: one SQLite file under one connection: opening, migration, transactions, copies.
 *
 * locking_mode=EXCLUSIVE before journal_mode=WAL, synchronous=FULL, foreign_keys,
 * trusted_schema off, defensive, cell_size_check, no mmap; quick_check at open;
 * application_id and user_version; a backup before a migration; WAL checkpoints by
 * db_maintain. Why: docs/design/architecture.md "Stores".
 *
 * Errors: ERR_IO with SQLite's words; ERR_VERSION for a file newer than the program;
 * ERR_EXISTS if another process has it open. After a failed commit the connection must
 * not be used: the daemon exits and starts again from what is on disk.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_H
#define SUBLET_SYS_DB_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct db_migration {
    int number; /* 1, 2, ... = user_version after it; 0 ends the list */
    const char *name;
    const char *sql;
};

struct db;
/* With `accepts_loss` a write-ahead log that has lost commits is logged, not refused
 * (sys/db/db_wal.h). */
int db_open(const char *path, int32_t application_id,
            const struct db_migration *migrations, bool accepts_loss, struct db **db,
            struct err *err) MUST_CHECK;
void db_close(struct db *db); /* NULL is fine */

sqlite3 *db_handle(struct db *db);
/* A statement that lives as long as the connection; ready to bind. `slot` is the
 * caller's variable for it, NULL at first. Aborts on invalid SQL, which is a bug. */
sqlite3_stmt *db_statement(struct db *db, sqlite3_stmt **slot, const char *sql);
/* Steps a statement that returns no row, and resets it. */
int db_run(struct db *db, sqlite3_stmt *statement, struct err *err) MUST_CHECK;

int db_begin(struct db *db, struct err *err) MUST_CHECK; /* BEGIN IMMEDIATE */
int db_commit(struct db *db, struct err *err) MUST_CHECK;

/* Call regularly, between transactions: checkpoints when the WAL has grown. */
void db_maintain(struct db *db);

/* ---- a consistent copy of an open database, made in steps while it is in use
 *
 * The copy grows as PATH.part. Finishing makes it a single file without a WAL and
 * renames it into place. What the same connection writes between two steps is in the
 * copy as well (sqlite3_backup does that), so the copy is the database as of the last
 * step.
 *
 * Order: steps outside transactions only. Ownership: db_copy_free in any case, also
 * after an error; it deletes an unfinished part. */
struct db_copy;
int db_copy_begin(sqlite3 *from, const char *path, struct db_copy **copy,
                  struct err *err) MUST_CHECK;
/* Copies at most so many pages; -1: all. Returns 1 if there are more, 0 if not. */
int db_copy_step(struct db_copy *copy, int n_pages, struct err *err) MUST_CHECK;

/* Pages still to be copied. What is written after the last step is not in the copy. */
int db_copy_left(const struct db_copy *copy);

enum { DB_COPY_CHECK = 1, DB_COPY_SYNC = 2 };
/* With DB_COPY_CHECK the copy is read and checked (integrity_check); with DB_COPY_SYNC
 * file and directory are synced. */
int db_copy_finish(struct db_copy *copy, int how, struct err *err) MUST_CHECK;
void db_copy_free(struct db_copy *copy); /* NULL is fine */

/* Reads and checks a whole file; ERR_IO if it is damaged. */
int db_copy_check(const char *path, struct err *err) MUST_CHECK;

/* Syncs a new file, puts it in place of another, and syncs the directory. */
int db_copy_rename(const char *part, const char *path, struct err *err) MUST_CHECK;

#endif
