/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c: see journal.h. */
#include "site/io/journal.h"

#include <stdlib.h>

#include "model/job_id.h"
#include "sys/db/db.h"

enum {
    APPLICATION_ID = 0x53624c53, /* "SbLS", as `file` shows it */
    EVENTS_MAX = 2000000,
    TRIMMED_AT_ONCE = 20000,
};

/* A job goes with the states of all its elements. */
static const char cut_job_sql[] = "DELETE FROM job WHERE id = ?1";
static const char cut_states_sql[] =
    "DELETE FROM job_state WHERE key >= ?1 AND key < ?2";

/* Numbers grow with time: the oldest are the lowest. */
static const char trim_sql[] =
    "DELETE FROM job_event WHERE number IN"
    " (SELECT number FROM job_event ORDER BY number LIMIT ?1)"
    " AND (at_ms < ?2 OR number <= (SELECT max(number) FROM job_event) - ?3)";

static const char of_job_sql[] =
    "SELECT * FROM (SELECT * FROM job_event WHERE site = ?1 AND id = ?2"
    " AND element = 0 ORDER BY number LIMIT ?5)"
    " UNION ALL SELECT * FROM (SELECT * FROM job_event WHERE site = ?1 AND id = ?2"
    " AND element > 0 AND element BETWEEN ?3 AND ?4 ORDER BY element, number LIMIT ?5)";

static const char ids_sql[] =
    "SELECT id FROM job_event WHERE site = '' AND user IS NOT NULL AND id > ?1"
    " AND (?2 = '' OR user = ?2) ORDER BY id LIMIT ?3";

/* From schema/site, by tools/embed-sql. */
extern const struct db_migration site_migrations[];

struct journal {
    struct db *db;
    struct db_rows *rows;
    sqlite3_stmt *cut_job, *cut_states, *trim, *of_job, *ids;
};

int journal_open(const char *path, bool accepts_loss, struct journal **journal,
                 struct err *err)
{
    struct journal *opened = mem_alloc(1, sizeof(*opened));
    const struct db_table_def tables[ROW_KINDS] = {
        [ROW_COUNTER] = {.schema = schema_row_kinds[ROW_COUNTER]},
        [ROW_BOOK] = {.schema = schema_row_kinds[ROW_BOOK],
                      .lists = {{"hosts", "book_host"},
                                {"recalls", "book_recall"},
                                {"resources", "book_resource"}}},
        [ROW_HIGH] = {.schema = schema_row_kinds[ROW_HIGH]},
        [ROW_QUEUE] = {.schema = schema_row_kinds[ROW_QUEUE]},
        [ROW_JOB] = {.schema = schema_row_kinds[ROW_JOB]},
        [ROW_JOB_STATE] = {.schema = schema_row_kinds[ROW_JOB_STATE]},
        [ROW_RUN] = {.schema = schema_row_kinds[ROW_RUN],
                     .lists = {{"spec", "run_spec"}}},
        [ROW_CLOSED] = {.schema = schema_row_kinds[ROW_CLOSED]},
        [ROW_PICK] = {.schema = schema_row_kinds[ROW_PICK]},
        [ROW_CPUS] = {.schema = schema_row_kinds[ROW_CPUS]},
        [ROW_SHARE] = {.schema = schema_row_kinds[ROW_SHARE]},
        [ROW_JOB_EVENT] = {.schema = schema_row_kinds[ROW_JOB_EVENT],
                           .is_history = true},
        [ROW_JOB_GROUP] = {.schema = schema_row_kinds[ROW_JOB_GROUP]},
        [ROW_LEASE_ACCOUNT] = {.schema = schema_row_kinds[ROW_LEASE_ACCOUNT]},
        [ROW_QUOTA] = {.schema = schema_row_kinds[ROW_QUOTA]},
    };
    if (db_open(path, APPLICATION_ID, site_migrations, accepts_loss, &opened->db, err) <
            0 ||
        db_rows_open(opened->db, tables, &opened->rows, err) < 0) {
        journal_close(opened);
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
    db_rows_close(journal->rows);
    db_close(journal->db);
    free(journal);
}

struct db *journal_db(struct journal *journal)
{
    return journal->db;
}

static int cut_job(struct journal *journal, uint64_t id, struct err *err)
{
    sqlite3_stmt *cut = db_statement(journal->db, &journal->cut_states, cut_states_sql);
    db_column_bind_int(cut, 1, (int64_t)job_id_key(id, 0));
    db_column_bind_int(cut, 2, (int64_t)job_id_key(id + 1, 0));
    if (db_run(journal->db, cut, err) < 0) {
        return err->code;
    }
    cut = db_statement(journal->db, &journal->cut_job, cut_job_sql);
    db_column_bind_int(cut, 1, (int64_t)id);
    return db_run(journal->db, cut, err);
}

static int trim_history(struct journal *journal, int64_t before_ms, struct err *err)
{
    sqlite3_stmt *trim = db_statement(journal->db, &journal->trim, trim_sql);
    db_column_bind_int(trim, 1, TRIMMED_AT_ONCE);
    db_column_bind_int(trim, 2, before_ms);
    db_column_bind_int(trim, 3, EVENTS_MAX);
    return db_run(journal->db, trim, err);
}

int journal_write(struct journal *journal, const struct row *row, struct err *err)
{
    int rc;
    if (row->kind == ROW_JOB_EVENT && row->job_event.is_trim) {
        rc = trim_history(journal, row->job_event.at_ms, err);
    } else if (row->kind == ROW_JOB_STATE && row->job_state.is_gone) {
        rc = cut_job(journal, row->job_state.id, err);
    } else {
        rc = db_rows_write(journal->rows, row, err);
    }
    return rc < 0 ? err_prefix(err, "journal") : 0;
}

int journal_load(struct journal *journal, journal_row_fn fn, void *arg, struct err *err)
{
    return db_rows_load(journal->rows, fn, arg, err) < 0 ? err_prefix(err, "journal")
                                                         : 0;
}

/* ---------------------------------------------------------------- histories of jobs */

int journal_read_history(struct journal *journal, const struct journal_asked *asked,
                         struct arena *arena, struct row_job_event **events,
                         int *n_events, bool *is_cut, struct err *err)
{
    struct db_table *table = db_rows_table(journal->rows, ROW_JOB_EVENT);
    sqlite3_stmt *of_job = db_statement(journal->db, &journal->of_job, of_job_sql);
    int capacity = 2 * asked->limit, step, rc = 0;
    db_column_bind_text(of_job, 1, asked->site);
    db_column_bind_int(of_job, 2, (int64_t)asked->id);
    db_column_bind_int(of_job, 3, asked->first);
    db_column_bind_int(of_job, 4, asked->last);
    db_column_bind_int(of_job, 5, asked->limit);
    *events = arena_alloc(arena, (size_t)capacity, sizeof(**events));
    *n_events = 0;
    int n_of_elements = 0;
    while (rc == 0 && *n_events < capacity &&
           (step = sqlite3_step(of_job)) != SQLITE_DONE) {
        struct row_job_event *event = &(*events)[*n_events];
        rc = step == SQLITE_ROW ? db_table_read(table, of_job, event, arena, err)
                                : db_column_fail(of_job, "history", err);
        n_of_elements += event->index > 0;
        *n_events += rc == 0;
    }
    sqlite3_reset(of_job);
    *is_cut = n_of_elements == asked->limit;
    return rc;
}

int journal_read_history_ids(struct journal *journal, const char *user, uint64_t after,
                             int limit, struct arena *arena, uint64_t **ids, int *n_ids,
                             struct err *err)
{
    sqlite3_stmt *all = db_statement(journal->db, &journal->ids, ids_sql);
    int step, rc = 0;
    db_column_bind_int(all, 1, (int64_t)after);
    db_column_bind_text(all, 2, user);
    db_column_bind_int(all, 3, limit);
    *ids = arena_alloc(arena, (size_t)limit, sizeof(**ids));
    *n_ids = 0;
    while (rc == 0 && *n_ids < limit && (step = sqlite3_step(all)) != SQLITE_DONE) {
        if (step == SQLITE_ROW) {
            (*ids)[(*n_ids)++] = (uint64_t)sqlite3_column_int64(all, 0);
        } else {
            rc = db_column_fail(all, "history", err);
        }
    }
    sqlite3_reset(all);
    return rc;
}
