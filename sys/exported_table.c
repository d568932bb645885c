/* SPDX-License-Identifier: Apache-2.0 */
/* exported_table.c: see exported_table.h. */
#include "sys/exported_table.h"

void exported_table_bind_space(sqlite3_stmt *statement, int at,
                               const struct space *space)
{
    if (space->is_given) {
        sqlite3_bind_int(statement, at, space->mib);
    } else {
        sqlite3_bind_null(statement, at);
    }
}

struct space exported_table_space(sqlite3_stmt *statement, int column)
{
    bool is_given = sqlite3_column_type(statement, column) != SQLITE_NULL;
    return (struct space){is_given,
                          is_given ? sqlite3_column_int(statement, column) : 0};
}

static int cut(struct exported_table *exported, const struct exported_table_sql *sql,
               struct db *db, const char *lease, struct err *err)
{
    /* Most leases have none: a SELECT costs a tenth of a DELETE of nothing. */
    sqlite3_stmt *has = db_statement(db, &exported->has, sql->has);
    sqlite3_bind_text(has, 1, lease, -1, SQLITE_STATIC);
    int step = sqlite3_step(has);
    sqlite3_reset(has);
    if (step == SQLITE_DONE) {
        return 0;
    }
    sqlite3_stmt *statement = db_statement(db, &exported->cut, sql->cut);
    sqlite3_bind_text(statement, 1, lease, -1, SQLITE_STATIC);
    return db_run(db, statement, err);
}

int exported_table_put(struct exported_table *exported,
                       const struct exported_table_sql *sql, struct db *db,
                       const char *lease, const struct lease_resource *resources,
                       int n_resources, struct err *err)
{
    int rc = cut(exported, sql, db, lease, err);
    for (int i = 0; i < n_resources && rc == 0; i++) {
        sqlite3_stmt *add = db_statement(db, &exported->add, sql->add);
        sqlite3_bind_text(add, 1, lease, -1, SQLITE_STATIC);
        sqlite3_bind_int(add, 2, i);
        sqlite3_bind_text(add, 3, resources[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_int(add, 4, resources[i].pool);
        sqlite3_bind_int(add, 5, resources[i].n_instances);
        sqlite3_bind_int(add, 6, resources[i].traits);
        sqlite3_bind_text(add, 7, resources[i].hosts, -1, SQLITE_STATIC);
        rc = db_run(db, add, err);
    }
    return rc;
}

int exported_table_load(struct exported_table *exported,
                        const struct exported_table_sql *sql, struct db *db,
                        const char *lease, struct arena *arena,
                        const struct lease_resource **resources, int *n_resources,
                        struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &exported->all, sql->all);
    struct lease_resource rows[LEASE_RESOURCES_MAX];
    int count = 0, step = SQLITE_DONE;
    sqlite3_bind_text(all, 1, lease, -1, SQLITE_STATIC);
    while (count < LEASE_RESOURCES_MAX && (step = sqlite3_step(all)) == SQLITE_ROW) {
        rows[count++] = (struct lease_resource){
            .name = arena_str(arena, (const char *)sqlite3_column_text(all, 0)),
            .pool = sqlite3_column_int(all, 1),
            .n_instances = sqlite3_column_int(all, 2),
            .traits = sqlite3_column_int(all, 3),
            .hosts = arena_str(arena, (const char *)sqlite3_column_text(all, 4)),
        };
    }
    int rc = step == SQLITE_DONE || step == SQLITE_ROW
                 ? 0
                 : err_set(err, ERR_IO, "resources of leases: %s",
                           sqlite3_errmsg(db_handle(db)));
    sqlite3_reset(all);
    *resources =
        count > 0 ? arena_copy(arena, rows, (size_t)count * sizeof(rows[0])) : NULL;
    *n_resources = count;
    return rc;
}
