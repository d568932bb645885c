/* SPDX-License-Identifier: Apache-2.0 */
/* usage_store.c: see usage_store.h. */
#include "site/io/usage_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "site/io/usage_detail.h"
#include "sys/log.h"

/* About what a row takes beside its texts, as measured with rows of a ledger. */
#define ROW_BYTES "44"
#define TEXT_BYTES                                                                     \
    "length(lease) + length(user) + length(queue) + length(project)"                   \
    " + length(account)"

static const char add_sql[] =
    "UPDATE usage SET held_ms = held_ms + ?9, used_ms = used_ms + ?10,"
    " idle_ms = idle_ms + ?11, cost_ms = cost_ms + ?12, n_moved = n_moved + ?13"
    " WHERE n_hours = ?1 AND start_ms = ?2 AND lease = ?3"
    " AND side = ?4 AND user = ?5 AND queue = ?6 AND project = ?7 AND account = ?8";
static const char insert_sql[] =
    "INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
    " ?12, ?13)";
static const char grow_sql[] =
    "UPDATE usage_size SET n_bytes = n_bytes + " ROW_BYTES
    " + length(?3) + length(?5) + length(?6) + length(?7) + length(?8)";
static const char level_sql[] = "INSERT OR REPLACE INTO usage_level VALUES"
                                " (?1, ?2, ?3, ?4, ?5)";
static const char no_level_sql[] =
    "DELETE FROM usage_level WHERE lease = ?1 AND side = ?2";
static const char levels_sql[] = "SELECT lease, side, n_held, booked_ms,"
                                 " price FROM usage_level";
static const char read_sql[] =
    "SELECT n_hours, start_ms, lease, side, user, queue, project, account, held_ms,"
    " used_ms, idle_ms, cost_ms, n_moved FROM usage WHERE n_hours IN (1, 24) AND "
    "start_ms >= ?1"
    " AND start_ms < ?2";
/* (?1, ?2, ?3: the lease): an hour after the other, from a full one on. */
static const char lease_sql[] =
    "WITH RECURSIVE hours (at) AS (SELECT ?1 - ?1 % 3600000 UNION ALL"
    " SELECT at + 3600000 FROM hours WHERE at + 3600000 < ?2)"
    " SELECT n_hours, start_ms, lease, side, user, queue, project, account, held_ms,"
    " used_ms, idle_ms, cost_ms, n_moved FROM hours CROSS JOIN usage ON n_hours IN (1, "
    "24)"
    " AND start_ms = at AND lease = ?3";
static const char size_sql[] = "SELECT n_bytes, merged_ms FROM usage_size";
static const char oldest_sql[] = "SELECT min(start_ms) FROM usage WHERE n_hours = ?1";
/* Hours or days (?1) that begin in that time (?2, ?3). */
static const char shrink_sql[] =
    "UPDATE usage_size SET n_bytes = n_bytes - (SELECT ifnull(sum(" ROW_BYTES
    " + " TEXT_BYTES "), 0) FROM usage WHERE n_hours = ?1 AND start_ms >= ?2"
    " AND start_ms < ?3)";
static const char delete_sql[] =
    "DELETE FROM usage WHERE n_hours = ?1 AND start_ms >= ?2 AND start_ms < ?3";
static const char merge_sql[] =
    "INSERT INTO usage SELECT 24, ?2, lease, side, user, queue, project, account,"
    " sum(held_ms), sum(used_ms), sum(idle_ms), sum(cost_ms), sum(n_moved) FROM usage"
    " WHERE n_hours IN (1, 24) AND start_ms >= ?2 AND start_ms < ?3"
    " GROUP BY lease, side, user, queue, project, account"
    " ON CONFLICT DO UPDATE SET held_ms = excluded.held_ms,"
    " used_ms = excluded.used_ms, idle_ms = excluded.idle_ms,"
    " cost_ms = excluded.cost_ms, n_moved = excluded.n_moved";
static const char regrow_sql[] =
    "UPDATE usage_size SET merged_ms = max(merged_ms, ?3), n_bytes = n_bytes +"
    " (SELECT ifnull(sum(" ROW_BYTES " + " TEXT_BYTES "), 0) FROM usage"
    " WHERE n_hours = 24 AND start_ms >= ?2 AND start_ms < ?3)";

enum statement {
    ADD,
    INSERT,
    GROW,
    LEVEL,
    NO_LEVEL,
    LEVELS,
    READ,
    READ_LEASE,
    SIZE,
    OLDEST,
    SHRINK,
    DELETE,
    MERGE,
    REGROW,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [ADD] = add_sql,           [INSERT] = insert_sql,    [GROW] = grow_sql,
    [LEVEL] = level_sql,       [LEVELS] = levels_sql,    [READ] = read_sql,
    [NO_LEVEL] = no_level_sql, [SIZE] = size_sql,        [OLDEST] = oldest_sql,
    [SHRINK] = shrink_sql,     [DELETE] = delete_sql,    [MERGE] = merge_sql,
    [REGROW] = regrow_sql,     [READ_LEASE] = lease_sql,
};

/* A total as it was shown last: it never goes back. */
struct shown {
    char name[LEASE_ID_SIZE + 2]; /* side, lease */
    int64_t held_ms, used_ms, idle_ms;
    UT_hash_handle hh;
};

struct usage_store {
    struct db *db;
    struct usage *usage;
    struct usage_jobs *jobs;
    struct usage_detail *detail;
    struct usage_sums *totals; /* of what is written */
    struct shown *shown;
    bool is_started; /* the rows are not those that are loaded */
    int64_t n_bytes_max;
    int64_t trimmed_ms;
    sqlite3_stmt *statements[STATEMENTS];
};

struct usage_store *usage_store_new(struct journal *journal, int64_t n_bytes_max)
{
    struct usage_store *store = mem_alloc(1, sizeof(*store));
    store->db = journal_db(journal);
    store->usage = usage_new();
    store->jobs = usage_jobs_new(store->usage);
    store->detail = usage_detail_new(store->db);
    store->totals = usage_sums_new(USAGE_BY_LEASE | USAGE_BY_SIDE);
    store->n_bytes_max = n_bytes_max;
    return store;
}

static void free_shown(struct usage_store *store)
{
    struct shown *shown, *next;
    HASH_ITER (hh, store->shown, shown, next) {
        HASH_DEL(store->shown, shown);
        free(shown);
    }
}

void usage_store_free(struct usage_store *store)
{
    if (store != NULL) {
        free_shown(store);
        usage_detail_free(store->detail);
        usage_jobs_free(store->jobs);
        usage_sums_free(store->totals);
        usage_free(store->usage);
        free(store);
    }
}

void usage_store_resize(struct usage_store *store, int64_t n_bytes_max)
{
    store->n_bytes_max = n_bytes_max;
    store->trimmed_ms = 0;
}

struct usage *usage_store_usage(struct usage_store *store)
{
    return store->usage;
}

struct usage_detail *usage_store_detail(struct usage_store *store)
{
    return store->detail;
}

static sqlite3_stmt *statement(struct usage_store *store, enum statement which)
{
    return db_statement(store->db, &store->statements[which], texts[which]);
}

/* ---------------------------------------------------------------- booking */

static void store_split(struct usage_store *store, const struct row_book *row,
                        enum usage_side side, int n_slots, int64_t now_ms)
{
    const struct usage_split split = {.lease = row->lease,
                                      .side = side,
                                      .n_slots = n_slots,
                                      .epoch = row->epoch,
                                      .at_ms = store->is_started ? row->split_ms : 0};
    usage_split(store->usage, &split, now_ms);
}

void usage_store_row(struct usage_store *store, const struct row *row, int64_t now_ms)
{
    if (row->kind == ROW_BOOK) {
        int n_held = 0, n_lent = 0;
        bool is_over = row->book.is_gone || row->book.is_ended;
        for (int i = 0; i < row->book.n_hosts && !is_over; i++) {
            n_held += row->book.hosts[i].provider;
            n_lent += row->book.hosts[i].consumer;
        }
        store_split(store, &row->book, USAGE_PROVIDER, n_held, now_ms);
        store_split(store, &row->book, USAGE_LENT, n_lent, now_ms);
    } else {
        usage_jobs_stored(store->jobs, 0, row, now_ms);
    }
}

int usage_store_start(struct usage_store *store, int64_t now_ms, struct err *err)
{
    sqlite3_stmt *levels = statement(store, LEVELS);
    int step;
    usage_clear(store->usage); /* the time that loading took is in what follows */
    usage_jobs_clear(store->jobs);
    store->is_started = true;
    while ((step = sqlite3_step(levels)) == SQLITE_ROW) {
        struct usage_level level = {
            .lease = db_column_text(levels, 0),
            .side = (enum usage_side)sqlite3_column_int(levels, 1),
            .n_held = sqlite3_column_int(levels, 2),
            .booked_ms = sqlite3_column_int64(levels, 3),
            .price = sqlite3_column_int(levels, 4),
        };
        usage_restore(store->usage, &level);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(levels, "usage", err);
    sqlite3_reset(levels);
    usage_book(store->usage, now_ms);
    return rc;
}

/* ---------------------------------------------------------------- writing */

struct writing {
    struct usage_store *store;
    struct err *err;
    int rc;
};

static void bind_row(sqlite3_stmt *to, const struct usage_row *row)
{
    db_column_bind_int(to, 1, 1);
    db_column_bind_int(to, 2, row->start_ms);
    db_column_bind_text(to, 3, row->lease);
    db_column_bind_int(to, 4, (int64_t)row->side);
    db_column_bind_text(to, 5, row->owner.user);
    db_column_bind_text(to, 6, row->owner.queue);
    db_column_bind_text(to, 7, row->owner.project);
    db_column_bind_text(to, 8, row->owner.account);
    db_column_bind_int(to, 9, row->held_ms);
    db_column_bind_int(to, 10, row->used_ms);
    db_column_bind_int(to, 11, row->idle_ms);
    db_column_bind_int(to, 12, row->cost_ms);
    db_column_bind_int(to, 13, row->n_moved);
}

static void write_row(void *arg, const struct usage_row *row)
{
    struct writing *writing = arg;
    struct db *db = writing->store->db;
    sqlite3_stmt *add = statement(writing->store, ADD);
    if (writing->rc < 0) {
        return;
    }
    bind_row(add, row);
    writing->rc = db_run(db, add, writing->err);
    if (writing->rc < 0 || sqlite3_changes(db_handle(db)) > 0) {
        return;
    }
    sqlite3_stmt *insert = statement(writing->store, INSERT);
    bind_row(insert, row);
    writing->rc = db_run(db, insert, writing->err);
    if (writing->rc == 0) {
        sqlite3_stmt *grow = statement(writing->store, GROW);
        db_column_bind_text(grow, 3, row->lease);
        db_column_bind_text(grow, 5, row->owner.user);
        db_column_bind_text(grow, 6, row->owner.queue);
        db_column_bind_text(grow, 7, row->owner.project);
        db_column_bind_text(grow, 8, row->owner.account);
        writing->rc = db_run(db, grow, writing->err);
    }
}

static void write_level(void *arg, const struct usage_level *level)
{
    struct writing *writing = arg;
    bool is_open = level->n_held > 0 || level->is_used || level->price > 0;
    sqlite3_stmt *write = statement(writing->store, is_open ? LEVEL : NO_LEVEL);
    if (writing->rc < 0) {
        return;
    }
    db_column_bind_text(write, 1, level->lease);
    db_column_bind_int(write, 2, (int64_t)level->side);
    if (is_open) {
        db_column_bind_int(write, 3, level->n_held);
        db_column_bind_int(write, 4, level->booked_ms);
        db_column_bind_int(write, 5, level->price);
    }
    writing->rc = db_run(writing->store->db, write, writing->err);
}

int usage_store_write(struct usage_store *store, struct err *err)
{
    struct writing writing = {store, err, 0};
    usage_each(store->usage, write_row, &writing);
    usage_each_level(store->usage, write_level, &writing);
    return writing.rc < 0
               ? writing.rc
               : usage_detail_write(store->detail, store->usage, store->jobs, err);
}

static void add_to_sums(void *sums, const struct usage_row *row)
{
    usage_sums_add(sums, row);
}

void usage_store_committed(struct usage_store *store)
{
    usage_each(store->usage, add_to_sums, store->totals);
    usage_clear(store->usage);
    usage_jobs_clear(store->jobs);
}

/* ---------------------------------------------------------------- size and age */

/* The numbers of a row without parameters, or with ?1. */
static int read_numbers(struct usage_store *store, enum statement which,
                        int64_t n_hours, int64_t *first, int64_t *second,
                        struct err *err)
{
    sqlite3_stmt *read = statement(store, which);
    if (which == OLDEST) {
        db_column_bind_int(read, 1, n_hours);
    }
    int rc = sqlite3_step(read) == SQLITE_ROW ? 0 : db_column_fail(read, "usage", err);
    if (rc == 0) {
        *first = sqlite3_column_type(read, 0) == SQLITE_NULL
                     ? INT64_MAX
                     : sqlite3_column_int64(read, 0);
        *second = which == SIZE ? sqlite3_column_int64(read, 1) : 0;
    }
    sqlite3_reset(read);
    return rc;
}

static int run_on(struct usage_store *store, enum statement which, int64_t n_hours,
                  int64_t from_ms, int64_t to_ms, struct err *err)
{
    sqlite3_stmt *run = statement(store, which);
    if (which == SHRINK || which == DELETE) {
        db_column_bind_int(run, 1, n_hours);
    }
    db_column_bind_int(run, 2, from_ms);
    db_column_bind_int(run, 3, to_ms);
    return db_run(store->db, run, err);
}

static int drop_rows(struct usage_store *store, int64_t n_hours, int64_t from_ms,
                     int64_t to_ms, struct err *err)
{
    int rc = run_on(store, SHRINK, n_hours, from_ms, to_ms, err);
    return rc == 0 ? run_on(store, DELETE, n_hours, from_ms, to_ms, err) : rc;
}

/* The hours of a day, and what is in its row already, become its row. */
static int merge_day(struct usage_store *store, int64_t day_ms, struct err *err)
{
    int64_t end_ms = day_ms + USAGE_DAY_MS;
    char date[32];
    value_format_instant(day_ms, date);
    log_line(LOG_LEVEL_NOTICE,
             "usage: the ledger is larger than LEDGER_SIZE; the hours of %.10s are "
             "merged into one day",
             date);
    int rc = run_on(store, SHRINK, 24, day_ms, end_ms, err);
    if (rc == 0) {
        rc = run_on(store, MERGE, 24, day_ms, end_ms, err);
    }
    if (rc == 0) {
        rc = drop_rows(store, 1, day_ms, end_ms, err);
    }
    return rc == 0 ? run_on(store, REGROW, 24, day_ms, end_ms, err) : rc;
}

static int drop_day(struct usage_store *store, int64_t day_ms, struct err *err)
{
    char date[32];
    value_format_instant(day_ms, date);
    log_line(LOG_LEVEL_WARNING,
             "usage: the ledger is larger than LEDGER_SIZE although its hours are "
             "merged; %.10s is deleted",
             date);
    return drop_rows(store, 24, day_ms, day_ms + 1, err);
}

/* The runs and splits of the oldest day that has any before today; 1: there was one. */
static int drop_detail(struct usage_store *store, int64_t today_ms, struct err *err)
{
    int64_t oldest_ms;
    char date[32];
    int rc = usage_detail_oldest(store->detail, &oldest_ms, err);
    if (rc < 0 || oldest_ms >= today_ms) {
        return rc;
    }
    int64_t day_ms = oldest_ms - oldest_ms % USAGE_DAY_MS;
    value_format_instant(day_ms, date);
    log_line(LOG_LEVEL_NOTICE,
             "usage: the ledger is larger than LEDGER_SIZE; the runs and splits behind "
             "the hours of %.10s are deleted",
             date);
    rc = usage_detail_trim(store->detail, day_ms + USAGE_DAY_MS, err);
    return rc < 0 ? rc : 1;
}

/* One day smaller; 1 if there may be more to do. */
static int shrink_once(struct usage_store *store, int64_t now_ms, struct err *err)
{
    int64_t today_ms = now_ms - now_ms % USAGE_DAY_MS;
    int64_t n_bytes, hour_ms, day_ms, unused;
    int rc = read_numbers(store, SIZE, 0, &n_bytes, &unused, err);
    if (rc < 0 || n_bytes <= store->n_bytes_max) {
        return rc;
    }
    rc = drop_detail(store, today_ms, err);
    if (rc != 0) {
        return rc;
    }
    rc = read_numbers(store, OLDEST, 1, &hour_ms, &unused, err);
    if (rc == 0 && hour_ms < today_ms) {
        rc = merge_day(store, hour_ms - hour_ms % USAGE_DAY_MS, err);
        return rc < 0 ? rc : 1;
    }
    if (rc == 0) {
        rc = read_numbers(store, OLDEST, 24, &day_ms, &unused, err);
    }
    if (rc < 0 || day_ms == INT64_MAX) {
        return rc;
    }
    rc = drop_day(store, day_ms, err);
    return rc < 0 ? rc : 1;
}

static int trim(struct usage_store *store, int64_t now_ms, struct err *err)
{
    int64_t before_ms = now_ms - USAGE_STORE_DAYS * USAGE_DAY_MS;
    int rc = drop_rows(store, 1, INT64_MIN, before_ms, err);
    if (rc == 0) {
        rc = drop_rows(store, 24, INT64_MIN, before_ms, err);
    }
    if (rc == 0) {
        rc = usage_detail_trim(store->detail, now_ms - USAGE_DETAIL_DAYS * USAGE_DAY_MS,
                               err);
    }
    return rc == 0 ? shrink_once(store, now_ms, err) : rc;
}

static void note_change(void *is_changed, const struct usage_level *level)
{
    (void)level;
    *(bool *)is_changed = true;
}

int usage_store_maintain(struct usage_store *store, int64_t now_ms, struct err *err)
{
    int64_t past_ms = now_ms - store->trimmed_ms;
    bool is_due = past_ms < 0 || past_ms >= USAGE_HOUR_MS, is_changed = is_due;
    if (is_due) {
        usage_book(store->usage, now_ms);
    }
    usage_each_level(store->usage, note_change, &is_changed);
    if (!is_changed) {
        return 0;
    }
    int more = 0, rc = db_begin(store->db, err);
    if (rc == 0) {
        rc = usage_store_write(store, err);
    }
    if (rc == 0 && is_due) {
        rc = more = trim(store, now_ms, err);
    }
    rc = rc < 0 ? rc : db_commit(store->db, err);
    if (rc == 0) {
        usage_store_committed(store);
        store->trimmed_ms = is_due && more == 0 ? now_ms : store->trimmed_ms;
    }
    return rc;
}

/* ---------------------------------------------------------------- reading */

struct reading {
    const char *lease; /* NULL: all */
    int64_t from_ms, to_ms;
    usage_row_fn fn;
    void *arg;
};

static void give_booked(void *arg, const struct usage_row *row)
{
    const struct reading *reading = arg;
    if (row->start_ms >= reading->from_ms && row->start_ms < reading->to_ms &&
        (reading->lease == NULL || strcmp(reading->lease, row->lease) == 0)) {
        reading->fn(reading->arg, row);
    }
}

static int read_rows(struct usage_store *store, struct reading *reading,
                     struct err *err)
{
    sqlite3_stmt *read = statement(store, reading->lease == NULL ? READ : READ_LEASE);
    db_column_bind_int(read, 1, reading->from_ms);
    db_column_bind_int(read, 2, reading->to_ms);
    if (reading->lease != NULL) {
        db_column_bind_text(read, 3, reading->lease);
    }
    int step;
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        struct usage_row row = {
            .start_ms = sqlite3_column_int64(read, 1),
            .lease = db_column_text(read, 2),
            .side = (enum usage_side)sqlite3_column_int(read, 3),
            .owner = {db_column_text(read, 4), db_column_text(read, 5),
                      db_column_text(read, 6), db_column_text(read, 7)},
            .held_ms = sqlite3_column_int64(read, 8),
            .used_ms = sqlite3_column_int64(read, 9),
            .idle_ms = sqlite3_column_int64(read, 10),
            .cost_ms = sqlite3_column_int64(read, 11),
            .n_moved = sqlite3_column_int64(read, 12),
        };
        reading->fn(reading->arg, &row);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(read, "usage", err);
    sqlite3_reset(read);
    usage_each(store->usage, give_booked, reading);
    return rc;
}

int usage_store_read(struct usage_store *store, int64_t from_ms, int64_t to_ms,
                     usage_row_fn fn, void *arg, struct err *err)
{
    struct reading reading = {NULL, from_ms, to_ms, fn, arg};
    return read_rows(store, &reading, err);
}

int usage_store_read_lease(struct usage_store *store, const char *lease,
                           int64_t from_ms, int64_t to_ms, usage_row_fn fn, void *arg,
                           struct err *err)
{
    struct reading reading = {lease, from_ms, to_ms, fn, arg};
    return read_rows(store, &reading, err);
}

struct showing {
    struct usage_store *store;
    usage_row_fn fn;
    void *arg;
};

static struct shown *see_shown(struct usage_store *store, const struct usage_row *row)
{
    char name[LEASE_ID_SIZE + 2];
    struct shown *shown;
    snprintf(name, sizeof(name), "%d %s", (int)row->side, row->lease);
    HASH_FIND_STR(store->shown, name, shown);
    if (shown == NULL) {
        shown = mem_alloc(1, sizeof(*shown));
        memcpy(shown->name, name, sizeof(name));
        HASH_ADD_STR(store->shown, name, shown);
    }
    return shown;
}

static void raise_to(int64_t *shown_ms, int64_t slot_ms)
{
    *shown_ms = slot_ms > *shown_ms ? slot_ms : *shown_ms;
}

static void show_total(void *arg, const struct usage_row *row)
{
    const struct showing *showing = arg;
    struct shown *shown = see_shown(showing->store, row);
    struct usage_row raised = *row;
    raise_to(&shown->held_ms, row->held_ms);
    raise_to(&shown->used_ms, row->used_ms);
    raise_to(&shown->idle_ms, row->idle_ms);
    raised.held_ms = shown->held_ms;
    raised.used_ms = shown->used_ms;
    raised.idle_ms = shown->idle_ms;
    showing->fn(showing->arg, &raised);
}

void usage_store_each_total(struct usage_store *store, int64_t now_ms, usage_row_fn fn,
                            void *arg)
{
    struct usage_sums *all = usage_sums_new(USAGE_BY_LEASE | USAGE_BY_SIDE);
    struct showing showing = {store, fn, arg};
    usage_book(store->usage, now_ms);
    usage_sums_each(store->totals, add_to_sums, all);
    usage_each(store->usage, add_to_sums, all);
    usage_sums_each(all, show_total, &showing);
    usage_sums_free(all);
}

int usage_store_merged_ms(struct usage_store *store, int64_t *merged_ms,
                          struct err *err)
{
    int64_t n_bytes;
    return read_numbers(store, SIZE, 0, &n_bytes, merged_ms, err);
}

int usage_store_first_ms(struct usage_store *store, int64_t *first_ms, struct err *err)
{
    int64_t hour_ms, day_ms, unused;
    int rc = read_numbers(store, OLDEST, 1, &hour_ms, &unused, err);
    rc = rc == 0 ? read_numbers(store, OLDEST, 24, &day_ms, &unused, err) : rc;
    if (rc == 0) {
        *first_ms = hour_ms < day_ms ? hour_ms : day_ms;
        *first_ms = *first_ms == INT64_MAX ? 0 : *first_ms;
    }
    return rc;
}
