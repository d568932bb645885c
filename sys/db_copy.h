/* SPDX-License-Identifier: Apache-2.0 */
/* db_copy.h: a consistent copy of an open database, made in steps while it is used.
 *
 * The copy grows as PATH.part; finishing makes it a single file without a WAL and
 * renames it into place. What the same connection writes between two steps is in the
 * copy as well (sqlite3_backup sees to it), so it is what the database is at the step
 * that was the last.
 *
 * Order: steps outside transactions only. Ownership: db_copy_free after everything,
 * also after an error: an unfinished part is deleted.
 * Errors: ERR_IO with SQLite's or the system's words.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_COPY_H
#define SUBLET_SYS_DB_COPY_H

#include <sqlite3.h>

#include "base/err.h"

struct db_copy;
int db_copy_begin(sqlite3 *from, const char *path, struct db_copy **copy,
                  struct err *err) MUST_CHECK;
/* At most so many pages; -1: all. 1: there is more; 0: that was all. */
int db_copy_step(struct db_copy *copy, int n_pages, struct err *err) MUST_CHECK;

/* Pages still to be copied. The last step ends the copy: what is written after it is
 * not in it. */
int db_copy_left(const struct db_copy *copy);

enum { DB_COPY_CHECK = 1, DB_COPY_SYNC = 2 };
/* With DB_COPY_CHECK it is read whole and judged (integrity_check), with DB_COPY_SYNC
 * file and directory are synced. */
int db_copy_finish(struct db_copy *copy, int how, struct err *err) MUST_CHECK;
void db_copy_free(struct db_copy *copy); /* NULL is fine */

/* Reads a whole file and judges it: ERR_IO where it is damaged. */
int db_copy_check(const char *path, struct err *err) MUST_CHECK;

/* Syncs a new file, puts it in place of another, and syncs the directory. */
int db_copy_rename(const char *part, const char *path, struct err *err) MUST_CHECK;

#endif
