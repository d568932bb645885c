/* SPDX-License-Identifier: Apache-2.0 */
/* store_pools.c: tables pool and pool_kept of the broker's store (store.h has the
 * rules).
 *
 * Order: pools by name, what nodes keep by pool and path. */
#include "broker/io/store_parts.h"

static const char put_sql[] = "INSERT INTO pool (name, window, slots)"
                              " VALUES (?1, ?2, ?3) ON CONFLICT (name)"
                              " DO UPDATE SET window = ?2, slots = ?3";
static const char cut_sql[] = "DELETE FROM pool WHERE name = ?1";
static const char all_sql[] = "SELECT name, window, slots FROM pool ORDER BY name";

static const char put_kept_sql[] =
    "INSERT INTO pool_kept (pool, node, slots) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (pool, node) DO UPDATE SET slots = ?3";
static const char cut_kept_sql[] =
    "DELETE FROM pool_kept WHERE pool = ?1 AND node = ?2";
static const char all_kept_sql[] =
    "SELECT pool, node, slots FROM pool_kept ORDER BY pool, node";

int store_pools_put(struct store_pools *pools, struct db *db,
                    const struct row_pool *pool, struct err *err)
{
    sqlite3_stmt *put = pool->is_gone ? db_statement(db, &pools->cut, cut_sql)
                                      : db_statement(db, &pools->put, put_sql);
    store_bind_text(put, 1, pool->name);
    if (!pool->is_gone) {
        store_bind_text(put, 2, pool->window);
        store_bind_int(put, 3, pool->slots);
    }
    return db_run(db, put, err) < 0 ? err_prefix(err, "pool \"%s\"", pool->name) : 0;
}

int store_pools_put_carried(struct store_pools *pools, struct db *db,
                            const struct row_kept *kept, struct err *err)
{
    sqlite3_stmt *put = kept->is_gone
                            ? db_statement(db, &pools->cut_kept, cut_kept_sql)
                            : db_statement(db, &pools->put_kept, put_kept_sql);
    store_bind_text(put, 1, kept->pool);
    store_bind_text(put, 2, kept->node);
    if (!kept->is_gone) {
        store_bind_int(put, 3, kept->slots);
    }
    return db_run(db, put, err) < 0
               ? err_prefix(err, "pool \"%s\", %s", kept->pool, kept->node)
               : 0;
}

static int load_pools(sqlite3_stmt *all, store_row_fn fn, void *arg, struct err *err)
{
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_POOL};
        row.pool.name = store_text(all, 0);
        row.pool.window = store_text(all, 1);
        row.pool.slots = sqlite3_column_int64(all, 2);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(all, "pools", err);
    sqlite3_reset(all);
    return rc;
}

static int load_kept(sqlite3_stmt *all, store_row_fn fn, void *arg, struct err *err)
{
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_KEPT};
        row.kept.pool = store_text(all, 0);
        row.kept.node = store_text(all, 1);
        row.kept.slots = sqlite3_column_int64(all, 2);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(all, "nodes of pools", err);
    sqlite3_reset(all);
    return rc;
}

int store_pools_load(struct store_pools *pools, struct db *db, store_row_fn fn,
                     void *arg, struct err *err)
{
    int rc = load_pools(db_statement(db, &pools->all, all_sql), fn, arg, err);
    return rc < 0 ? rc
                  : load_kept(db_statement(db, &pools->all_kept, all_kept_sql), fn, arg,
                              err);
}
