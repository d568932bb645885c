/* SPDX-License-Identifier: Apache-2.0 */
/* db_exported.h: what a lease exports besides slots, in the tables of either store:
 * memory and swap space are columns of its hosts' table, shared resources have a table
 * of their own.
 *
 * Ownership: what is read is copied into the arena. Errors: as db_run.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_EXPORTED_H
#define SUBLET_SYS_DB_EXPORTED_H

#include <sqlite3.h>

#include "base/arena.h"
#include "model/msg.h"
#include "sys/db.h"

/* NULL: not exported. */
void db_exported_bind_space(sqlite3_stmt *statement, int at, const struct space *space);
struct space db_exported_space(sqlite3_stmt *statement, int column);

/* The table's statements: DB_EXPORTED_SQL("lease_resource"). */
struct db_exported_sql {
    const char *has, *cut, *add, *all;
};
#define DB_EXPORTED_SQL(table)                                                         \
    {                                                                                  \
        .has = "SELECT 1 FROM " table " WHERE lease = ?1 LIMIT 1",                     \
        .cut = "DELETE FROM " table " WHERE lease = ?1",                               \
        .add = "INSERT INTO " table " (lease, place, name, pool, n_instances, traits," \
               " hosts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",                          \
        .all = "SELECT name, pool, n_instances, traits, hosts FROM " table             \
               " WHERE lease = ?1 ORDER BY place",                                     \
    }

struct db_exported {
    sqlite3_stmt *has, *cut, *add, *all;
};

/* All of a lease's anew: few leases have any, and they change with the provider's
 * configuration alone. */
int db_exported_put(struct db_exported *exported, const struct db_exported_sql *sql,
                    struct db *db, const char *lease,
                    const struct lease_resource *resources, int n_resources,
                    struct err *err) MUST_CHECK;
int db_exported_load(struct db_exported *exported, const struct db_exported_sql *sql,
                     struct db *db, const char *lease, struct arena *arena,
                     const struct lease_resource **resources, int *n_resources,
                     struct err *err) MUST_CHECK;

#endif
