/* SPDX-License-Identifier: Apache-2.0 */
/* usage_detail.c: see usage_detail.h. */
#include "site/io/usage_detail.h"

#include <stdlib.h>

/* A run that goes on has its first begin: a restart knows only later ones. */
static const char run_sql[] =
    "INSERT INTO usage_run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    " ON CONFLICT DO UPDATE SET start_ms = min(start_ms, excluded.start_ms),"
    " end_ms = excluded.end_ms, used_ms = excluded.used_ms, at_ms = excluded.at_ms,"
    " n_slots = excluded.n_slots";
static const char split_sql[] =
    "INSERT INTO usage_split VALUES (?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT DO UPDATE SET epoch = excluded.epoch, n_slots = excluded.n_slots";
static const char trim_runs_sql[] = "DELETE FROM usage_run WHERE end_ms < ?1";
/* The last split of a side is what it holds now. */
static const char trim_splits_sql[] =
    "DELETE FROM usage_split WHERE at_ms < ?1 AND at_ms < (SELECT max(at_ms) FROM"
    " usage_split AS other WHERE other.lease = usage_split.lease"
    " AND other.side = usage_split.side)";
static const char oldest_sql[] = "SELECT min(end_ms) FROM usage_run WHERE end_ms < ?1";
static const char runs_sql[] =
    "SELECT attempt, side, job, start_ms, end_ms, used_ms, at_ms, n_slots"
    " FROM usage_run WHERE lease = ?1 AND attempt > ?2 AND end_ms >= ?3"
    " AND start_ms < ?4 ORDER BY attempt LIMIT ?5";
static const char splits_sql[] =
    "SELECT side, at_ms, epoch, n_slots FROM usage_split WHERE lease = ?1"
    " AND at_ms < ?3 AND at_ms >= (SELECT coalesce(max(at_ms), 0) FROM usage_split AS"
    " other WHERE other.lease = ?1 AND other.side = usage_split.side"
    " AND other.at_ms <= ?2) ORDER BY side, at_ms LIMIT ?4";

enum statement { RUN, SPLIT, TRIM_RUNS, TRIM_SPLITS, OLDEST, RUNS, SPLITS, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [RUN] = run_sql,
    [SPLIT] = split_sql,
    [TRIM_RUNS] = trim_runs_sql,
    [TRIM_SPLITS] = trim_splits_sql,
    [OLDEST] = oldest_sql,
    [RUNS] = runs_sql,
    [SPLITS] = splits_sql,
};

struct usage_detail {
    struct db *db;
    sqlite3_stmt *statements[STATEMENTS];
};

struct usage_detail *usage_detail_new(struct db *db)
{
    struct usage_detail *detail = mem_alloc(1, sizeof(*detail));
    detail->db = db;
    return detail;
}

void usage_detail_free(struct usage_detail *detail)
{
    free(detail);
}

static sqlite3_stmt *statement(struct usage_detail *detail, enum statement which)
{
    return db_statement(detail->db, &detail->statements[which], texts[which]);
}

/* ---------------------------------------------------------------- writing */

struct writing {
    struct usage_detail *detail;
    struct err *err;
    int rc;
};

static void write_run(void *arg, const struct usage_run *run)
{
    struct writing *writing = arg;
    sqlite3_stmt *to = statement(writing->detail, RUN);
    if (writing->rc < 0) {
        return;
    }
    db_column_bind_text(to, 1, run->lease);
    db_column_bind_int(to, 2, (int64_t)run->attempt);
    db_column_bind_int(to, 3, (int64_t)run->side);
    db_column_bind_text(to, 4, run->job);
    db_column_bind_int(to, 5, run->start_ms);
    db_column_bind_int(to, 6, run->end_ms);
    db_column_bind_int(to, 7, run->used_ms);
    db_column_bind_int(to, 8, run->at_ms);
    db_column_bind_int(to, 9, run->n_slots);
    writing->rc = db_run(writing->detail->db, to, writing->err);
}

static void write_split(void *arg, const struct usage_split *split)
{
    struct writing *writing = arg;
    sqlite3_stmt *to = statement(writing->detail, SPLIT);
    if (writing->rc < 0) {
        return;
    }
    db_column_bind_text(to, 1, split->lease);
    db_column_bind_int(to, 2, (int64_t)split->side);
    db_column_bind_int(to, 3, split->at_ms);
    db_column_bind_int(to, 4, (int64_t)split->epoch);
    db_column_bind_int(to, 5, split->n_slots);
    writing->rc = db_run(writing->detail->db, to, writing->err);
}

int usage_detail_write(struct usage_detail *detail, struct usage *usage,
                       struct usage_jobs *jobs, struct err *err)
{
    struct writing writing = {detail, err, 0};
    usage_jobs_each_run(jobs, write_run, &writing);
    usage_each_split(usage, write_split, &writing);
    return writing.rc;
}

int usage_detail_trim(struct usage_detail *detail, int64_t before_ms, struct err *err)
{
    sqlite3_stmt *runs = statement(detail, TRIM_RUNS);
    db_column_bind_int(runs, 1, before_ms);
    int rc = db_run(detail->db, runs, err);
    if (rc < 0) {
        return rc;
    }
    sqlite3_stmt *splits = statement(detail, TRIM_SPLITS);
    db_column_bind_int(splits, 1, before_ms);
    return db_run(detail->db, splits, err);
}

int usage_detail_oldest(struct usage_detail *detail, int64_t *oldest_ms,
                        struct err *err)
{
    sqlite3_stmt *read = statement(detail, OLDEST);
    db_column_bind_int(read, 1, USAGE_OPEN);
    int rc = sqlite3_step(read) == SQLITE_ROW ? 0 : db_column_fail(read, "usage", err);
    if (rc == 0) {
        *oldest_ms = sqlite3_column_type(read, 0) == SQLITE_NULL
                         ? INT64_MAX
                         : sqlite3_column_int64(read, 0);
    }
    sqlite3_reset(read);
    return rc;
}

/* ---------------------------------------------------------------- reading */

int usage_detail_read_runs(struct usage_detail *detail, const char *lease,
                           uint64_t after, int64_t from_ms, int64_t to_ms, int limit,
                           usage_run_fn fn, void *arg, struct err *err)
{
    sqlite3_stmt *read = statement(detail, RUNS);
    db_column_bind_text(read, 1, lease);
    db_column_bind_int(read, 2, (int64_t)after);
    db_column_bind_int(read, 3, from_ms);
    db_column_bind_int(read, 4, to_ms);
    db_column_bind_int(read, 5, limit);
    int step;
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        const struct usage_run run = {
            .lease = lease,
            .attempt = (uint64_t)sqlite3_column_int64(read, 0),
            .side = (enum usage_side)sqlite3_column_int(read, 1),
            .job = db_column_text(read, 2),
            .start_ms = sqlite3_column_int64(read, 3),
            .end_ms = sqlite3_column_int64(read, 4),
            .used_ms = sqlite3_column_int64(read, 5),
            .at_ms = sqlite3_column_int64(read, 6),
            .n_slots = sqlite3_column_int(read, 7),
        };
        fn(arg, &run);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(read, "usage", err);
    sqlite3_reset(read);
    return rc;
}

int usage_detail_read_splits(struct usage_detail *detail, const char *lease,
                             int64_t from_ms, int64_t to_ms, int limit,
                             usage_split_fn fn, void *arg, struct err *err)
{
    sqlite3_stmt *read = statement(detail, SPLITS);
    db_column_bind_text(read, 1, lease);
    db_column_bind_int(read, 2, from_ms);
    db_column_bind_int(read, 3, to_ms);
    db_column_bind_int(read, 4, limit);
    int step;
    while ((step = sqlite3_step(read)) == SQLITE_ROW) {
        const struct usage_split split = {
            .lease = lease,
            .side = (enum usage_side)sqlite3_column_int(read, 0),
            .at_ms = sqlite3_column_int64(read, 1),
            .epoch = (uint64_t)sqlite3_column_int64(read, 2),
            .n_slots = sqlite3_column_int(read, 3),
        };
        fn(arg, &split);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(read, "usage", err);
    sqlite3_reset(read);
    return rc;
}
