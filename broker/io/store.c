/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: see store.h. Here the file itself and the rows of one table each; leases,
 * history, series and the present have files of their own. */
#include "broker/io/store_parts.h"

#include <stdlib.h>
#include <string.h>

enum { APPLICATION_ID = 0x53624c42 }; /* "SbLB", as `file` shows it */

static const char put_counter_sql[] =
    "INSERT INTO counter (name, value) VALUES (?1, ?2)"
    " ON CONFLICT (name) DO UPDATE SET value = ?2";
static const char put_override_sql[] =
    "INSERT INTO override (scope, name, delay_ms) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (scope, name) DO UPDATE SET delay_ms = ?3";
static const char cut_override_sql[] =
    "DELETE FROM override WHERE scope = ?1 AND name = ?2";
static const char put_site_sql[] =
    "INSERT INTO site (name, is_lost, since_ms, is_drained, silent_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT (name) DO UPDATE SET is_lost = ?2, since_ms = ?3, is_drained = ?4,"
    " silent_ms = ?5";
static const char put_pool_sql[] = "INSERT INTO pool (name, window, slots)"
                                   " VALUES (?1, ?2, ?3) ON CONFLICT (name)"
                                   " DO UPDATE SET window = ?2, slots = ?3";
static const char cut_pool_sql[] = "DELETE FROM pool WHERE name = ?1";
static const char put_kept_sql[] =
    "INSERT INTO pool_kept (pool, node, slots) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (pool, node) DO UPDATE SET slots = ?3";
static const char cut_kept_sql[] =
    "DELETE FROM pool_kept WHERE pool = ?1 AND node = ?2";

static const char *const scopes[] = {
    [RECLAIM_ALL] = "all",
    [RECLAIM_PROVIDER] = "provider",
    [RECLAIM_LEASE] = "lease",
};
enum { N_SCOPES = sizeof(scopes) / sizeof(scopes[0]) };

/* From schema/broker, by tools/embed-sql. */
extern const struct db_migration broker_migrations[];

int store_open(const char *path, struct store **store, struct err *err)
{
    struct store *opened = mem_alloc(1, sizeof(*opened));
    if (db_open(path, APPLICATION_ID, broker_migrations, &opened->db, err) < 0) {
        free(opened);
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
    db_close(store->db);
    free(store);
}

struct db *store_db(struct store *store)
{
    return store->db;
}

static int put_counter(struct store *store, const struct row_counter *counter,
                       struct err *err)
{
    sqlite3_stmt *put = db_statement(store->db, &store->put_counter, put_counter_sql);
    store_bind_text(put, 1, counter->name);
    store_bind_int(put, 2, (int64_t)counter->value);
    return db_run(store->db, put, err) < 0 ? err_prefix(err, "counter") : 0;
}

static int put_override(struct store *store, const struct row_override *override,
                        struct err *err)
{
    bool is_gone = override->delay_ms < 0;
    sqlite3_stmt *put =
        is_gone ? db_statement(store->db, &store->cut_override, cut_override_sql)
                : db_statement(store->db, &store->put_override, put_override_sql);
    store_bind_text(put, 1, scopes[override->scope]);
    store_bind_text(put, 2, override->name);
    if (!is_gone) {
        store_bind_int(put, 3, override->delay_ms);
    }
    return db_run(store->db, put, err) < 0 ? err_prefix(err, "override") : 0;
}

static int put_site(struct store *store, const struct row_site *site, struct err *err)
{
    sqlite3_stmt *put = db_statement(store->db, &store->put_site, put_site_sql);
    store_bind_text(put, 1, site->name);
    store_bind_int(put, 2, site->is_lost);
    store_bind_int(put, 3, site->since_ms);
    store_bind_int(put, 4, site->is_drained);
    store_bind_int(put, 5, site->silent_ms);
    return db_run(store->db, put, err) < 0 ? err_prefix(err, "site") : 0;
}

static int put_pool(struct store *store, const struct row_pool *pool, struct err *err)
{
    sqlite3_stmt *put = pool->is_gone
                            ? db_statement(store->db, &store->cut_pool, cut_pool_sql)
                            : db_statement(store->db, &store->put_pool, put_pool_sql);
    store_bind_text(put, 1, pool->name);
    if (!pool->is_gone) {
        store_bind_text(put, 2, pool->window);
        store_bind_int(put, 3, pool->slots);
    }
    return db_run(store->db, put, err) < 0 ? err_prefix(err, "pool \"%s\"", pool->name)
                                           : 0;
}

static int put_kept(struct store *store, const struct row_kept *kept, struct err *err)
{
    sqlite3_stmt *put = kept->is_gone
                            ? db_statement(store->db, &store->cut_kept, cut_kept_sql)
                            : db_statement(store->db, &store->put_kept, put_kept_sql);
    store_bind_text(put, 1, kept->pool);
    store_bind_text(put, 2, kept->node);
    if (!kept->is_gone) {
        store_bind_int(put, 3, kept->slots);
    }
    return db_run(store->db, put, err) < 0
               ? err_prefix(err, "pool \"%s\", %s", kept->pool, kept->node)
               : 0;
}

int store_write(struct store *store, const struct row *row, struct err *err)
{
    switch (row->kind) {
    case ROW_COUNTER:
        return put_counter(store, &row->counter, err);
    case ROW_OVERRIDE:
        return put_override(store, &row->override, err);
    case ROW_LEASE:
        return store_leases_put(store, &row->lease, err);
    case ROW_SITE:
        return put_site(store, &row->site, err);
    case ROW_POOL:
        return put_pool(store, &row->pool, err);
    case ROW_KEPT:
        return put_kept(store, &row->kept, err);
    case ROW_HISTORY:
        return store_history_append(store, &row->history, err);
    case ROW_BOOK:
    case ROW_HIGH:
    case ROW_QUEUE:
    case ROW_JOB:
    case ROW_JOB_STATE:
    case ROW_RUN:
    case ROW_CLOSED:
    case ROW_PICK:
    case ROW_SHARE:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        break;
    }
    return err_set(err, ERR_STATE, "store: a row of kind %d is not the broker's",
                   (int)row->kind);
}

/* ---------------------------------------------------------------- load */

static int read_counter(const struct store_cursor *at, struct row *row)
{
    row->counter.name = store_text(at->all, 0);
    row->counter.value = (uint64_t)sqlite3_column_int64(at->all, 1);
    return 0;
}

static int read_override(const struct store_cursor *at, struct row *row)
{
    int scope = 0;
    while (scope < N_SCOPES && strcmp(scopes[scope], store_text(at->all, 0)) != 0) {
        scope++;
    }
    if (scope == N_SCOPES) {
        return err_set(at->err, ERR_IO, "store: overrides: unknown scope \"%s\"",
                       store_text(at->all, 0));
    }
    row->override.scope = (enum reclaim_scope)scope;
    row->override.name = store_text(at->all, 1);
    row->override.delay_ms = sqlite3_column_int64(at->all, 2);
    return 0;
}

static int read_site(const struct store_cursor *at, struct row *row)
{
    row->site.name = store_text(at->all, 0);
    row->site.is_lost = sqlite3_column_int(at->all, 1) != 0;
    row->site.since_ms = sqlite3_column_int64(at->all, 2);
    row->site.is_drained = sqlite3_column_int(at->all, 3) != 0;
    row->site.silent_ms = sqlite3_column_int64(at->all, 4);
    return 0;
}

static int read_pool(const struct store_cursor *at, struct row *row)
{
    row->pool.name = store_text(at->all, 0);
    row->pool.window = store_text(at->all, 1);
    row->pool.slots = sqlite3_column_int64(at->all, 2);
    return 0;
}

static int read_kept(const struct store_cursor *at, struct row *row)
{
    row->kept.pool = store_text(at->all, 0);
    row->kept.node = store_text(at->all, 1);
    row->kept.slots = sqlite3_column_int64(at->all, 2);
    return 0;
}

static const struct load {
    enum row_kind kind;
    const char *what, *sql;
    int (*read)(const struct store_cursor *at, struct row *row);
} loads[] = {
    {ROW_COUNTER, "counters", "SELECT name, value FROM counter ORDER BY name",
     read_counter},
    {ROW_OVERRIDE, "overrides",
     "SELECT scope, name, delay_ms FROM override ORDER BY scope, name", read_override},
    {ROW_LEASE, "leases", store_leases_sql, store_leases_read},
    {ROW_SITE, "sites",
     "SELECT name, is_lost, since_ms, is_drained, silent_ms FROM site ORDER BY name",
     read_site},
    {ROW_POOL, "pools", "SELECT name, window, slots FROM pool ORDER BY name",
     read_pool},
    {ROW_KEPT, "nodes of pools",
     "SELECT pool, node, slots FROM pool_kept ORDER BY pool, node", read_kept},
};

static int load_rows(struct store *store, const struct load *load, store_row_fn fn,
                     void *arg, struct err *err)
{
    struct arena arena;
    struct store_cursor at = {.store = store, .arena = &arena, .err = err};
    int step, rc = 0;
    arena_init(&arena);
    db_statement(store->db, &at.all, load->sql);
    while (rc == 0 && (step = sqlite3_step(at.all)) != SQLITE_DONE) {
        struct row row = {.kind = load->kind};
        arena_clear(&arena);
        rc = step == SQLITE_ROW ? load->read(&at, &row)
                                : store_fail(at.all, load->what, err);
        if (rc == 0) {
            fn(arg, &row);
        }
    }
    sqlite3_finalize(at.all);
    arena_release(&arena);
    return rc;
}

int store_load(struct store *store, store_row_fn fn, void *arg, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && rc == 0; i++) {
        rc = load_rows(store, &loads[i], fn, arg, err);
    }
    return rc;
}
