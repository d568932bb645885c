/* SPDX-License-Identifier: Apache-2.0 */
/* db_migrate.c: see db_migrate.h. */
#include "sys/db/db_migrate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

static int fail(sqlite3 *handle, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s", what, sqlite3_errmsg(handle));
}

/* Reads the number that a statement returns. */
static int read_number(sqlite3 *handle, const char *sql, int64_t *number,
                       struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int status = ERR_NONE;
    if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        status = fail(handle, sql, err);
    } else {
        *number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return status;
}

/* ---------------------------------------------------------------- backup */

/* Makes a consistent copy of the open file at `to`, through a temporary file. */
static int back_up(sqlite3 *handle, const char *to, struct err *err)
{
    struct db_copy *copy;
    int status = db_copy_begin(handle, to, &copy, err);
    if (status != ERR_NONE) {
        return status;
    }
    status = db_copy_step(copy, -1, err);
    if (status == ERR_NONE) {
        status = db_copy_finish(copy, DB_COPY_CHECK | DB_COPY_SYNC, err);
    }
    db_copy_free(copy);
    return status;
}

/* ---------------------------------------------------------------- steps */

static int run_step(sqlite3 *handle, int32_t application_id,
                    const struct db_migration *step, struct err *err)
{
    char stamp[96];
    snprintf(stamp, sizeof(stamp),
             "PRAGMA application_id=%" PRId32 "; PRAGMA user_version=%d;",
             application_id, step->number);
    const char *const parts[] = {"BEGIN IMMEDIATE", step->sql, stamp, "COMMIT"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (sqlite3_exec(handle, parts[i], NULL, NULL, NULL) != SQLITE_OK) {
            int status = err_set(err, ERR_IO, "migration %d (%s): %s", step->number,
                                 step->name, sqlite3_errmsg(handle));
            if (!sqlite3_get_autocommit(handle)) {
                sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
            }
            return status;
        }
    }
    return ERR_NONE;
}

static int last_number(const struct db_migration *migrations)
{
    int last = 0;
    for (const struct db_migration *step = migrations; step->number != 0; step++) {
        last = step->number;
    }
    return last;
}

/* The state of the file. One without any table is new. */
static int read_version(sqlite3 *handle, const char *path, int32_t application_id,
                        int64_t *version, struct err *err)
{
    int64_t owner = 0, tables = 0;
    int status = read_number(handle, "PRAGMA application_id", &owner, err);
    if (status == ERR_NONE) {
        status = read_number(handle, "PRAGMA user_version", version, err);
    }
    if (status == ERR_NONE) {
        status =
            read_number(handle, "SELECT count(*) FROM sqlite_schema", &tables, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    bool is_new = tables == 0 && owner == 0 && *version == 0;
    if (!is_new && owner != application_id) {
        return err_set(err, ERR_IO, "\"%s\" belongs to another program", path);
    }
    return ERR_NONE;
}

int db_migrate(sqlite3 *handle, const char *path, int32_t application_id,
               const struct db_migration *migrations, struct err *err)
{
    int64_t version = 0;
    int status = read_version(handle, path, application_id, &version, err);
    if (status != ERR_NONE) {
        return status;
    }
    int last = last_number(migrations);
    if (version > last) {
        return err_set(err, ERR_VERSION,
                       "\"%s\" has schema %" PRId64 ", this program knows %d", path,
                       version, last);
    }
    if (version > 0 && version < last) {
        struct arena arena;
        arena_init(&arena);
        const char *to = arena_printf(&arena, "%s.v%" PRId64 ".backup", path, version);
        status = back_up(handle, to, err);
        arena_release(&arena);
    }
    for (const struct db_migration *step = migrations;
         step->number != 0 && status == ERR_NONE; step++) {
        if (step->number > version) {
            status = run_step(handle, application_id, step, err);
        }
    }
    return status;
}
