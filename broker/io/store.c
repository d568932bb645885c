/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: see store.h. Here the file itself, counters and overrides; leases, pools
 * and history have files of their own. */
#include "broker/io/store.h"

#include <stdlib.h>
#include <string.h>

#include "broker/io/store_parts.h"
#include "sys/db/db.h"

enum { APPLICATION_ID = 0x53624c42 }; /* "SbLB", as `file` shows it */

static const char put_counter_sql[] =
    "INSERT INTO counter (name, value) VALUES (?1, ?2)"
    " ON CONFLICT (name) DO UPDATE SET value = ?2";
static const char all_counters_sql[] = "SELECT name, value FROM counter ORDER BY name";
static const char put_override_sql[] =
    "INSERT INTO override (scope, name, delay_ms) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (scope, name) DO UPDATE SET delay_ms = ?3";
static const char cut_override_sql[] =
    "DELETE FROM override WHERE scope = ?1 AND name = ?2";
static const char all_overrides_sql[] =
    "SELECT scope, name, delay_ms FROM override ORDER BY scope, name";

static const char put_site_sql[] =
    "INSERT INTO site (name, is_lost, since_ms, is_drained, silent_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT (name) DO UPDATE SET is_lost = ?2, since_ms = ?3, is_drained = ?4,"
    " silent_ms = ?5";
static const char all_sites_sql[] =
    "SELECT name, is_lost, since_ms, is_drained, silent_ms FROM site ORDER BY name";

static const char *const scopes[] = {
    [RECLAIM_ALL] = "all",
    [RECLAIM_PROVIDER] = "provider",
    [RECLAIM_LEASE] = "lease",
};
enum { N_SCOPES = sizeof(scopes) / sizeof(scopes[0]) };

/* From schema/broker, by tools/embed-sql. */
extern const struct db_migration broker_migrations[];

struct store {
    struct db *db;
    sqlite3_stmt *put_counter, *all_counters;
    sqlite3_stmt *put_override, *cut_override, *all_overrides;
    sqlite3_stmt *put_site, *all_sites;
    struct store_leases leases;
    struct store_pools pools;
    struct store_history history;
    struct store_present present;
    struct store_series series;
};

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

int store_begin(struct store *store, struct err *err)
{
    return db_begin(store->db, err);
}

int store_commit(struct store *store, struct err *err)
{
    return db_commit(store->db, err);
}

void store_maintain(struct store *store)
{
    db_maintain(store->db);
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

int store_write(struct store *store, const struct row *row, struct err *err)
{
    switch (row->kind) {
    case ROW_COUNTER:
        return put_counter(store, &row->counter, err);
    case ROW_OVERRIDE:
        return put_override(store, &row->override, err);
    case ROW_LEASE:
        return store_leases_put(&store->leases, store->db, &row->lease, err);
    case ROW_SITE:
        return put_site(store, &row->site, err);
    case ROW_POOL:
        return store_pools_put(&store->pools, store->db, &row->pool, err);
    case ROW_KEPT:
        return store_pools_put_carried(&store->pools, store->db, &row->kept, err);
    case ROW_HISTORY:
        return store_history_append(&store->history, store->db, &row->history, err);
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

static int load_counters(struct store *store, store_row_fn fn, void *arg,
                         struct err *err)
{
    sqlite3_stmt *all = db_statement(store->db, &store->all_counters, all_counters_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_COUNTER};
        row.counter.name = store_text(all, 0);
        row.counter.value = (uint64_t)sqlite3_column_int64(all, 1);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(all, "counters", err);
    sqlite3_reset(all);
    return rc;
}

/* N_SCOPES for a word that the schema does not allow. */
static int scope_of(const char *word)
{
    int scope = 0;
    while (scope < N_SCOPES && strcmp(scopes[scope], word) != 0) {
        scope++;
    }
    return scope;
}

static int read_override(sqlite3_stmt *all, struct row_override *override,
                         struct err *err)
{
    int scope = scope_of(store_text(all, 0));
    if (scope == N_SCOPES) {
        return err_set(err, ERR_IO, "store: overrides: unknown scope \"%s\"",
                       store_text(all, 0));
    }
    override->scope = (enum reclaim_scope)scope;
    override->name = store_text(all, 1);
    override->delay_ms = sqlite3_column_int64(all, 2);
    return 0;
}

static int load_overrides(struct store *store, store_row_fn fn, void *arg,
                          struct err *err)
{
    sqlite3_stmt *all =
        db_statement(store->db, &store->all_overrides, all_overrides_sql);
    int step, rc = 0;
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        struct row row = {.kind = ROW_OVERRIDE};
        rc = step == SQLITE_ROW ? read_override(all, &row.override, err)
                                : store_fail(all, "overrides", err);
        if (rc == 0) {
            fn(arg, &row);
        }
    }
    sqlite3_reset(all);
    return rc;
}

static int load_sites(struct store *store, store_row_fn fn, void *arg, struct err *err)
{
    sqlite3_stmt *all = db_statement(store->db, &store->all_sites, all_sites_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_SITE};
        row.site.name = store_text(all, 0);
        row.site.is_lost = sqlite3_column_int(all, 1) != 0;
        row.site.since_ms = sqlite3_column_int64(all, 2);
        row.site.is_drained = sqlite3_column_int(all, 3) != 0;
        row.site.silent_ms = sqlite3_column_int64(all, 4);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(all, "sites", err);
    sqlite3_reset(all);
    return rc;
}

int store_load(struct store *store, store_row_fn fn, void *arg, struct err *err)
{
    int rc = load_counters(store, fn, arg, err);
    if (rc == 0) {
        rc = load_overrides(store, fn, arg, err);
    }
    if (rc == 0) {
        rc = store_leases_load(&store->leases, store->db, fn, arg, err);
    }
    if (rc == 0) {
        rc = load_sites(store, fn, arg, err);
    }
    if (rc == 0) {
        rc = store_pools_load(&store->pools, store->db, fn, arg, err);
    }
    return rc;
}

int store_read_history(struct store *store, const struct msg_query *query,
                       struct arena *arena, struct value **value, const char **next,
                       struct err *err)
{
    return store_history_page(&store->history, store->db, query, arena, value, next,
                              err);
}

int store_forget_present(struct store *store, struct err *err)
{
    return store_present_clear(&store->present, store->db, err);
}

int store_put_present(struct store *store, enum query_kind kind,
                      const struct value *page, struct err *err)
{
    return kind == QUERY_SITES
               ? store_present_sites(&store->present, store->db, page, err)
               : store_present_leases(&store->present, store->db, page, err);
}

int store_put_sample(struct store *store, enum store_series_kind kind, const char *name,
                     int64_t at_ms, const int64_t *numbers, struct err *err)
{
    return store_series_put(&store->series, store->db, kind, name, at_ms, numbers, err);
}

int store_forget_samples(struct store *store, int64_t now_ms, struct err *err)
{
    return store_series_forget(&store->series, store->db, now_ms, err);
}

int store_read_series(struct store *store, const struct store_series_ask *ask,
                      struct arena *arena, struct value **value, struct err *err)
{
    return store_series_read(&store->series, store->db, ask, arena, value, err);
}

int store_last_event(struct store *store, int64_t *id, struct err *err)
{
    return store_history_last(&store->history, store->db, id, err);
}

sqlite3 *store_handle(struct store *store)
{
    return db_handle(store->db);
}
