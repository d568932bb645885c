/* SPDX-License-Identifier: Apache-2.0 */
/* journal_runs.c: see journal_runs.h. */
#include "site/io/journal_runs.h"

#include <inttypes.h>

#include "site/io/journal_fields.h"

#define RUN_COLUMNS                                                                    \
    "job, lease, record, hosts, token, " JOURNAL_CONTROL_COLUMNS                       \
    ", " JOURNAL_EXIT_COLUMNS ", priority, is_recalled, end_by_ms"
#define RUN_PARAMETERS                                                                 \
    "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"              \
    " ?18, ?19, ?20, ?21, ?22, ?23"

static const char put_sql[] =
    "INSERT INTO run (site, attempt, " RUN_COLUMNS ")"
    " VALUES (?1, ?2, " RUN_PARAMETERS ")"
    " ON CONFLICT (site, attempt) DO UPDATE SET (" RUN_COLUMNS ")"
    " = (" RUN_PARAMETERS ")";

#define SPEC_PARAMETERS                                                                \
    "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"              \
    " ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26"

static const char put_spec_sql[] =
    "INSERT INTO run_spec (site, attempt, " JOURNAL_SPEC_COLUMNS ")"
    " VALUES (?1, ?2, " SPEC_PARAMETERS ")"
    " ON CONFLICT (site, attempt) DO UPDATE SET (" JOURNAL_SPEC_COLUMNS ")"
    " = (" SPEC_PARAMETERS ")";

static const char cut_sql[] = "DELETE FROM run WHERE site = ?1 AND attempt = ?2";

static const char all_sql[] =
    "SELECT site, attempt, " RUN_COLUMNS ", " JOURNAL_SPEC_COLUMNS
    " FROM run LEFT JOIN run_spec USING (site, attempt) ORDER BY site, attempt";

enum {
    CONTROL_COLUMN = 7,
    EXIT_COLUMN = CONTROL_COLUMN + JOURNAL_CONTROL_WIDTH,
    PRIORITY_COLUMN = EXIT_COLUMN + JOURNAL_EXIT_WIDTH,
    RECALLED_COLUMN,
    END_BY_COLUMN,
    SPEC_COLUMN,
};

static const char *const record_words[] = {
    [RUN_RECORD_TAKEN] = "taken",
    [RUN_RECORD_GUARDED] = "guarded",
    [RUN_RECORD_ENDED] = "ended",
};
enum { N_RECORD_WORDS = sizeof(record_words) / sizeof(record_words[0]) };

static int cut_run(struct journal_runs *runs, struct db *db, const struct run_id *id,
                   struct err *err)
{
    sqlite3_stmt *cut = db_statement(db, &runs->cut, cut_sql);
    journal_fields_bind_text(cut, 1, id->site);
    journal_fields_bind_int(cut, 2, (int64_t)id->attempt);
    return db_run(db, cut, err);
}

static int put_run(struct journal_runs *runs, struct db *db, const struct row_run *run,
                   struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &runs->put, put_sql);
    int at = 0;
    journal_fields_bind_text(put, ++at, run->run.site);
    journal_fields_bind_int(put, ++at, (int64_t)run->run.attempt);
    journal_fields_bind_text(put, ++at, run->job);
    journal_fields_bind_text(put, ++at, run->lease);
    journal_fields_bind_text(put, ++at, record_words[run->record]);
    journal_fields_bind_hosts(put, ++at, run->hosts, run->n_hosts);
    journal_fields_bind_int(put, ++at, (int64_t)run->token);
    journal_fields_bind_control(put, &at, &run->control);
    journal_fields_bind_exit(put, &at, &run->exit);
    journal_fields_bind_int(put, ++at, run->priority);
    journal_fields_bind_int(put, ++at, run->exit.is_recalled);
    journal_fields_bind_int(put, ++at, run->end_by_ms);
    return db_run(db, put, err);
}

static int put_spec(struct journal_runs *runs, struct db *db, const struct row_run *run,
                    struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &runs->put_spec, put_spec_sql);
    int at = 0;
    journal_fields_bind_text(put, ++at, run->run.site);
    journal_fields_bind_int(put, ++at, (int64_t)run->run.attempt);
    journal_fields_bind_spec(put, &at, run->spec);
    return db_run(db, put, err);
}

int journal_runs_put(struct journal_runs *runs, struct db *db,
                     const struct row_run *run, struct err *err)
{
    int rc =
        run->is_gone ? cut_run(runs, db, &run->run, err) : put_run(runs, db, run, err);
    if (rc == 0 && !run->is_gone && run->spec != NULL) {
        rc = put_spec(runs, db, run, err);
    }
    return rc < 0 ? err_prefix(err, "run %s/%" PRIu64, run->run.site, run->run.attempt)
                  : 0;
}

static int read_run(sqlite3_stmt *all, struct arena *arena, struct row_run *run,
                    struct err *err)
{
    int word;
    int rc = journal_fields_read_word(all, 4, record_words, N_RECORD_WORDS, &word, err);
    if (rc < 0) {
        return rc;
    }
    *run = (struct row_run){
        .run = {journal_fields_text(all, 0), (uint64_t)sqlite3_column_int64(all, 1)},
        .job = journal_fields_text(all, 2),
        .lease = journal_fields_text(all, 3),
        .record = (enum run_record)word,
        .token = (uint64_t)sqlite3_column_int64(all, 6),
    };
    rc = journal_fields_read_hosts(all, 5, arena, &run->hosts, &run->n_hosts, err);
    if (rc == 0) {
        rc = journal_fields_read_control(all, CONTROL_COLUMN, &run->control, err);
    }
    if (rc == 0) {
        rc = journal_fields_read_exit(all, EXIT_COLUMN, arena, &run->exit, err);
    }
    run->priority = sqlite3_column_int(all, PRIORITY_COLUMN);
    run->exit.is_recalled = sqlite3_column_int(all, RECALLED_COLUMN) != 0;
    run->end_by_ms = sqlite3_column_int64(all, END_BY_COLUMN);
    if (rc == 0 && sqlite3_column_type(all, SPEC_COLUMN) != SQLITE_NULL) {
        struct job_spec *spec = arena_alloc(arena, 1, sizeof(*spec));
        journal_fields_read_spec(all, SPEC_COLUMN, arena, spec);
        run->spec = spec;
    }
    return rc;
}

int journal_runs_load(struct journal_runs *runs, struct db *db, journal_row_fn fn,
                      void *arg, struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &runs->all, all_sql);
    struct arena arena;
    arena_init(&arena);
    int step, rc = 0;
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        struct row row = {.kind = ROW_RUN};
        arena_clear(&arena);
        rc = step == SQLITE_ROW ? read_run(all, &arena, &row.run, err)
                                : journal_fields_fail(all, "runs", err);
        if (rc == 0) {
            fn(arg, &row);
        }
    }
    sqlite3_reset(all);
    arena_release(&arena);
    return rc;
}
