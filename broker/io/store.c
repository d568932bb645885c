/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: see store.h. Here the file itself and its rows; history, series and the
 * present have files of their own. */
#include "broker/io/store_parts.h"

#include <stdlib.h>

enum { APPLICATION_ID = 0x53624c42 }; /* "SbLB", as `file` shows it */

/* From schema/broker, by tools/embed-sql. */
extern const struct db_migration broker_migrations[];

int store_open(const char *path, bool accepts_loss, struct store **store,
               struct err *err)
{
    struct store *opened = mem_alloc(1, sizeof(*opened));
    const struct db_table_def tables[ROW_KINDS] = {
        [ROW_COUNTER] = {.schema = schema_row_kinds[ROW_COUNTER]},
        [ROW_OVERRIDE] = {.schema = schema_row_kinds[ROW_OVERRIDE]},
        [ROW_LEASE] = {.schema = schema_row_kinds[ROW_LEASE],
                       .is_mostly_changed = true,
                       .lists = {{"hosts", "lease_host"},
                                 {"resources", "lease_resource"}}},
        [ROW_SITE] = {.schema = schema_row_kinds[ROW_SITE]},
        [ROW_POOL] = {.schema = schema_row_kinds[ROW_POOL]},
        [ROW_KEPT] = {.schema = schema_row_kinds[ROW_KEPT]},
        [ROW_HISTORY] = {.schema = schema_row_kinds[ROW_HISTORY], .is_history = true},
    };
    if (db_open(path, APPLICATION_ID, broker_migrations, accepts_loss, &opened->db,
                err) < 0 ||
        db_rows_open(opened->db, tables, &opened->rows, err) < 0) {
        store_close(opened);
        return err->code;
    }
    *store = opened;
    return 0;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    db_rows_close(store->rows);
    db_close(store->db);
    free(store);
}

struct db *store_db(struct store *store)
{
    return store->db;
}

int store_write(struct store *store, const struct row *row, struct err *err)
{
    int rc = db_rows_write(store->rows, row, err);
    if (rc == 0 && row->kind == ROW_HISTORY) {
        rc = store_history_forget(store, err);
    }
    return rc < 0 ? err_prefix(err, "store") : 0;
}

int store_load(struct store *store, store_row_fn fn, void *arg, struct err *err)
{
    return db_rows_load(store->rows, fn, arg, err) < 0 ? err_prefix(err, "store") : 0;
}
