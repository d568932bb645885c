/* SPDX-License-Identifier: Apache-2.0 */
/* exported_table.h: the tables, in both stores, of what a lease exports in addition to
 * slots: memory and swap space are columns of its hosts' table, shared resources have a
 * table of their own.
 *
 * Ownership: what is read is copied into the arena. Errors: as db_run.
 * Layer: sys. */
#ifndef SUBLET_SYS_EXPORTED_TABLE_H
#define SUBLET_SYS_EXPORTED_TABLE_H

#include <sqlite3.h>

#include "base/arena.h"
#include "model/msg.h"
#include "sys/db/db.h"

/* NULL: not exported. */
void exported_table_bind_space(sqlite3_stmt *statement, int at,
                               const struct space *space);
struct space exported_table_space(sqlite3_stmt *statement, int column);

/* The table's statements: EXPORTED_TABLE_SQL("lease_resource"). */
struct exported_table_sql {
    const char *has, *cut, *add, *all;
};
#define EXPORTED_TABLE_SQL(table)                                                      \
    {                                                                                  \
        .has = "SELECT 1 FROM " table " WHERE lease = ?1 LIMIT 1",                     \
        .cut = "DELETE FROM " table " WHERE lease = ?1",                               \
        .add = "INSERT INTO " table " (lease, place, name, pool, n_instances, traits," \
               " hosts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",                          \
        .all = "SELECT name, pool, n_instances, traits, hosts FROM " table             \
               " WHERE lease = ?1 ORDER BY place",                                     \
    }

struct exported_table {
    sqlite3_stmt *has, *cut, *add, *all;
};

/* Replaces all rows of a lease: few leases have any, and they change only with the
 * provider's configuration. */
int exported_table_put(struct exported_table *exported,
                       const struct exported_table_sql *sql, struct db *db,
                       const char *lease, const struct lease_resource *resources,
                       int n_resources, struct err *err) MUST_CHECK;
int exported_table_load(struct exported_table *exported,
                        const struct exported_table_sql *sql, struct db *db,
                        const char *lease, struct arena *arena,
                        const struct lease_resource **resources, int *n_resources,
                        struct err *err) MUST_CHECK;

#endif
