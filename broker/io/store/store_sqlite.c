/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite.c: the store as a SQLite file (store.h).
 *
 * Kept are the latest STORE_EVENTS_MAX events, and at most STORE_FORGET_EVERY more:
 * some 120 MiB. */
#include "broker/io/store/store_sqlite.h"

#include <stdlib.h>

#include "broker/io/store/books_file.h"
#include "sys/daemon.h"

enum { APPLICATION_ID = 0x53624c42 }; /* "SbLB", as `file` shows it */

/* From schema/broker, by tools/embed-sql. */
extern const struct db_migration broker_migrations[];

static const char forget_sql[] = "DELETE FROM event WHERE id <= ?1";

static const char events_sql[] = "SELECT * FROM event WHERE id > ?1 ORDER BY id"
                                 " LIMIT ?2";

/* The last ?2 rows, which are few: read from the end and reversed. */
static const char last_events_sql[] =
    "SELECT * FROM (SELECT * FROM event WHERE id > ?1 ORDER BY id DESC LIMIT ?2)"
    " ORDER BY id";

static const char leases_sql[] =
    "SELECT * FROM event WHERE lease <> '' AND id > ?1 ORDER BY id LIMIT ?2";

static const char event_sql[] = "SELECT * FROM event WHERE id = ?1 AND lease = ?2";

static const char name_sql[] =
    "INSERT INTO series (kind, name, last_ms) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (kind, name) DO UPDATE SET last_ms = ?3 RETURNING id";
static const char cut_sql[] = "DELETE FROM sample WHERE series = ?1 AND at_ms < ?2";
static const char thin_sql[] =
    "DELETE FROM sample WHERE series = ?1 AND at_ms >= ?2 AND at_ms < ?3 AND EXISTS"
    " (SELECT 1 FROM sample AS first WHERE first.series = ?1"
    " AND first.at_ms >= sample.at_ms - sample.at_ms % ?4"
    " AND first.at_ms < sample.at_ms)";
static const char forget_series_sql[] =
    "DELETE FROM series WHERE id IN (SELECT id FROM series WHERE last_ms <"
    " CASE WHEN kind = 'lease' OR kind = 'node' THEN ?1 ELSE ?2 END"
    " ORDER BY id LIMIT ?3)";
static const char find_sql[] = "SELECT id, coalesce((SELECT min(at_ms) FROM sample"
                               " WHERE series = id AND at_ms >= ?3), ?3) FROM series "
                               "WHERE kind = ?1 AND name = ?2";

/* ---------------------------------------------------------------- rows */

static int begin(struct store *store, struct err *err)
{
    return db_begin(store_sqlite_of(store)->db, err);
}

static int commit(struct store *store, struct err *err)
{
    return db_commit(store_sqlite_of(store)->db, err);
}

static void maintain(struct store *store)
{
    db_maintain(store_sqlite_of(store)->db, daemon_now_ms());
}

static int load(struct store *store, store_row_fn *fn, void *arg, struct err *err)
{
    return db_rows_load(store_sqlite_of(store)->rows, fn, arg, err);
}

/* Deletes the oldest rows, some at a time, so that no commit takes long. */
static int forget_events(struct store_sqlite *file, struct err *err)
{
    int64_t last = sqlite3_last_insert_rowid(db_handle(file->db));
    if (last <= STORE_EVENTS_MAX || last % STORE_FORGET_EVERY != 0) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(file->db, &file->history.forget, forget_sql);
    db_column_bind_int(cut, 1, last - STORE_EVENTS_MAX);
    event_index_forget(&file->index, last - STORE_EVENTS_MAX);
    return db_run(file->db, cut, err) < 0 ? err_prefix(err, "history") : 0;
}

static int write_row(struct store *store, const struct row *row, struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    int rc = db_rows_write(file->rows, row, err);
    if (rc < 0 || row->kind != ROW_HISTORY) {
        return rc;
    }
    event_index_add(&file->index, sqlite3_last_insert_rowid(db_handle(file->db)),
                    row->history.lease);
    return forget_events(file, err);
}

/* ---------------------------------------------------------------- events */

static int last_event(struct store *store, int64_t *id, struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    sqlite3_stmt *latest =
        db_statement(file->db, &file->history.latest, "SELECT max(id) FROM event");
    int step = sqlite3_step(latest);
    *id = sqlite3_column_int64(latest, 0);
    int rc = step == SQLITE_ROW ? 0 : db_column_fail(latest, "history", err);
    sqlite3_reset(latest);
    return rc;
}

static int load_index(struct store_sqlite *file, struct err *err)
{
    sqlite3_stmt *all = NULL;
    db_statement(file->db, &all, "SELECT id, lease FROM event ORDER BY id");
    int step;
    while ((step = sqlite3_step(all)) == SQLITE_ROW) {
        event_index_add(&file->index, sqlite3_column_int64(all, 0),
                        db_column_text(all, 1));
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(all, "history", err);
    sqlite3_finalize(all);
    return rc;
}

/* Where the events that a reader gets go. */
struct reading {
    struct db_table *table;
    struct arena *arena;
    store_event_fn *fn;
    void *arg;
    int n_left;
};

/* Gives the row of a step to the reader, until it has all that it wants. */
static int give_event(struct reading *reading, sqlite3_stmt *page, int step,
                      struct err *err)
{
    struct row_history row;
    int rc = step == SQLITE_ROW
                 ? db_table_read(reading->table, page, &row, reading->arena, err)
                 : db_column_fail(page, "history", err);
    if (rc == 0) {
        reading->n_left = reading->fn(reading->arg, &row) ? reading->n_left - 1 : 0;
    }
    return rc;
}

static sqlite3_stmt *select_events(struct store_sqlite *file,
                                   const struct store_events *events)
{
    struct store_history *history = &file->history;
    if (events->of == STORE_EVENTS_LEASES) {
        return db_statement(file->db, &history->leases, leases_sql);
    }
    return events->is_last
               ? db_statement(file->db, &history->last_events, last_events_sql)
               : db_statement(file->db, &history->events, events_sql);
}

static int read_in_order(struct store_sqlite *file, const struct store_events *events,
                         struct reading *reading, struct err *err)
{
    sqlite3_stmt *page = select_events(file, events);
    int step, rc = 0;
    db_column_bind_int(page, 1, events->after);
    db_column_bind_int(page, 2, events->n_rows);
    while (rc == 0 && reading->n_left > 0 &&
           (step = sqlite3_step(page)) != SQLITE_DONE) {
        rc = give_event(reading, page, step, err);
    }
    sqlite3_reset(page);
    return rc;
}

/* The row of an event, if the event is of the lease and not of another one with the
 * same hash. */
static sqlite3_stmt *find_event(struct store_sqlite *file, int64_t id,
                                const char *lease, int *step)
{
    sqlite3_stmt *one = db_statement(file->db, &file->history.event, event_sql);
    db_column_bind_int(one, 1, id);
    db_column_bind_text(one, 2, lease);
    *step = sqlite3_step(one);
    return one;
}

/* The id behind which the last `n_rows` events of the lease are. */
static int64_t seek_last(struct store_sqlite *file, const struct store_events *events)
{
    int64_t id = INT64_MAX;
    int n_found = 0, step;
    while (n_found < events->n_rows) {
        id = event_index_previous(&file->index, events->lease, id);
        if (id <= events->after) {
            return events->after;
        }
        sqlite3_reset(find_event(file, id, events->lease, &step));
        n_found += step == SQLITE_ROW;
    }
    return id - 1;
}

static int read_of_lease(struct store_sqlite *file, const struct store_events *events,
                         struct reading *reading, struct err *err)
{
    int64_t id = events->is_last ? seek_last(file, events) : events->after;
    int step, rc = 0;
    while (rc == 0 && reading->n_left > 0 &&
           (id = event_index_next(&file->index, events->lease, id)) > 0) {
        sqlite3_stmt *one = find_event(file, id, events->lease, &step);
        rc = step == SQLITE_DONE ? 0 : give_event(reading, one, step, err);
        sqlite3_reset(one);
    }
    return rc;
}

static int read_events(struct store *store, const struct store_events *events,
                       struct arena *arena, store_event_fn *fn, void *arg,
                       struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    struct reading reading = {.table = db_rows_table(file->rows, ROW_HISTORY),
                              .arena = arena,
                              .fn = fn,
                              .arg = arg,
                              .n_left = events->n_rows};
    return (events->of == STORE_EVENTS_LEASE ? read_of_lease : read_in_order)(
        file, events, &reading, err);
}

/* ---------------------------------------------------------------- series */

static int name_series(struct store_sqlite *file, enum store_series_kind kind,
                       const char *name, int64_t at_ms, int64_t *id, struct err *err)
{
    sqlite3_stmt *put = db_statement(file->db, &file->series.name, name_sql);
    db_column_bind_text(put, 1, store_series_defs[kind].kind);
    db_column_bind_text(put, 2, name);
    db_column_bind_int(put, 3, at_ms);
    int step = sqlite3_step(put);
    *id = sqlite3_column_int64(put, 0);
    int rc = step == SQLITE_ROW ? 0 : db_column_fail(put, "series", err);
    sqlite3_reset(put);
    return rc;
}

static sqlite3_stmt *put_statement(struct store_sqlite *file,
                                   enum store_series_kind kind)
{
    const char *values = "";
    if (file->series.put[kind] != NULL) {
        return db_statement(file->db, &file->series.put[kind], NULL);
    }
    for (int i = 0; i < store_series_count(kind); i++) {
        values = arena_printf(&file->texts, "%s, ?%d", values, i + 3);
    }
    const char *sql = arena_printf(
        &file->texts,
        "INSERT OR REPLACE INTO sample (series, at_ms, %s) VALUES (?1, ?2%s)",
        store_series_join(&file->texts, kind), values);
    return db_statement(file->db, &file->series.put[kind], sql);
}

/* What is too old goes, and of what is old the first sample of each part stays. */
static int cut_samples(struct store_sqlite *file, enum store_series_kind kind,
                       int64_t id, int64_t at_ms, struct err *err)
{
    sqlite3_stmt *cut = db_statement(file->db, &file->series.cut, cut_sql);
    db_column_bind_int(cut, 1, id);
    db_column_bind_int(cut, 2, at_ms - store_series_keep_ms(kind));
    int rc = db_run(file->db, cut, err);
    if (rc < 0 || store_series_keep_ms(kind) == STORE_SERIES_FINE_MS) {
        return rc;
    }
    sqlite3_stmt *thin = db_statement(file->db, &file->series.thin, thin_sql);
    db_column_bind_int(thin, 1, id);
    db_column_bind_int(thin, 2, at_ms - STORE_SERIES_FINE_MS - STORE_THIN_MS);
    db_column_bind_int(thin, 3, at_ms - STORE_SERIES_FINE_MS);
    db_column_bind_int(thin, 4, STORE_SERIES_COARSE_MS);
    return db_run(file->db, thin, err);
}

static int put_sample(struct store *store, enum store_series_kind kind,
                      const char *name, int64_t at_ms, const int64_t *numbers,
                      struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    int64_t id;
    int rc = name_series(file, kind, name, at_ms, &id, err);
    if (rc < 0) {
        return rc;
    }
    sqlite3_stmt *put = put_statement(file, kind);
    db_column_bind_int(put, 1, id);
    db_column_bind_int(put, 2, at_ms);
    for (int i = 0; i < store_series_count(kind); i++) {
        db_column_bind_int(put, i + 3, numbers[i]);
    }
    rc = db_run(file->db, put, err);
    return rc == 0 ? cut_samples(file, kind, id, at_ms, err) : rc;
}

static int forget_series(struct store *store, int64_t now_ms, struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    sqlite3_stmt *forget =
        db_statement(file->db, &file->series.forget, forget_series_sql);
    db_column_bind_int(forget, 1, now_ms - STORE_SERIES_FINE_MS);
    db_column_bind_int(forget, 2, now_ms - STORE_SERIES_KEEP_MS);
    db_column_bind_int(forget, 3, STORE_FORGET_SERIES_MAX);
    return db_run(file->db, forget, err);
}

static int find_series(struct store *store, const struct store_series_ask *ask,
                       int64_t *series, int64_t *first_ms, struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    sqlite3_stmt *find = db_statement(file->db, &file->series.find, find_sql);
    db_column_bind_text(find, 1, store_series_defs[ask->kind].kind);
    db_column_bind_text(find, 2, ask->name);
    db_column_bind_int(find, 3, ask->from_ms);
    int step = sqlite3_step(find);
    *series = step == SQLITE_ROW ? sqlite3_column_int64(find, 0) : -1;
    *first_ms = step == SQLITE_ROW ? sqlite3_column_int64(find, 1) : 0;
    int rc = step == SQLITE_ROW || step == SQLITE_DONE
                 ? 0
                 : db_column_fail(find, "series", err);
    sqlite3_reset(find);
    return rc;
}

/* SQLite takes bare columns from the row that has max(). */
static sqlite3_stmt *read_statement(struct store_sqlite *file,
                                    enum store_series_kind kind)
{
    if (file->series.read[kind] != NULL) {
        return db_statement(file->db, &file->series.read[kind], NULL);
    }
    const char *sql = arena_printf(
        &file->texts,
        "SELECT max(at_ms), %s FROM sample WHERE series = ?1 AND at_ms >= ?2"
        " GROUP BY at_ms / ?3 ORDER BY 1",
        store_series_join(&file->texts, kind));
    return db_statement(file->db, &file->series.read[kind], sql);
}

static int read_samples(struct store *store, const struct store_samples *samples,
                        store_sample_fn *fn, void *arg, struct err *err)
{
    struct store_sqlite *file = store_sqlite_of(store);
    sqlite3_stmt *read = read_statement(file, samples->kind);
    int64_t numbers[STORE_SERIES_SITE_NUMBERS];
    int step;
    db_column_bind_int(read, 1, samples->series);
    db_column_bind_int(read, 2, samples->from_ms);
    db_column_bind_int(read, 3, samples->bucket_ms);
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        for (int i = 1; i < sqlite3_column_count(read); i++) {
            numbers[i - 1] = sqlite3_column_type(read, i) == SQLITE_NULL
                                 ? STORE_SERIES_UNKNOWN
                                 : sqlite3_column_int64(read, i);
        }
        fn(arg, sqlite3_column_int64(read, 0), numbers);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(read, "samples", err);
    sqlite3_reset(read);
    return rc;
}

/* ---------------------------------------------------------------- life */

static void close_store(struct store *store)
{
    struct store_sqlite *file = store_sqlite_of(store);
    db_rows_close(file->rows);
    db_close(file->db);
    arena_release(&file->texts);
    event_index_release(&file->index);
    free(file);
}

static struct db *db_of(struct store *store)
{
    return store_sqlite_of(store)->db;
}

static const struct store_ops sqlite_ops = {
    .close = close_store,
    .db = db_of,
    .begin = begin,
    .commit = commit,
    .maintain = maintain,
    .write = write_row,
    .load = load,
    .last_event = last_event,
    .read_events = read_events,
    .put_sample = put_sample,
    .forget_series = forget_series,
    .find_series = find_series,
    .read_samples = read_samples,
};

/* Whoever reads the tables, like store_transfer.c, finds all entries in `held`. */
static int move_entries(struct db *db, struct err *err)
{
    struct books_file books = {.db = db};
    return books_file_move(&books, err);
}

int store_sqlite_open(const char *path, bool accepts_loss, struct store **store,
                      struct err *err)
{
    struct store_sqlite *opened = mem_alloc(1, sizeof(*opened));
    struct db_table_def tables[ROW_KINDS];
    opened->store.ops = &sqlite_ops;
    arena_init(&opened->texts);
    store_tables_describe(tables);
    if (db_open(path, APPLICATION_ID, broker_migrations, accepts_loss, &opened->db,
                err) < 0 ||
        db_rows_open(opened->db, tables, &opened->rows, err) < 0 ||
        load_index(opened, err) < 0 || move_entries(opened->db, err) < 0) {
        close_store(&opened->store);
        return err->code;
    }
    *store = &opened->store;
    return 0;
}
