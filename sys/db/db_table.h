/* SPDX-License-Identifier: Apache-2.0 */
/* db_table.h: structs in tables, by their schemas (model/schema.h).
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
 * have written; the table's name is in front. Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_TABLE_H
#define SUBLET_SYS_DB_DB_TABLE_H

#include "model/schema.h"
#include "sys/db/db.h"

enum { DB_TABLE_LISTS = 3 };

struct db_table_def {
    const struct schema *schema; /* its name is the table's */
    /* Rows are changed far more often than added: an UPDATE, and an INSERT only if it
     * found nothing, costs half as much as an upsert, which checks every column twice.
     */
    bool is_mostly_changed;
    struct {
        const char *field, *table;
    } lists[DB_TABLE_LISTS];
};

struct db_table;
int db_table_open(struct db *db, const struct db_table_def *def,
                  struct db_table **table, struct err *err) MUST_CHECK;
void db_table_close(struct db_table *table); /* NULL is fine */

/* Replaces the row of its key, with its lists. A list's row is written only if it
 * differs. A FIELD_OPTION that is NULL leaves its row as it is. */
int db_table_put(struct db_table *table, const void *record,
                 struct err *err) MUST_CHECK;
/* Deletes the row of its key; the schema's foreign keys delete its lists. */
int db_table_delete(struct db_table *table, const void *record,
                    struct err *err) MUST_CHECK;

/* All rows, by key. Texts are "" rather than NULL. */
typedef void db_table_fn(void *arg, const void *record);
int db_table_load(struct db_table *table, db_table_fn *fn, void *arg,
                  struct err *err) MUST_CHECK;

#endif
