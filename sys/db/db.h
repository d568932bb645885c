/* SPDX-License-Identifier: Apache-2.0 */
/* db.h: one SQLite file under one connection: opening, migration, transactions, copies;
 * values, structs and rows in its tables.
 *
 * locking_mode=EXCLUSIVE before journal_mode=WAL, synchronous=FULL, foreign_keys,
 * trusted_schema off, defensive, cell_size_check, no mmap; quick_check at open;
 * application_id and user_version; a backup before a migration; WAL checkpoints by
 * db_maintain. Why: docs/design/architecture.md "Stores".
 *
 * Errors: ERR_IO with SQLite's words; ERR_VERSION for a file newer than the program;
 * ERR_EXISTS if another process has it open. After a failed commit (but ERR_AWAY) the
 * connection must not be used: the daemon exits and starts again from what is on disk.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_H
#define SUBLET_SYS_DB_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/effect.h"
#include "model/msg.h"
#include "model/row.h"
#include "model/schema.h"

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
/* Steps a statement that returns no row, and resets it. ERR_AWAY: the disk was full,
 * and there is room again; the transaction is taken back and may be tried again. */
int db_run(struct db *db, sqlite3_stmt *statement, struct err *err) MUST_CHECK;

int db_begin(struct db *db, struct err *err) MUST_CHECK; /* BEGIN IMMEDIATE */
int db_commit(struct db *db, struct err *err) MUST_CHECK;

/* Call regularly, between transactions, with a monotonic clock: checkpoints when the
 * WAL has grown, and a smaller one when nothing was committed for a second. */
void db_maintain(struct db *db, int64_t now_ms);

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

/* ---------------------------------------------------------------- db_column.c */

/* Single values into a statement and out of its result.
 *
 * Unsigned numbers keep their 64 bits, not their order.
 * Ownership: what is read is copied into the arena, or else borrowed until the
 * statement runs again.
 * Errors: ERR_IO for a value that only another program can have written. */

/* A bind that fails (no memory) leaves NULL, which NOT NULL then refuses. NULL is "".
 */
void db_column_bind_text(sqlite3_stmt *statement, int at, const char *text);
void db_column_bind_int(sqlite3_stmt *statement, int at, int64_t number);
void db_column_bind_hosts(sqlite3_stmt *statement, int at,
                          const struct host_slots *hosts, int n_hosts);
/* A blob: each text with its NUL. */
void db_column_bind_texts(sqlite3_stmt *statement, int at, const char *const *texts,
                          int n_texts);
/* Borrowed until the statement runs again; "" for NULL. */
const char *db_column_text(sqlite3_stmt *statement, int column);
int db_column_read_hosts(sqlite3_stmt *statement, int column, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts,
                         struct err *err) MUST_CHECK;
const char *const *db_column_read_texts(sqlite3_stmt *statement, int column,
                                        struct arena *arena, int *n_texts);
/* The index of a column's word among `words`; 0 for NULL. */
int db_column_read_word(sqlite3_stmt *statement, int column, const char *const *words,
                        int n_words, int *index, struct err *err) MUST_CHECK;
/* SQLite's complaint about the statement's connection. */
int db_column_fail(sqlite3_stmt *statement, const char *what, struct err *err);

/* ---------------------------------------------------------------- db_table.c */

/* Structs in tables, by their schemas (model/schema.h).
 *
 * A field is stored if the table has a column of its name; a column without a field is
 * an error at opening. A part's columns have its prefix. Enums with words are stored as
 * words, lists of texts as a blob in which each text ends in a NUL, lists of hosts as
 * "n1:2 n2:1", other lists in tables of their own, whose first columns are the key of
 * the record, followed by `place`. In a column that may be NULL, NULL stands for 0 and
 * "". The statements are written from this at opening.
 *
 * Ownership: a table belongs to its connection and is closed before it. What is loaded
 * lives until the function returns.
 * Errors: ERR_IO with SQLite's words, also for a value that only another program can
 * have written; the table's name is in front. */

enum { DB_TABLE_LISTS = 3 };

struct db_table_def {
    const struct schema *schema; /* its name is the table's */
    /* Rows are changed far more often than added: an UPDATE, and an INSERT only if it
     * found nothing, costs half as much as an upsert, which checks every column twice.
     */
    bool is_mostly_changed;
    /* Rows are only added, never loaded; SQLite gives a number to a key of 0. */
    bool is_history;
    struct {
        const char *field, *table;
    } lists[DB_TABLE_LISTS];
    /* Where a record has a bool: its lists stay as they are stored. 0: it has none. */
    size_t keeps_lists;
};

static inline bool db_table_keeps_lists(const struct db_table_def *def,
                                        const void *record)
{
    return def->keeps_lists != 0 &&
           *(const bool *)((const char *)record + def->keeps_lists);
}

struct db_table;
int db_table_open(struct db *db, const struct db_table_def *def,
                  struct db_table **table, struct err *err) MUST_CHECK;
void db_table_close(struct db_table *table); /* NULL is fine */

/* Replaces the row of its key, with its lists, unless it keeps them. A list's row is
 * written only if it differs. A FIELD_OPTION that is NULL leaves its row as it is. */
int db_table_put(struct db_table *table, const void *record,
                 struct err *err) MUST_CHECK;
/* Deletes the row of its key; the schema's foreign keys delete its lists. */
int db_table_delete(struct db_table *table, const void *record,
                    struct err *err) MUST_CHECK;

/* The row of a statement that selects all columns (SELECT *); texts are in the arena,
 * and "" rather than NULL. */
int db_table_read(struct db_table *table, sqlite3_stmt *row, void *record,
                  struct arena *arena, struct err *err) MUST_CHECK;

/* All rows, by key. Texts are "" rather than NULL. */
typedef void db_table_fn(void *arg, const void *record);
int db_table_load(struct db_table *table, db_table_fn *fn, void *arg,
                  struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- db_rows.c */

/* Rows (model/row.h) in the tables of a store.
 *
 * Ownership: rows are borrowed, both ways: the row of a load callback lives until it
 * returns. Errors: as of db_table.c; ERR_STATE for a kind that the store does not have.
 * Order: loading goes by row_kind, inside a kind by key; histories are
 * not loaded. */

struct db_rows;
/* `defs` is by row_kind; a kind without a schema is not in this store. */
int db_rows_open(struct db *db, const struct db_table_def *defs, struct db_rows **rows,
                 struct err *err) MUST_CHECK;
void db_rows_close(struct db_rows *rows); /* NULL is fine */
struct db_table *db_rows_table(struct db_rows *rows, enum row_kind kind);

int db_rows_write(struct db_rows *rows, const struct row *row,
                  struct err *err) MUST_CHECK;

typedef void (*db_rows_fn)(void *arg, const struct row *row);
int db_rows_load(struct db_rows *rows, db_rows_fn fn, void *arg,
                 struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- db_batch.c */

/* Stores the rows of a shell's batch (sys/shell.h) in one transaction.
 *
 * Ownership: all of it is borrowed. */

struct db_batch {
    struct db *db;
    void *store;
    int (*write)(void *store, const struct row *row, struct err *err);
    /* What else belongs to the transaction, and that it is committed; NULL: nothing. A
     * batch that is written again comes to `finish` again. */
    int (*finish)(void *store, struct err *err);
    void (*committed)(void *store);
};

/* shell_machine.commit and .maintain, with a struct db_batch. */
int db_batch_commit(void *batch, const struct effects *effects,
                    struct err *err) MUST_CHECK;
void db_batch_maintain(void *batch);

#endif
