/* SPDX-License-Identifier: Apache-2.0 */
/* store_series.c: see store_series.h. */
#include "broker/io/store_series.h"

#include <string.h>

#include "broker/io/store_parts.h"

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

/* A field of an answer: in the object `side` of the row, or in the row itself. */
struct field {
    const char *side; /* NULL: none */
    const char *name;
};
static const struct field site_fields[] = {{NULL, "own"},  {NULL, "used"},
                                           {NULL, "lent"}, {NULL, "borrowed"},
                                           {NULL, "idle"}, {NULL, "pending"}};
static const struct field lease_fields[] = {{"provider", "available"},
                                            {"provider", "used"},
                                            {"consumer", "available"},
                                            {"consumer", "used"}};
static const struct field pool_fields[] = {{NULL, "slots"},
                                           {NULL, "idle"},
                                           {NULL, "alloc"},
                                           {NULL, "recalled"},
                                           {NULL, "demand"}};
static const struct field node_fields[] = {
    {NULL, "quota"}, {NULL, "alloc"}, {NULL, "recalled"}, {NULL, "demand"}};

static const struct {
    const char *name;
    const char *put_sql, *read_sql;
    const struct field *fields;
    int n_numbers;
} kinds[STORE_SERIES_KINDS] = {
    [STORE_SERIES_ALL] = {"all", PUT_SQL(SITE_COLUMNS, "?3, ?4, ?5, ?6, ?7, ?8"),
                          READ_SQL(SITE_COLUMNS), site_fields,
                          STORE_SERIES_SITE_NUMBERS},
    [STORE_SERIES_SITE] = {"site", PUT_SQL(SITE_COLUMNS, "?3, ?4, ?5, ?6, ?7, ?8"),
                           READ_SQL(SITE_COLUMNS), site_fields,
                           STORE_SERIES_SITE_NUMBERS},
    [STORE_SERIES_LEASE] = {"lease", PUT_SQL(LEASE_COLUMNS, "?3, ?4, ?5, ?6"),
                            READ_SQL(LEASE_COLUMNS), lease_fields,
                            STORE_SERIES_LEASE_NUMBERS},
    [STORE_SERIES_POOL] = {"pool", PUT_SQL(POOL_COLUMNS, "?3, ?4, ?5, ?6, ?7"),
                           READ_SQL(POOL_COLUMNS), pool_fields,
                           STORE_SERIES_POOL_NUMBERS},
    [STORE_SERIES_NODE] = {"node", PUT_SQL(NODE_COLUMNS, "?3, ?4, ?5, ?6"),
                           READ_SQL(NODE_COLUMNS), node_fields,
                           STORE_SERIES_NODE_NUMBERS},
};

/* ---------------------------------------------------------------- write */

static int find_or_name(struct store_series *series, struct db *db,
                        enum store_series_kind kind, const char *name, int64_t at_ms,
                        int64_t *id, struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &series->name, name_sql);
    store_bind_text(put, 1, kinds[kind].name);
    store_bind_text(put, 2, name);
    store_bind_int(put, 3, at_ms);
    int step = sqlite3_step(put);
    *id = sqlite3_column_int64(put, 0);
    int rc = step == SQLITE_ROW ? 0 : store_fail(put, "series", err);
    sqlite3_reset(put);
    return rc;
}

int store_series_put(struct store_series *series, struct db *db,
                     enum store_series_kind kind, const char *name, int64_t at_ms,
                     const int64_t *numbers, struct err *err)
{
    int64_t id;
    int rc = find_or_name(series, db, kind, name, at_ms, &id, err);
    if (rc < 0) {
        return rc;
    }
    sqlite3_stmt *put = db_statement(db, &series->put[kind], kinds[kind].put_sql);
    store_bind_int(put, 1, id);
    store_bind_int(put, 2, at_ms);
    for (int i = 0; i < kinds[kind].n_numbers; i++) {
        store_bind_int(put, 3 + i, numbers[i]);
    }
    rc = db_run(db, put, err);
    if (rc == 0) {
        sqlite3_stmt *cut = db_statement(db, &series->cut, cut_sql);
        store_bind_int(cut, 1, id);
        store_bind_int(cut, 2, at_ms - STORE_SERIES_KEEP_MS);
        rc = db_run(db, cut, err);
    }
    return rc < 0 ? err_prefix(err, "sample") : 0;
}

int store_series_forget(struct store_series *series, struct db *db, int64_t now_ms,
                        struct err *err)
{
    sqlite3_stmt *forget = db_statement(db, &series->forget, forget_sql);
    store_bind_int(forget, 1, now_ms - STORE_SERIES_KEEP_MS);
    return db_run(db, forget, err) < 0 ? err_prefix(err, "series") : 0;
}

/* ---------------------------------------------------------------- read */

/* A side's object comes with the first of its fields, which stand together. */
static void add_number(struct arena *arena, struct value *row,
                       const struct field *field, int64_t number)
{
    struct value *in = row;
    if (field->side != NULL) {
        bool is_there = strcmp(row->last->key, field->side) == 0;
        in = is_there ? row->last
                      : value_add(arena, row, field->side, value_object(arena));
    }
    value_add_int(arena, in, field->name, number);
}

static void fill_row(struct arena *arena, struct value *row, sqlite3_stmt *read,
                     enum store_series_kind kind)
{
    value_add_instant(arena, row, "at", sqlite3_column_int64(read, 0));
    for (int i = 0; i < kinds[kind].n_numbers; i++) {
        add_number(arena, row, &kinds[kind].fields[i],
                   sqlite3_column_int64(read, 1 + i));
    }
}

/* Its id, -1: there is none; and its first sample that is asked for. */
static int find(struct store_series *series, struct db *db,
                const struct store_series_ask *ask, int64_t *id, int64_t *first_ms,
                struct err *err)
{
    sqlite3_stmt *find = db_statement(db, &series->find, find_sql);
    store_bind_text(find, 1, kinds[ask->kind].name);
    store_bind_text(find, 2, ask->name);
    store_bind_int(find, 3, ask->from_ms);
    int step = sqlite3_step(find);
    *id = step == SQLITE_ROW ? sqlite3_column_int64(find, 0) : -1;
    *first_ms = step == SQLITE_ROW ? sqlite3_column_int64(find, 1) : 0;
    int rc =
        step == SQLITE_ROW || step == SQLITE_DONE ? 0 : store_fail(find, "series", err);
    sqlite3_reset(find);
    return rc;
}

int store_series_read(struct store_series *series, struct db *db,
                      const struct store_series_ask *ask, struct arena *arena,
                      struct value **value, struct err *err)
{
    enum store_series_kind kind = ask->kind;
    int64_t id, first_ms;
    int step, rc = find(series, db, ask, &id, &first_ms, err);
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
    sqlite3_stmt *read = db_statement(db, &series->read[kind], kinds[kind].read_sql);
    store_bind_int(read, 1, id);
    store_bind_int(read, 2, first_ms);
    store_bind_int(read, 3, (ask->to_ms - first_ms) / STORE_SERIES_POINTS_MAX + 1);
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        fill_row(arena, value_add(arena, rows, NULL, value_object(arena)), read, kind);
    }
    rc = step == SQLITE_DONE ? 0 : store_fail(read, "samples", err);
    sqlite3_reset(read);
    return rc;
}
