/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c: see journal.h. Here the file itself, counters, queues and high-water
 * marks; books, jobs, runs and shares have files of their own. */
#include "site/io/journal.h"

#include <stdlib.h>

#include "site/io/journal_books.h"
#include "site/io/journal_fields.h"
#include "site/io/journal_jobs.h"
#include "site/io/journal_runs.h"
#include "site/io/journal_shares.h"
#include "sys/db/db.h"

enum { APPLICATION_ID = 0x53624c53 }; /* "SbLS", as `file` shows it */

static const char put_counter_sql[] =
    "INSERT INTO counter (name, value) VALUES (?1, ?2)"
    " ON CONFLICT (name) DO UPDATE SET value = ?2";
static const char all_counters_sql[] = "SELECT name, value FROM counter ORDER BY name";
static const char put_queue_sql[] =
    "INSERT INTO queue (name, is_closed, is_inactive) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (name) DO UPDATE SET (is_closed, is_inactive) = (?2, ?3)";
static const char all_queues_sql[] =
    "SELECT name, is_closed, is_inactive FROM queue ORDER BY name";
static const char put_high_sql[] =
    "INSERT INTO high (consumer, attempt) VALUES (?1, ?2)"
    " ON CONFLICT (consumer) DO UPDATE SET attempt = ?2";
static const char all_highs_sql[] =
    "SELECT consumer, attempt FROM high ORDER BY consumer";
static const char put_closed_sql[] =
    "INSERT INTO closed (host) VALUES (?1) ON CONFLICT DO NOTHING";
static const char cut_closed_sql[] = "DELETE FROM closed WHERE host = ?1";
static const char all_closed_sql[] = "SELECT host FROM closed ORDER BY host";
static const char put_pick_sql[] =
    "INSERT INTO pick (policy, content, hosts) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (policy, content) DO UPDATE SET hosts = ?3";
static const char cut_pick_sql[] =
    "DELETE FROM pick WHERE policy = ?1 AND content = ?2";
static const char all_picks_sql[] =
    "SELECT policy, content, hosts FROM pick ORDER BY policy, content";

/* From schema/site, by tools/embed-sql. */
extern const struct db_migration site_migrations[];

struct journal {
    struct db *db;
    sqlite3_stmt *put_counter, *all_counters, *put_high, *all_highs;
    sqlite3_stmt *put_closed, *cut_closed, *all_closed;
    sqlite3_stmt *put_pick, *cut_pick, *all_picks;
    sqlite3_stmt *put_queue, *all_queues;
    struct journal_books books;
    struct journal_jobs jobs;
    struct journal_runs runs;
    struct journal_shares shares;
    struct journal_history history;
};

int journal_open(const char *path, struct journal **journal, struct err *err)
{
    struct journal *opened = mem_alloc(1, sizeof(*opened));
    if (db_open(path, APPLICATION_ID, site_migrations, &opened->db, err) < 0) {
        free(opened);
        return err->code;
    }
    *journal = opened;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL) {
        return;
    }
    db_close(journal->db);
    free(journal);
}

int journal_read_history(struct journal *journal, const struct journal_asked *asked,
                         struct arena *arena, struct row_job_event **events,
                         int *n_events, bool *is_cut, struct err *err)
{
    return journal_history_read_events(&journal->history, journal->db, asked, arena,
                                       events, n_events, is_cut, err);
}

int journal_read_history_ids(struct journal *journal, const char *user, uint64_t after,
                             int limit, struct arena *arena, uint64_t **ids, int *n_ids,
                             struct err *err)
{
    return journal_history_read_ids(&journal->history, journal->db, user, after, limit,
                                    arena, ids, n_ids, err);
}

struct db *journal_db(struct journal *journal)
{
    return journal->db;
}

static int put_counter(struct journal *journal, const struct row_counter *counter,
                       struct err *err)
{
    sqlite3_stmt *put =
        db_statement(journal->db, &journal->put_counter, put_counter_sql);
    journal_fields_bind_text(put, 1, counter->name);
    journal_fields_bind_int(put, 2, (int64_t)counter->value);
    return db_run(journal->db, put, err) < 0 ? err_prefix(err, "counter") : 0;
}

static int put_high(struct journal *journal, const struct row_high *high,
                    struct err *err)
{
    sqlite3_stmt *put = db_statement(journal->db, &journal->put_high, put_high_sql);
    journal_fields_bind_text(put, 1, high->consumer);
    journal_fields_bind_int(put, 2, (int64_t)high->attempt);
    return db_run(journal->db, put, err) < 0 ? err_prefix(err, "high") : 0;
}

static int put_closed(struct journal *journal, const struct row_closed *closed,
                      struct err *err)
{
    sqlite3_stmt *put =
        closed->is_closed
            ? db_statement(journal->db, &journal->put_closed, put_closed_sql)
            : db_statement(journal->db, &journal->cut_closed, cut_closed_sql);
    journal_fields_bind_text(put, 1, closed->host);
    return db_run(journal->db, put, err) < 0 ? err_prefix(err, "closed host") : 0;
}

static int put_pick(struct journal *journal, const struct row_pick *pick,
                    struct err *err)
{
    sqlite3_stmt *put =
        pick->is_gone ? db_statement(journal->db, &journal->cut_pick, cut_pick_sql)
                      : db_statement(journal->db, &journal->put_pick, put_pick_sql);
    journal_fields_bind_text(put, 1, pick->policy);
    journal_fields_bind_text(put, 2, pick->content);
    if (!pick->is_gone) {
        journal_fields_bind_text(put, 3, pick->hosts);
    }
    return db_run(journal->db, put, err) < 0 ? err_prefix(err, "pick") : 0;
}

static int put_queue(struct journal *journal, const struct row_queue *queue,
                     struct err *err)
{
    sqlite3_stmt *put = db_statement(journal->db, &journal->put_queue, put_queue_sql);
    journal_fields_bind_text(put, 1, queue->name);
    journal_fields_bind_int(put, 2, queue->is_closed);
    journal_fields_bind_int(put, 3, queue->is_inactive);
    return db_run(journal->db, put, err) < 0 ? err_prefix(err, "queue") : 0;
}

int journal_write(struct journal *journal, const struct row *row, struct err *err)
{
    switch (row->kind) {
    case ROW_COUNTER:
        return put_counter(journal, &row->counter, err);
    case ROW_BOOK:
        return journal_books_put(&journal->books, journal->db, &row->book, err);
    case ROW_HIGH:
        return put_high(journal, &row->high, err);
    case ROW_QUEUE:
        return put_queue(journal, &row->queue, err);
    case ROW_JOB:
        return journal_jobs_put(&journal->jobs, journal->db, &row->job, err);
    case ROW_JOB_STATE:
        return journal_jobs_put_state(&journal->jobs, journal->db, &row->job_state,
                                      err);
    case ROW_RUN:
        return journal_runs_put(&journal->runs, journal->db, &row->run, err);
    case ROW_CLOSED:
        return put_closed(journal, &row->closed, err);
    case ROW_PICK:
        return put_pick(journal, &row->pick, err);
    case ROW_SHARE:
        return journal_shares_put(&journal->shares, journal->db, &row->share, err);
    case ROW_JOB_EVENT:
        return journal_history_append(&journal->history, journal->db, &row->job_event,
                                      err);
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_SITE:
    case ROW_POOL:
    case ROW_KEPT:
    case ROW_HISTORY:
    case ROW_KINDS:
        break;
    }
    return err_set(err, ERR_STATE, "journal: a row of kind %d is not a site's",
                   (int)row->kind);
}

static int load_counters(struct journal *journal, journal_row_fn fn, void *arg,
                         struct err *err)
{
    sqlite3_stmt *all =
        db_statement(journal->db, &journal->all_counters, all_counters_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_COUNTER};
        row.counter.name = journal_fields_text(all, 0);
        row.counter.value = (uint64_t)sqlite3_column_int64(all, 1);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "counters", err);
    sqlite3_reset(all);
    return rc;
}

static int load_highs(struct journal *journal, journal_row_fn fn, void *arg,
                      struct err *err)
{
    sqlite3_stmt *all = db_statement(journal->db, &journal->all_highs, all_highs_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_HIGH};
        row.high.consumer = journal_fields_text(all, 0);
        row.high.attempt = (uint64_t)sqlite3_column_int64(all, 1);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "high-water marks", err);
    sqlite3_reset(all);
    return rc;
}

static int load_closed(struct journal *journal, journal_row_fn fn, void *arg,
                       struct err *err)
{
    sqlite3_stmt *all = db_statement(journal->db, &journal->all_closed, all_closed_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_CLOSED};
        row.closed.host = journal_fields_text(all, 0);
        row.closed.is_closed = true;
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "closed hosts", err);
    sqlite3_reset(all);
    return rc;
}

static int load_picks(struct journal *journal, journal_row_fn fn, void *arg,
                      struct err *err)
{
    sqlite3_stmt *all = db_statement(journal->db, &journal->all_picks, all_picks_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_PICK};
        row.pick.policy = journal_fields_text(all, 0);
        row.pick.content = journal_fields_text(all, 1);
        row.pick.hosts = journal_fields_text(all, 2);
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "picks", err);
    sqlite3_reset(all);
    return rc;
}

static int load_queues(struct journal *journal, journal_row_fn fn, void *arg,
                       struct err *err)
{
    sqlite3_stmt *all = db_statement(journal->db, &journal->all_queues, all_queues_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_QUEUE};
        row.queue.name = journal_fields_text(all, 0);
        row.queue.is_closed = sqlite3_column_int(all, 1) != 0;
        row.queue.is_inactive = sqlite3_column_int(all, 2) != 0;
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "queues", err);
    sqlite3_reset(all);
    return rc;
}

int journal_load(struct journal *journal, journal_row_fn fn, void *arg, struct err *err)
{
    int rc = load_counters(journal, fn, arg, err);
    if (rc == 0) {
        rc = journal_books_load(&journal->books, journal->db, fn, arg, err);
    }
    if (rc == 0) {
        rc = load_highs(journal, fn, arg, err);
    }
    if (rc == 0) {
        rc = load_queues(journal, fn, arg, err);
    }
    if (rc == 0) {
        rc = journal_jobs_load(&journal->jobs, journal->db, fn, arg, err);
    }
    if (rc == 0) {
        rc = journal_runs_load(&journal->runs, journal->db, fn, arg, err);
    }
    if (rc == 0) {
        rc = load_closed(journal, fn, arg, err);
    }
    if (rc == 0) {
        rc = load_picks(journal, fn, arg, err);
    }
    if (rc == 0) {
        rc = journal_shares_load(&journal->shares, journal->db, fn, arg, err);
    }
    return rc;
}
