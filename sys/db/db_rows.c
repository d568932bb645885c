/* SPDX-License-Identifier: Apache-2.0 */
/* db_rows.c: see db.h. */
#include "sys/db/db.h"

#include <stdlib.h>
#include <string.h>

struct db_rows {
    struct db_table *tables[ROW_KINDS];
    bool is_loaded[ROW_KINDS];
};

int db_rows_open(struct db *db, const struct db_table_def *defs, struct db_rows **rows,
                 struct err *err)
{
    struct db_rows *opened = mem_alloc(1, sizeof(*opened));
    int rc = 0;
    for (int kind = 0; kind < ROW_KINDS && rc == 0; kind++) {
        if (defs[kind].schema != NULL) {
            rc = db_table_open(db, &defs[kind], &opened->tables[kind], err);
            opened->is_loaded[kind] = !defs[kind].is_history;
        }
    }
    if (rc < 0) {
        db_rows_close(opened);
        return rc;
    }
    *rows = opened;
    return 0;
}

void db_rows_close(struct db_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        db_table_close(rows->tables[kind]);
    }
    free(rows);
}

struct db_table *db_rows_table(struct db_rows *rows, enum row_kind kind)
{
    return rows->tables[kind];
}

int db_rows_write(struct db_rows *rows, const struct row *row, struct err *err)
{
    struct db_table *table = rows->tables[row->kind];
    const void *record = row_record_of(row);
    if (table == NULL) {
        return err_set(err, ERR_STATE, "there is no table for rows of kind %d",
                       (int)row->kind);
    }
    int rc = row_is_gone(row) ? db_table_delete(table, record, err)
                              : db_table_put(table, record, err);
    if (rc < 0) {
        char key[ROW_KEY_SIZE];
        row_key(row, key);
        err_prefix(err, "%s \"%s\"", schema_row_kinds[row->kind]->name,
                   key + ROW_KEY_KIND);
    }
    return rc;
}

struct loading {
    db_rows_fn fn;
    void *arg;
    enum row_kind kind;
};

static void on_record(void *arg, const void *record)
{
    const struct loading *loading = arg;
    struct row row = {.kind = loading->kind};
    memcpy(row_record(&row), record, schema_row_kinds[row.kind]->size);
    row_restore(&row);
    loading->fn(loading->arg, &row);
}

int db_rows_load(struct db_rows *rows, db_rows_fn fn, void *arg, struct err *err)
{
    int rc = 0;
    for (int kind = 0; kind < ROW_KINDS && rc == 0; kind++) {
        if (rows->is_loaded[kind]) {
            struct loading loading = {fn, arg, (enum row_kind)kind};
            rc = db_table_load(rows->tables[kind], on_record, &loading, err);
        }
    }
    return rc;
}
