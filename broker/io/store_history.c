/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: see store_history.h. */
#include "broker/io/store_history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "broker/io/store_fields.h"

enum {
    /* A row's JSON without its texts: names, two instants' worth of digits, counts. */
    ROW_BYTES = 400,
    /* A byte of text as JSON at worst: \u0001. */
    ESCAPED_BYTES = 6,
    /* Half a frame: the reply's other fields are small, and so the page surely fits. */
    PAGE_BYTES_MAX = FRAME_MAX / 2,
};

static const char append_sql[] =
    "INSERT INTO history (at_ms, lease, event, state, epoch, provider_available,"
    " provider_used, consumer_available, consumer_used, reason)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

#define PAGE_COLUMNS                                                                   \
    "seq, at_ms, lease, event, state, epoch, provider_available, provider_used,"       \
    " consumer_available, consumer_used, reason"

static const char page_sql[] =
    "SELECT " PAGE_COLUMNS " FROM history WHERE seq > ?1 ORDER BY seq LIMIT ?2";

static const char page_of_lease_sql[] =
    "SELECT " PAGE_COLUMNS
    " FROM history WHERE lease = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2";

int store_append_history(struct store_history *history, struct db *db,
                         const struct row_history *row, struct err *err)
{
    sqlite3_stmt *append = db_statement(db, &history->append, append_sql);
    int at = 0;
    store_bind_int(append, ++at, row->at_ms);
    store_bind_text(append, ++at, row->lease);
    store_bind_text(append, ++at, row_history_name(row->event));
    store_bind_text(append, ++at, msg_lease_state_name(row->state));
    store_bind_int(append, ++at, (int64_t)row->epoch);
    store_bind_int(append, ++at, row->provider_available);
    store_bind_int(append, ++at, row->provider_used);
    store_bind_int(append, ++at, row->consumer_available);
    store_bind_int(append, ++at, row->consumer_used);
    store_bind_text(append, ++at, row->reason);
    return db_run(db, append, err) < 0 ? err_prefix(err, "history") : 0;
}

static void add_side(struct arena *arena, struct value *entry, const char *key,
                     sqlite3_stmt *page, int column)
{
    struct value *side = value_add(arena, entry, key, value_object(arena));
    value_add_int(arena, side, "available", sqlite3_column_int64(page, column));
    value_add_int(arena, side, "used", sqlite3_column_int64(page, column + 1));
}

static void add_entry(struct arena *arena, struct value *entries, sqlite3_stmt *page)
{
    struct value *entry = value_add(arena, entries, NULL, value_object(arena));
    value_add_int(arena, entry, "seq", sqlite3_column_int64(page, 0));
    value_add_instant(arena, entry, "at", sqlite3_column_int64(page, 1));
    value_add_text(arena, entry, "lease", store_text(page, 2));
    value_add_text(arena, entry, "event", store_text(page, 3));
    value_add_text(arena, entry, "state", store_text(page, 4));
    value_add_int(arena, entry, "epoch", sqlite3_column_int64(page, 5));
    add_side(arena, entry, "provider", page, 6);
    add_side(arena, entry, "consumer", page, 8);
    value_add_text(arena, entry, "reason", store_text(page, 10));
}

static size_t entry_bytes(sqlite3_stmt *page)
{
    return ROW_BYTES + strlen(store_text(page, 2)) +
           ESCAPED_BYTES * strlen(store_text(page, 10));
}

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

static sqlite3_stmt *open_page(struct store_history *history, struct db *db,
                               const char *lease, int64_t after, int n_rows)
{
    bool is_all = lease[0] == '\0';
    sqlite3_stmt *page =
        is_all ? db_statement(db, &history->page, page_sql)
               : db_statement(db, &history->page_of_lease, page_of_lease_sql);
    store_bind_int(page, 1, after);
    store_bind_int(page, 2, n_rows);
    if (!is_all) {
        store_bind_text(page, 3, lease);
    }
    return page;
}

int store_page_history(struct store_history *history, struct db *db,
                       const struct msg_query *query, struct arena *arena,
                       struct value **value, const char **next, struct err *err)
{
    int64_t seq;
    if (parse_after(query->after, &seq, err) < 0) {
        return err->code;
    }
    int limit =
        query->limit > 0 && query->limit < PAGE_ROWS_MAX ? query->limit : PAGE_ROWS_MAX;
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    struct value *entries = value_add(arena, *value, "history", value_array(arena));
    *next = "";

    /* One row more than the page takes tells whether there is a next one. */
    sqlite3_stmt *page = open_page(history, db, query->name, seq, limit + 1);
    size_t n_bytes = 0;
    int rc;
    while ((rc = sqlite3_step(page)) == SQLITE_ROW) {
        n_bytes += entry_bytes(page);
        if (entries->count == limit ||
            (entries->count > 0 && n_bytes > PAGE_BYTES_MAX)) {
            *next = arena_printf(arena, "%" PRId64, seq);
            rc = SQLITE_DONE;
            break;
        }
        seq = sqlite3_column_int64(page, 0);
        add_entry(arena, entries, page);
    }
    rc = rc == SQLITE_DONE ? 0 : store_fail(page, "history", err);
    sqlite3_reset(page);
    return rc;
}
