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

enum {
    /* A row's JSON without its texts: names, two instants' worth of digits, counts. */
    ROW_BYTES = 400,
    /* A byte of text as JSON at worst: \u0001. */
    ESCAPED_BYTES = 6,
    /* Half a frame: the reply's other fields are small, and so the page surely fits. */
    PAGE_BYTES_MAX = FRAME_MAX / 2,
    FORGET_EVERY = 256,
};

static const char append_sql[] =
    "INSERT INTO event (at_ms, lease, site, event, state, epoch, provider_available,"
    " provider_used, consumer_available, consumer_used, reason, pool, node, quota,"
    " demand, slots, deadline_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
    " ?17)";

static const char forget_sql[] = "DELETE FROM event WHERE id <= ?1";

#define PAGE_COLUMNS                                                                   \
    "id, at_ms, lease, site, event, state, epoch, provider_available, provider_used,"  \
    " consumer_available, consumer_used, reason, pool, node, quota, demand, slots,"    \
    " deadline_ms"

enum {
    ID,
    AT,
    LEASE,
    SITE,
    EVENT,
    STATE,
    EPOCH,
    PROVIDER,
    CONSUMER = PROVIDER + 2,
    REASON = CONSUMER + 2,
    POOL,
    NODE,
    QUOTA,
    DEMAND,
    SLOTS,
    DEADLINE,
};

static const char events_sql[] =
    "SELECT " PAGE_COLUMNS " FROM event WHERE id > ?1 ORDER BY id LIMIT ?2";

/* The last ?2 rows, which are few: read from the end and reversed. */
static const char last_events_sql[] =
    "SELECT * FROM (SELECT " PAGE_COLUMNS
    " FROM event WHERE id > ?1 ORDER BY id DESC LIMIT ?2) ORDER BY id";

static const char last_of_lease_sql[] =
    "SELECT * FROM (SELECT " PAGE_COLUMNS
    " FROM event WHERE lease = ?3 AND id > ?1 ORDER BY id DESC LIMIT ?2) ORDER BY id";

static const char leases_sql[] =
    "SELECT " PAGE_COLUMNS
    " FROM event WHERE lease <> '' AND id > ?1 ORDER BY id LIMIT ?2";

static const char lease_sql[] =
    "SELECT " PAGE_COLUMNS
    " FROM event WHERE lease = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

/* ---------------------------------------------------------------- append */

/* The oldest are deleted some at a time, so that no commit takes long. */
static int forget(struct store *store, struct err *err)
{
    int64_t last = sqlite3_last_insert_rowid(db_handle(store->db));
    if (last <= STORE_EVENTS_MAX || last % FORGET_EVERY != 0) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(store->db, &store->history.forget, forget_sql);
    db_column_bind_int(cut, 1, last - STORE_EVENTS_MAX);
    return db_run(store->db, cut, err);
}

int store_history_append(struct store *store, const struct row_history *row,
                         struct err *err)
{
    sqlite3_stmt *append = db_statement(store->db, &store->history.append, append_sql);
    int at = 0;
    db_column_bind_int(append, ++at, row->at_ms);
    db_column_bind_text(append, ++at, row->lease);
    db_column_bind_text(append, ++at, row->site);
    db_column_bind_text(append, ++at, row_history_name(row->event));
    db_column_bind_text(append, ++at,
                        row->lease[0] != '\0' ? msg_lease_state_name(row->state) : "");
    db_column_bind_int(append, ++at, (int64_t)row->epoch);
    db_column_bind_int(append, ++at, row->provider_available);
    db_column_bind_int(append, ++at, row->provider_used);
    db_column_bind_int(append, ++at, row->consumer_available);
    db_column_bind_int(append, ++at, row->consumer_used);
    db_column_bind_text(append, ++at, row->reason);
    db_column_bind_text(append, ++at, row->pool != NULL ? row->pool : "");
    db_column_bind_text(append, ++at, row->node != NULL ? row->node : "");
    db_column_bind_int(append, ++at, row->quota);
    db_column_bind_int(append, ++at, row->demand);
    db_column_bind_int(append, ++at, row->slots);
    db_column_bind_int(append, ++at, row->deadline_ms);
    int rc = db_run(store->db, append, err);
    if (rc == 0) {
        rc = forget(store, err);
    }
    return rc < 0 ? err_prefix(err, "history") : 0;
}

/* ---------------------------------------------------------------- entries */

static void add_side(struct arena *arena, struct value *entry, const char *key,
                     const char *site, sqlite3_stmt *page, int column)
{
    struct value *side = value_add(arena, entry, key, value_object(arena));
    if (site != NULL) {
        value_add_text(arena, side, "site", site);
    }
    value_add_int(arena, side, "available", sqlite3_column_int64(page, column));
    value_add_int(arena, side, "used", sqlite3_column_int64(page, column + 1));
}

/* A row of `lease history`. */
static void fill_history(struct arena *arena, struct value *entry, sqlite3_stmt *page)
{
    value_add_int(arena, entry, "seq", sqlite3_column_int64(page, ID));
    value_add_instant(arena, entry, "at", sqlite3_column_int64(page, AT));
    value_add_text(arena, entry, "lease", db_column_text(page, LEASE));
    value_add_text(arena, entry, "event", db_column_text(page, EVENT));
    value_add_text(arena, entry, "state", db_column_text(page, STATE));
    value_add_int(arena, entry, "epoch", sqlite3_column_int64(page, EPOCH));
    add_side(arena, entry, "provider", NULL, page, PROVIDER);
    add_side(arena, entry, "consumer", NULL, page, CONSUMER);
    value_add_text(arena, entry, "reason", db_column_text(page, REASON));
}

/* The sites of a lease are in its id. */
static void add_sides(struct arena *arena, struct value *entry, sqlite3_stmt *page)
{
    const char *lease = db_column_text(page, LEASE);
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    const char *provider = arena_strn(arena, lease, strcspn(lease, "/"));
    add_side(arena, entry, "provider", provider, page, PROVIDER);
    add_side(arena, entry, "consumer", arena_strn(arena, consumer, length), page,
             CONSUMER);
}

static void add_node(struct arena *arena, struct value *entry, sqlite3_stmt *page)
{
    value_add_text(arena, entry, "pool", db_column_text(page, POOL));
    value_add_text(arena, entry, "node", db_column_text(page, NODE));
    if (db_column_text(page, LEASE)[0] == '\0') {
        value_add_int(arena, entry, "quota", sqlite3_column_int64(page, QUOTA));
        value_add_int(arena, entry, "demand", sqlite3_column_int64(page, DEMAND));
    } else {
        value_add_int(arena, entry, "slots", sqlite3_column_int64(page, SLOTS));
        value_add_instant(arena, entry, "deadline",
                          sqlite3_column_int64(page, DEADLINE));
    }
}

/* A row of `events`. */
static void fill_event(struct arena *arena, struct value *entry, sqlite3_stmt *page)
{
    value_add_int(arena, entry, "id", sqlite3_column_int64(page, ID));
    value_add_instant(arena, entry, "at", sqlite3_column_int64(page, AT));
    value_add_text(arena, entry, "event", row_event_name(db_column_text(page, EVENT)));
    if (db_column_text(page, SITE)[0] != '\0') {
        value_add_text(arena, entry, "site", db_column_text(page, SITE));
    } else if (db_column_text(page, LEASE)[0] != '\0') {
        value_add_text(arena, entry, "lease", db_column_text(page, LEASE));
        value_add_int(arena, entry, "epoch", sqlite3_column_int64(page, EPOCH));
        add_sides(arena, entry, page);
    }
    if (db_column_text(page, NODE)[0] != '\0') {
        add_node(arena, entry, page);
    }
    value_add_text(arena, entry, "reason", db_column_text(page, REASON));
}

static size_t entry_bytes(sqlite3_stmt *page)
{
    return ROW_BYTES + 2 * strlen(db_column_text(page, LEASE)) +
           ESCAPED_BYTES * strlen(db_column_text(page, REASON));
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

static int fill_page(sqlite3_stmt *page, const struct msg_query *query, int limit,
                     int64_t last, struct arena *arena, struct value *entries,
                     const char **next, struct err *err)
{
    size_t n_bytes = 0;
    int rc;
    *next = "";
    while ((rc = sqlite3_step(page)) == SQLITE_ROW) {
        n_bytes += entry_bytes(page);
        if (entries->count == limit ||
            (entries->count > 0 && n_bytes > PAGE_BYTES_MAX)) {
            *next = arena_printf(arena, "%" PRId64, last);
            return 0;
        }
        last = sqlite3_column_int64(page, ID);
        struct value *entry = value_add(arena, entries, NULL, value_object(arena));
        (query->kind == QUERY_EVENTS ? fill_event : fill_history)(arena, entry, page);
    }
    return rc == SQLITE_DONE ? 0 : db_column_fail(page, "history", err);
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
    int rc = fill_page(page, query, limit, after, arena, entries, next, err);
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
