/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c: see journal.h. */
#include "site/io/journal.h"

#include <stdlib.h>

#include "model/job_id.h"
#include "sys/db/db_column.h"
#include "sys/db/db_rows.h"

enum { APPLICATION_ID = 0x53624c53 }; /* "SbLS", as `file` shows it */

/* A job goes with the states of all its elements. */
static const char cut_job_sql[] = "DELETE FROM job WHERE id = ?1";
static const char cut_states_sql[] =
    "DELETE FROM job_state WHERE key >= ?1 AND key < ?2";

/* From schema/site, by tools/embed-sql. */
extern const struct db_migration site_migrations[];

struct journal {
    struct db *db;
    struct db_rows *rows;
    sqlite3_stmt *cut_job, *cut_states;
    struct journal_history history;
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
        [ROW_SHARE] = {.schema = schema_row_kinds[ROW_SHARE]},
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

int journal_write(struct journal *journal, const struct row *row, struct err *err)
{
    int rc;
    if (row->kind == ROW_JOB_EVENT) {
        rc = journal_history_append(&journal->history, journal->db, &row->job_event,
                                    err);
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
