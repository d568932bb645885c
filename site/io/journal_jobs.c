/* SPDX-License-Identifier: Apache-2.0 */
/* journal_jobs.c: see journal_jobs.h. */
#include "site/io/journal_jobs.h"

#include <inttypes.h>

#include "model/job_id.h"
#include "site/io/journal_fields.h"

enum { SUSPENSION_WIDTH = 7, RESIZE_WIDTH = 4 };

#define SPEC_PARAMETERS                                                                \
    "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"             \
    " ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27"
#define TERMS_COLUMNS                                                                  \
    "depend, depend_on, begin_ms, project, priority, max_slots, user_group,"           \
    " resizable, resize_notify"
#define TERMS_PARAMETERS "?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36"

static const char put_sql[] =
    "INSERT INTO job (id, submit_ms, is_array, " JOURNAL_SPEC_COLUMNS ", " TERMS_COLUMNS
    ") VALUES (?1, ?2, ?3, " SPEC_PARAMETERS ", " TERMS_PARAMETERS ")"
    " ON CONFLICT (id) DO UPDATE SET (submit_ms, is_array, " JOURNAL_SPEC_COLUMNS
    ", " TERMS_COLUMNS ") = (?2, ?3, " SPEC_PARAMETERS ", " TERMS_PARAMETERS ")";

static const char all_sql[] = "SELECT id, submit_ms, is_array, " JOURNAL_SPEC_COLUMNS
                              ", " TERMS_COLUMNS " FROM job ORDER BY id";

#define STATE_COLUMNS                                                                  \
    "state, attempt, lease, epoch, is_decided, is_killed, hosts, start_ms, end_ms,"    \
    " reason, is_taken, is_dropped, switched_queue, place,"                            \
    " is_released, requeue_cause, n_requeues, n_pre_fails, halt_causes, halt_yields,"  \
    " halt_by, halt_count, halt_since_ms, halt_resumed_ms, "                           \
    "halt_total_ms, overload, reserved, avoided, backfill_of, "                        \
    "backfill_until_ms, resize_number, resize_event, resize_hosts, "                   \
    "resize_max, " JOURNAL_CONTROL_COLUMNS ", " JOURNAL_EXIT_COLUMNS
#define STATE_PARAMETERS                                                               \
    "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"          \
    " ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31,"           \
    " ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45,"           \
    " ?46, ?47, ?48"

static const char put_state_sql[] =
    "INSERT INTO job_state (key, " STATE_COLUMNS ") VALUES (?1, " STATE_PARAMETERS ")"
    " ON CONFLICT (key) DO UPDATE SET (" STATE_COLUMNS ") = (" STATE_PARAMETERS ")";

static const char cut_sql[] = "DELETE FROM job WHERE id = ?1";
static const char cut_states_sql[] =
    "DELETE FROM job_state WHERE key >= ?1 AND key < ?2";

static const char all_states_sql[] =
    "SELECT key, " STATE_COLUMNS " FROM job_state ORDER BY key";

static const char *const state_words[] = {
    [JOB_PEND] = "PEND",   [JOB_PSUSP] = "PSUSP", [JOB_RUN] = "RUN",
    [JOB_USUSP] = "USUSP", [JOB_SSUSP] = "SSUSP", [JOB_DONE] = "DONE",
    [JOB_EXIT] = "EXIT",   [JOB_UNKWN] = "UNKWN",
};
static const char *const resizable_words[] = {
    [RESIZABLE_NO] = "no",
    [RESIZABLE_YES] = "yes",
    [RESIZABLE_AUTO] = "auto",
};
enum { N_RESIZABLE_WORDS = sizeof(resizable_words) / sizeof(resizable_words[0]) };
static const char *const resize_words[] = {
    [RESIZE_NONE] = "",
    [RESIZE_GROW] = "grow",
    [RESIZE_SHRINK] = "shrink",
};
enum { N_RESIZE_WORDS = sizeof(resize_words) / sizeof(resize_words[0]) };
enum { N_STATE_WORDS = sizeof(state_words) / sizeof(state_words[0]) };

int journal_jobs_put(struct journal_jobs *jobs, struct db *db,
                     const struct row_job *job, struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &jobs->put, put_sql);
    int at = 0;
    journal_fields_bind_int(put, ++at, (int64_t)job->id);
    journal_fields_bind_int(put, ++at, job->submit_ms);
    journal_fields_bind_int(put, ++at, job->is_array);
    journal_fields_bind_spec(put, &at, &job->spec);
    journal_fields_bind_text(put, ++at, job->terms.depend);
    journal_fields_bind_text(put, ++at, job->terms.depend_on);
    journal_fields_bind_int(put, ++at, job->terms.begin_ms);
    journal_fields_bind_text(put, ++at, job->terms.project);
    journal_fields_bind_int(put, ++at, job->terms.priority);
    journal_fields_bind_int(put, ++at, job->terms.max_slots);
    journal_fields_bind_text(put, ++at, job->terms.user_group);
    journal_fields_bind_text(put, ++at, resizable_words[job->terms.resizable]);
    journal_fields_bind_text(put, ++at, job->terms.resize_notify);
    return db_run(db, put, err) < 0 ? err_prefix(err, "job %" PRIu64, job->id) : 0;
}

static int cut_job(struct journal_jobs *jobs, struct db *db, uint64_t id,
                   struct err *err)
{
    sqlite3_stmt *cut = db_statement(db, &jobs->cut_states, cut_states_sql);
    journal_fields_bind_int(cut, 1, (int64_t)job_id_key(id, 0));
    journal_fields_bind_int(cut, 2, (int64_t)job_id_key(id + 1, 0));
    if (db_run(db, cut, err) < 0) {
        return err->code;
    }
    cut = db_statement(db, &jobs->cut, cut_sql);
    journal_fields_bind_int(cut, 1, (int64_t)id);
    return db_run(db, cut, err);
}

static void bind_suspension(sqlite3_stmt *put, int *at,
                            const struct job_suspension *suspension)
{
    journal_fields_bind_some_int(put, ++*at, suspension->causes);
    journal_fields_bind_some_int(put, ++*at, suspension->yields);
    journal_fields_bind_some_int(put, ++*at, (int64_t)suspension->by);
    journal_fields_bind_some_int(put, ++*at, suspension->n_preempted);
    journal_fields_bind_some_int(put, ++*at, suspension->since_ms);
    journal_fields_bind_some_int(put, ++*at, suspension->resumed_ms);
    journal_fields_bind_some_int(put, ++*at, suspension->total_ms);
}

/* Each is there whole or not at all. */
static void bind_control_and_exit(sqlite3_stmt *put, int at,
                                  const struct row_job_state *state)
{
    int exit_at = at + JOURNAL_CONTROL_WIDTH;
    if (state->control.number != 0) {
        journal_fields_bind_control(put, &at, &state->control);
    }
    if (state->exit.end != RUN_END_NONE) {
        journal_fields_bind_exit(put, &exit_at, &state->exit);
    }
}

static struct job_suspension read_suspension(sqlite3_stmt *all, int at)
{
    return (struct job_suspension){
        .causes = sqlite3_column_int(all, at),
        .yields = sqlite3_column_int(all, at + 1) != 0,
        .by = (uint64_t)sqlite3_column_int64(all, at + 2),
        .n_preempted = sqlite3_column_int(all, at + 3),
        .since_ms = sqlite3_column_int64(all, at + 4),
        .resumed_ms = sqlite3_column_int64(all, at + 5),
        .total_ms = sqlite3_column_int64(all, at + 6),
    };
}

static int put_state(struct journal_jobs *jobs, struct db *db,
                     const struct row_job_state *state, struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &jobs->put_state, put_state_sql);
    int at = 0;
    journal_fields_bind_int(put, ++at, (int64_t)job_id_key(state->id, state->index));
    journal_fields_bind_text(put, ++at, state_words[state->state]);
    journal_fields_bind_some_int(put, ++at, (int64_t)state->attempt);
    journal_fields_bind_some_text(put, ++at, state->lease);
    journal_fields_bind_some_int(put, ++at, (int64_t)state->epoch);
    journal_fields_bind_some_int(put, ++at, state->is_decided);
    journal_fields_bind_some_int(put, ++at, state->is_killed);
    journal_fields_bind_some_hosts(put, ++at, state->hosts, state->n_hosts);
    journal_fields_bind_some_int(put, ++at, state->start_ms);
    journal_fields_bind_some_int(put, ++at, state->end_ms);
    journal_fields_bind_some_text(put, ++at, state->reason);
    journal_fields_bind_some_int(put, ++at, state->is_taken);
    journal_fields_bind_some_int(put, ++at, state->is_dropped);
    journal_fields_bind_some_text(put, ++at, state->queue);
    journal_fields_bind_some_int(put, ++at, state->place);
    journal_fields_bind_some_int(put, ++at, state->is_released);
    journal_fields_bind_some_int(put, ++at, state->requeue_cause);
    journal_fields_bind_some_int(put, ++at, state->n_requeues);
    journal_fields_bind_some_int(put, ++at, state->n_pre_fails);
    bind_suspension(put, &at, &state->suspension);
    journal_fields_bind_some_text(put, ++at, state->overload);
    journal_fields_bind_some_text(put, ++at, state->reserved);
    journal_fields_bind_some_text(put, ++at, state->avoided);
    journal_fields_bind_some_int(put, ++at, (int64_t)state->backfill_of);
    journal_fields_bind_some_int(put, ++at, state->backfill_until_ms);
    journal_fields_bind_some_int(put, ++at, (int64_t)state->resize.number);
    journal_fields_bind_some_text(put, ++at, resize_words[state->resize.event]);
    journal_fields_bind_some_hosts(put, ++at, state->resize.hosts,
                                   state->resize.n_hosts);
    journal_fields_bind_some_int(put, ++at, state->resize.max_slots);
    bind_control_and_exit(put, at, state);
    return db_run(db, put, err);
}

int journal_jobs_put_state(struct journal_jobs *jobs, struct db *db,
                           const struct row_job_state *state, struct err *err)
{
    int rc = state->is_gone ? cut_job(jobs, db, state->id, err)
                            : put_state(jobs, db, state, err);
    return rc < 0 ? err_prefix(err, "state of job %" PRIu64, state->id) : 0;
}

static int load_jobs(struct journal_jobs *jobs, struct db *db, journal_row_fn fn,
                     void *arg, struct err *err)
{
    enum { TERMS = 3 + JOURNAL_SPEC_WIDTH };
    sqlite3_stmt *all = db_statement(db, &jobs->all, all_sql);
    struct arena arena;
    arena_init(&arena);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_JOB};
        arena_clear(&arena);
        row.job.id = (uint64_t)sqlite3_column_int64(all, 0);
        row.job.submit_ms = sqlite3_column_int64(all, 1);
        row.job.is_array = sqlite3_column_int(all, 2) != 0;
        journal_fields_read_spec(all, 3, &arena, &row.job.spec);
        row.job.terms = (struct job_terms){
            .depend = journal_fields_text(all, TERMS),
            .depend_on = journal_fields_text(all, TERMS + 1),
            .begin_ms = sqlite3_column_int64(all, TERMS + 2),
            .project = journal_fields_text(all, TERMS + 3),
            .priority = sqlite3_column_int64(all, TERMS + 4),
            .has_slots = true,
            .max_slots = sqlite3_column_int(all, TERMS + 5),
            .user_group = journal_fields_text(all, TERMS + 6),
            .resize_notify = journal_fields_text(all, TERMS + 8),
        };
        int word, code = journal_fields_read_word(all, TERMS + 7, resizable_words,
                                                  N_RESIZABLE_WORDS, &word, err);
        if (code < 0) {
            rc = code;
            break;
        }
        row.job.terms.resizable = (enum resizable)word;
        fn(arg, &row);
    }
    rc = rc < 0 ? rc : rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "jobs", err);
    sqlite3_reset(all);
    arena_release(&arena);
    return rc;
}

static int read_resize(sqlite3_stmt *all, int at, struct arena *arena,
                       struct job_resize *resize, struct err *err)
{
    int word;
    int rc =
        journal_fields_read_word(all, at + 1, resize_words, N_RESIZE_WORDS, &word, err);
    if (rc < 0) {
        return rc;
    }
    *resize = (struct job_resize){
        .number = (uint64_t)sqlite3_column_int64(all, at),
        .event = (enum resize_event)word,
        .max_slots = sqlite3_column_int(all, at + 3),
    };
    return journal_fields_read_hosts(all, at + 2, arena, &resize->hosts,
                                     &resize->n_hosts, err);
}

static int read_state(sqlite3_stmt *all, struct arena *arena,
                      struct row_job_state *state, struct err *err)
{
    enum {
        SUSPENSION = 19,
        OVERLOAD = SUSPENSION + SUSPENSION_WIDTH,
        RESERVED = OVERLOAD + 1,
        AVOIDED = RESERVED + 1,
        BACKFILL = AVOIDED + 1,
        RESIZE = BACKFILL + 2,
        CONTROL = RESIZE + RESIZE_WIDTH,
        EXIT = CONTROL + JOURNAL_CONTROL_WIDTH
    };
    int word;
    uint64_t key = (uint64_t)sqlite3_column_int64(all, 0);
    int rc = journal_fields_read_word(all, 1, state_words, N_STATE_WORDS, &word, err);
    if (rc < 0) {
        return rc;
    }
    *state = (struct row_job_state){
        .id = job_id_key_number(key),
        .index = job_id_key_index(key),
        .state = (enum job_state)word,
        .attempt = (uint64_t)sqlite3_column_int64(all, 2),
        .lease = journal_fields_text(all, 3),
        .epoch = (uint64_t)sqlite3_column_int64(all, 4),
        .is_decided = sqlite3_column_int(all, 5) != 0,
        .is_killed = sqlite3_column_int(all, 6) != 0,
        .start_ms = sqlite3_column_int64(all, 8),
        .end_ms = sqlite3_column_int64(all, 9),
        .reason = journal_fields_text(all, 10),
        .is_taken = sqlite3_column_int(all, 11) != 0,
        .is_dropped = sqlite3_column_int(all, 12) != 0,
        .queue = journal_fields_text(all, 13),
        .place = sqlite3_column_int64(all, 14),
        .is_released = sqlite3_column_int(all, 15) != 0,
        .requeue_cause = (enum requeue_cause)sqlite3_column_int(all, 16),
        .n_requeues = sqlite3_column_int(all, 17),
        .n_pre_fails = sqlite3_column_int(all, 18),
        .suspension = read_suspension(all, SUSPENSION),
        .overload = journal_fields_text(all, OVERLOAD),
        .reserved = journal_fields_text(all, RESERVED),
        .avoided = journal_fields_text(all, AVOIDED),
        .backfill_of = (uint64_t)sqlite3_column_int64(all, BACKFILL),
        .backfill_until_ms = sqlite3_column_int64(all, BACKFILL + 1),
    };
    rc = journal_fields_read_hosts(all, 7, arena, &state->hosts, &state->n_hosts, err);
    if (rc == 0) {
        rc = read_resize(all, RESIZE, arena, &state->resize, err);
    }
    if (rc == 0) {
        rc = journal_fields_read_control(all, CONTROL, &state->control, err);
    }
    if (rc == 0) {
        rc = journal_fields_read_exit(all, EXIT, arena, &state->exit, err);
    }
    return rc;
}

static int load_states(struct journal_jobs *jobs, struct db *db, journal_row_fn fn,
                       void *arg, struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &jobs->all_states, all_states_sql);
    struct arena arena;
    arena_init(&arena);
    int step, rc = 0;
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        struct row row = {.kind = ROW_JOB_STATE};
        arena_clear(&arena);
        rc = step == SQLITE_ROW ? read_state(all, &arena, &row.job_state, err)
                                : journal_fields_fail(all, "states of jobs", err);
        if (rc == 0) {
            fn(arg, &row);
        }
    }
    sqlite3_reset(all);
    arena_release(&arena);
    return rc;
}

int journal_jobs_load(struct journal_jobs *jobs, struct db *db, journal_row_fn fn,
                      void *arg, struct err *err)
{
    int rc = load_jobs(jobs, db, fn, arg, err);
    return rc == 0 ? load_states(jobs, db, fn, arg, err) : rc;
}
