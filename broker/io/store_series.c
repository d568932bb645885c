/* SPDX-License-Identifier: Apache-2.0 */
/* store_series.c: samples of sites, leases, pools and nodes of plans over time
 * (store.h).
 */
#include "broker/io/store_parts.h"

#include <string.h>

static const char name_sql[] =
    "INSERT INTO series (kind, name, last_ms) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (kind, name) DO UPDATE SET last_ms = ?3 RETURNING id";
static const char cut_sql[] = "DELETE FROM sample WHERE series = ?1 AND at_ms < ?2";
/* A series has a day of samples at most: few at a time. */
static const char forget_sql[] =
    "DELETE FROM series WHERE id IN"
    " (SELECT id FROM series WHERE last_ms < ?1 ORDER BY id LIMIT 4)";
static const char find_sql[] = "SELECT id, coalesce((SELECT min(at_ms) FROM sample"
                               " WHERE series = id AND at_ms >= ?3), ?3) FROM series "
                               "WHERE kind = ?1 AND name = ?2";

/* How a kind is called, and the columns that its samples have. A row of an answer is
 * the last sample of its bucket: SQLite takes bare columns from the row that has max().
 */
#define PUT_SQL(columns, values)                                                       \
    "INSERT OR REPLACE INTO sample (series, at_ms, " columns                           \
    ") VALUES (?1, ?2, " values ")"
#define READ_SQL(columns)                                                              \
    "SELECT max(at_ms), " columns " FROM sample"                                       \
    " WHERE series = ?1 AND at_ms >= ?2 GROUP BY at_ms / ?3 ORDER BY 1"
#define SITE_COLUMNS "own, used, lent, borrowed, idle, pending"
#define LEASE_COLUMNS                                                                  \
    "provider_available, provider_used, consumer_available, consumer_used"
#define POOL_COLUMNS "slots, idle, alloc, recalled, demand"
#define NODE_COLUMNS "quota, alloc, recalled, demand"

static const struct {
    const char *name;
    const char *put_sql, *read_sql;
} kinds[STORE_SERIES_KINDS] = {
    [STORE_SERIES_ALL] = {"all", PUT_SQL(SITE_COLUMNS, "?3, ?4, ?5, ?6, ?7, ?8"),
                          READ_SQL(SITE_COLUMNS)},
    [STORE_SERIES_SITE] = {"site", PUT_SQL(SITE_COLUMNS, "?3, ?4, ?5, ?6, ?7, ?8"),
                           READ_SQL(SITE_COLUMNS)},
    [STORE_SERIES_LEASE] = {"lease", PUT_SQL(LEASE_COLUMNS, "?3, ?4, ?5, ?6"),
                            READ_SQL(LEASE_COLUMNS)},
    [STORE_SERIES_POOL] = {"pool", PUT_SQL(POOL_COLUMNS, "?3, ?4, ?5, ?6, ?7"),
                           READ_SQL(POOL_COLUMNS)},
    [STORE_SERIES_NODE] = {"node", PUT_SQL(NODE_COLUMNS, "?3, ?4, ?5, ?6"),
                           READ_SQL(NODE_COLUMNS)},
};

/* ---------------------------------------------------------------- write */

static int find_or_name(struct store *store, enum store_series_kind kind,
                        const char *name, int64_t at_ms, int64_t *id, struct err *err)
{
    sqlite3_stmt *put = db_statement(store->db, &store->series.name, name_sql);
    db_column_bind_text(put, 1, kinds[kind].name);
    db_column_bind_text(put, 2, name);
    db_column_bind_int(put, 3, at_ms);
    int step = sqlite3_step(put);
    *id = sqlite3_column_int64(put, 0);
    int rc = step == SQLITE_ROW ? 0 : db_column_fail(put, "series", err);
    sqlite3_reset(put);
    return rc;
}

int store_series_put(struct store *store, enum store_series_kind kind, const char *name,
                     int64_t at_ms, const int64_t *numbers, struct err *err)
{
    struct db *db = store->db;
    int64_t id;
    int rc = find_or_name(store, kind, name, at_ms, &id, err);
    if (rc < 0) {
        return rc;
    }
    sqlite3_stmt *put = db_statement(db, &store->series.put[kind], kinds[kind].put_sql);
    db_column_bind_int(put, 1, id);
    db_column_bind_int(put, 2, at_ms);
    for (int at = 3; at <= sqlite3_bind_parameter_count(put); at++) {
        db_column_bind_int(put, at, *numbers++);
    }
    rc = db_run(db, put, err);
    if (rc == 0) {
        sqlite3_stmt *cut = db_statement(db, &store->series.cut, cut_sql);
        db_column_bind_int(cut, 1, id);
        db_column_bind_int(cut, 2, at_ms - STORE_SERIES_KEEP_MS);
        rc = db_run(db, cut, err);
    }
    return rc < 0 ? err_prefix(err, "sample") : 0;
}

int store_series_forget(struct store *store, int64_t now_ms, struct err *err)
{
    sqlite3_stmt *forget = db_statement(store->db, &store->series.forget, forget_sql);
    db_column_bind_int(forget, 1, now_ms - STORE_SERIES_KEEP_MS);
    return db_run(store->db, forget, err) < 0 ? err_prefix(err, "series") : 0;
}

/* ---------------------------------------------------------------- read */

/* A column SIDE_NAME is the field NAME of the object SIDE, whose columns are
 * consecutive.
 */
static void add_number(struct arena *arena, struct value *row, const char *column,
                       int64_t number)
{
    const char *name = strchr(column, '_');
    struct value *in = row;
    if (name != NULL) {
        const char *side = arena_strn(arena, column, (size_t)(name - column));
        bool is_there = strcmp(row->last->key, side) == 0;
        in = is_there ? row->last : value_add(arena, row, side, value_object(arena));
    }
    value_add_int(arena, in, arena_str(arena, name != NULL ? name + 1 : column),
                  number);
}

static void fill_row(struct arena *arena, struct value *row, sqlite3_stmt *read)
{
    value_add_instant(arena, row, "at", sqlite3_column_int64(read, 0));
    for (int i = 1; i < sqlite3_column_count(read); i++) {
        add_number(arena, row, sqlite3_column_name(read, i),
                   sqlite3_column_int64(read, i));
    }
}

/* Its id, -1: there is none; and its first sample that is asked for. */
static int find(struct store *store, const struct store_series_ask *ask, int64_t *id,
                int64_t *first_ms, struct err *err)
{
    sqlite3_stmt *find = db_statement(store->db, &store->series.find, find_sql);
    db_column_bind_text(find, 1, kinds[ask->kind].name);
    db_column_bind_text(find, 2, ask->name);
    db_column_bind_int(find, 3, ask->from_ms);
    int step = sqlite3_step(find);
    *id = step == SQLITE_ROW ? sqlite3_column_int64(find, 0) : -1;
    *first_ms = step == SQLITE_ROW ? sqlite3_column_int64(find, 1) : 0;
    int rc = step == SQLITE_ROW || step == SQLITE_DONE
                 ? 0
                 : db_column_fail(find, "series", err);
    sqlite3_reset(find);
    return rc;
}

int store_series_read(struct store *store, const struct store_series_ask *ask,
                      struct arena *arena, struct value **value, struct err *err)
{
    enum store_series_kind kind = ask->kind;
    int64_t id, first_ms;
    int step, rc = find(store, ask, &id, &first_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (id < 0 && kind != STORE_SERIES_ALL) {
        return err_set(err, ERR_NOT_FOUND, "%s \"%s\": no sample was taken",
                       kinds[kind].name, ask->name);
    }
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    struct value *rows = value_add(arena, *value, "series", value_array(arena));
    sqlite3_stmt *read =
        db_statement(store->db, &store->series.read[kind], kinds[kind].read_sql);
    db_column_bind_int(read, 1, id);
    db_column_bind_int(read, 2, first_ms);
    db_column_bind_int(read, 3, (ask->to_ms - first_ms) / STORE_SERIES_POINTS_MAX + 1);
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        fill_row(arena, value_add(arena, rows, NULL, value_object(arena)), read);
    }
    rc = step == SQLITE_DONE ? 0 : db_column_fail(read, "samples", err);
    sqlite3_reset(read);
    return rc;
}
