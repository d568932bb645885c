/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: what happened to contracts and sites: appended in order, read by the
 * page, as a lease's history or as events.
 *
 * Kept are the latest STORE_EVENTS_MAX rows, and at most FORGET_EVERY more: some 120
 * MiB.
 * Bounds: a page ends after PAGE_ROWS_MAX rows, or sooner if its JSON might not fit
 * a frame. */
#include "broker/io/store_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/lease_event.h"

enum {
    /* A row's JSON without its texts: names, two instants' worth of digits, counts. */
    ROW_BYTES = 400,
    /* A byte of text as JSON at worst: \u0001. */
    ESCAPED_BYTES = 6,
    /* Half a frame: the reply's other fields are small, and so the page surely fits. */
    PAGE_BYTES_MAX = FRAME_MAX / 2,
    FORGET_EVERY = 256,
};

static const char forget_sql[] = "DELETE FROM event WHERE id <= ?1";

static const char events_sql[] = "SELECT * FROM event WHERE id > ?1 ORDER BY id"
                                 " LIMIT ?2";

/* The last ?2 rows, which are few: read from the end and reversed. */
static const char last_events_sql[] =
    "SELECT * FROM (SELECT * FROM event WHERE id > ?1 ORDER BY id DESC LIMIT ?2)"
    " ORDER BY id";

static const char last_of_lease_sql[] =
    "SELECT * FROM (SELECT * FROM event WHERE lease = ?3 AND id > ?1 ORDER BY id DESC"
    " LIMIT ?2) ORDER BY id";

static const char leases_sql[] =
    "SELECT * FROM event WHERE lease <> '' AND id > ?1 ORDER BY id LIMIT ?2";

static const char lease_sql[] =
    "SELECT * FROM event WHERE lease = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

int store_history_forget(struct store *store, struct err *err)
{
    int64_t last = sqlite3_last_insert_rowid(db_handle(store->db));
    if (last <= STORE_EVENTS_MAX || last % FORGET_EVERY != 0) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(store->db, &store->history.forget, forget_sql);
    db_column_bind_int(cut, 1, last - STORE_EVENTS_MAX);
    return db_run(store->db, cut, err) < 0 ? err_prefix(err, "history") : 0;
}

/* ---------------------------------------------------------------- entries */

/* A row of `lease history`. */
static void fill_history(struct arena *arena, struct value *entry,
                         const struct row_history *row)
{
    value_add_int(arena, entry, "seq", (int64_t)row->id);
    value_add_instant(arena, entry, "at", row->at_ms);
    value_add_text(arena, entry, "lease", row->lease);
    value_add_text(arena, entry, "event", schema_row_event_words[row->event]);
    value_add_text(arena, entry, "state", row->state);
    value_add_int(arena, entry, "epoch", (int64_t)row->epoch);
    lease_event_add_side(arena, entry, "provider", NULL, row->provider_available,
                         row->provider_used);
    lease_event_add_side(arena, entry, "consumer", NULL, row->consumer_available,
                         row->consumer_used);
    value_add_text(arena, entry, "reason", row->reason);
}

/* A row of `events`. */
static void fill_event(struct arena *arena, struct value *entry,
                       const struct row_history *row)
{
    value_add_int(arena, entry, "id", (int64_t)row->id);
    value_add_instant(arena, entry, "at", row->at_ms);
    value_add_text(arena, entry, "event", lease_event_name(row->event));
    lease_event_add(arena, entry, row, -1);
}

static size_t entry_bytes(const struct row_history *row)
{
    return ROW_BYTES + 2 * strlen(row->lease) + ESCAPED_BYTES * strlen(row->reason);
}

/* ---------------------------------------------------------------- pages */

static int parse_after(const char *after, int64_t *seq, struct err *err)
{
    char *end;
    *seq = strtoll(after, &end, 10);
    if (*end != '\0' || *seq < 0) {
        return err_set(err, ERR_PARSE, "after: \"%s\", expected a history number",
                       after);
    }
    return 0;
}

/* A statement for the rows after `after`. */
static sqlite3_stmt *open_page(struct store *store, const struct msg_query *query,
                               int64_t after, int n_rows)
{
    bool is_of_one = query->kind != QUERY_EVENTS && query->name[0] != '\0';
    bool is_last = query->last > 0;
    struct db *db = store->db;
    sqlite3_stmt *page;
    if (query->kind == QUERY_EVENTS) {
        page = is_last ? db_statement(db, &store->history.last_events, last_events_sql)
                       : db_statement(db, &store->history.events, events_sql);
    } else if (is_of_one) {
        page = is_last
                   ? db_statement(db, &store->history.last_of_lease, last_of_lease_sql)
                   : db_statement(db, &store->history.lease, lease_sql);
    } else {
        page = db_statement(db, &store->history.leases, leases_sql);
    }
    db_column_bind_int(page, 1, after);
    db_column_bind_int(page, 2, n_rows);
    if (is_of_one) {
        db_column_bind_text(page, 3, query->name);
    }
    return page;
}

static int fill_page(struct db_table *events, sqlite3_stmt *page,
                     const struct msg_query *query, int limit, int64_t last,
                     struct arena *arena, struct value *entries, const char **next,
                     struct err *err)
{
    struct row_history row;
    size_t n_bytes = 0;
    int step, rc = 0;
    *next = "";
    while (rc == 0 && (step = sqlite3_step(page)) != SQLITE_DONE) {
        rc = step == SQLITE_ROW ? db_table_read(events, page, &row, arena, err)
                                : db_column_fail(page, "history", err);
        if (rc < 0) {
            break;
        }
        n_bytes += entry_bytes(&row);
        if (entries->count == limit ||
            (entries->count > 0 && n_bytes > PAGE_BYTES_MAX)) {
            *next = arena_printf(arena, "%" PRId64, last);
            break;
        }
        last = (int64_t)row.id;
        struct value *entry = value_add(arena, entries, NULL, value_object(arena));
        (query->kind == QUERY_EVENTS ? fill_event : fill_history)(arena, entry, &row);
    }
    return rc;
}

int store_history_read(struct store *store, const struct msg_query *query,
                       struct arena *arena, struct value **value, const char **next,
                       struct err *err)
{
    int64_t after;
    if (parse_after(query->after, &after, err) < 0) {
        return err->code;
    }
    int limit =
        query->limit > 0 && query->limit < PAGE_ROWS_MAX ? query->limit : PAGE_ROWS_MAX;
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    const char *name = query->kind == QUERY_EVENTS ? "events" : "history";
    struct value *entries = value_add(arena, *value, name, value_array(arena));

    /* One row more than the page takes shows whether there is a next page. */
    int n_rows = query->last > 0 ? query->last : limit + 1;
    sqlite3_stmt *page = open_page(store, query, after, n_rows);
    int rc = fill_page(db_rows_table(store->rows, ROW_HISTORY), page, query, limit,
                       after, arena, entries, next, err);
    sqlite3_reset(page);
    return rc;
}

int store_history_last(struct store *store, int64_t *id, struct err *err)
{
    sqlite3_stmt *latest =
        db_statement(store->db, &store->history.latest, "SELECT max(id) FROM event");
    int step = sqlite3_step(latest);
    *id = sqlite3_column_int64(latest, 0);
    int rc = step == SQLITE_ROW ? 0 : db_column_fail(latest, "history", err);
    sqlite3_reset(latest);
    return rc;
}
