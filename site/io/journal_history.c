/* SPDX-License-Identifier: Apache-2.0 */
/* journal_history.c: see journal_history.h. */
#include "site/io/journal_history.h"

#include <inttypes.h>
#include <string.h>

#include "model/schema.h"
#include "site/job/job.h"
#include "sys/db/db_column.h"

enum { TRIMMED_AT_ONCE = 20000, EXIT_WIDTH = 3 };

/* Most tell neither of an end nor who the job is. */
static const char append_sql[] =
    "INSERT INTO job_event (site, id, element, at_ms, event, state, lease, hosts,"
    " reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
static const char append_all_sql[] =
    "INSERT INTO job_event (site, id, element, at_ms, event, state, lease, hosts,"
    " reason, exit_code, cpu_ms, mem_kib, user, name, queue, project, command,"
    " n_slots) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
    " ?15, ?16, ?17, ?18)";

/* Numbers grow with time: the oldest are the lowest. */
static const char trim_sql[] =
    "DELETE FROM job_event WHERE number IN"
    " (SELECT number FROM job_event ORDER BY number LIMIT ?1)"
    " AND (at_ms < ?2 OR number <= (SELECT max(number) FROM job_event) - ?3)";

#define EVENT_COLUMNS                                                                  \
    "element, at_ms, event, state, lease, hosts, reason, exit_code, cpu_ms, mem_kib,"  \
    " user, name, queue, project, command, n_slots"

static const char of_job_sql[] =
    "SELECT " EVENT_COLUMNS " FROM (SELECT * FROM job_event WHERE site = ?1 AND id = ?2"
    " AND element = 0 ORDER BY number LIMIT ?5)"
    " UNION ALL SELECT " EVENT_COLUMNS
    " FROM (SELECT * FROM job_event WHERE site = ?1 AND id = ?2 AND element > 0"
    " AND element BETWEEN ?3 AND ?4 ORDER BY element, number LIMIT ?5)";

static const char ids_sql[] =
    "SELECT id FROM job_event WHERE site = '' AND user IS NOT NULL AND id > ?1"
    " AND (?2 = '' OR user = ?2) ORDER BY id LIMIT ?3";

/* ---------------------------------------------------------------- writing */

static bool has_exit(const struct row_job_event *event)
{
    return event->event == JOB_EVENT_END || event->event == JOB_EVENT_RUN_END;
}

static void bind_exit(sqlite3_stmt *append, int at, const struct run_exit *exit)
{
    int code;
    if (row_exit_code(exit, &code)) {
        db_column_bind_int(append, at + 1, code);
    }
    db_column_bind_int(append, at + 2, exit->cpu_ms);
    db_column_bind_int(append, at + 3, exit->mem_kib);
}

static void bind_facts(sqlite3_stmt *append, int at, const struct job_facts *facts)
{
    db_column_bind_text(append, ++at, facts->user);
    db_column_bind_text(append, ++at, facts->name);
    db_column_bind_text(append, ++at, facts->queue);
    db_column_bind_text(append, ++at, facts->project);
    db_column_bind_text(append, ++at, facts->command);
    db_column_bind_int(append, ++at, facts->n_slots);
}

static int trim(struct journal_history *history, struct db *db, int64_t before_ms,
                struct err *err)
{
    sqlite3_stmt *trim = db_statement(db, &history->trim, trim_sql);
    db_column_bind_int(trim, 1, TRIMMED_AT_ONCE);
    db_column_bind_int(trim, 2, before_ms);
    db_column_bind_int(trim, 3, JOURNAL_EVENTS_MAX);
    return db_run(db, trim, err);
}

int journal_history_append(struct journal_history *history, struct db *db,
                           const struct row_job_event *event, struct err *err)
{
    if (event->is_trim) {
        return trim(history, db, event->at_ms, err);
    }
    bool is_short = !has_exit(event) && event->facts == NULL;
    sqlite3_stmt *append = is_short
                               ? db_statement(db, &history->append, append_sql)
                               : db_statement(db, &history->append_all, append_all_sql);
    int at = 0;
    db_column_bind_text(append, ++at, event->site);
    db_column_bind_int(append, ++at, (int64_t)event->id);
    db_column_bind_int(append, ++at, event->index);
    db_column_bind_int(append, ++at, event->at_ms);
    db_column_bind_text(append, ++at, row_job_event_name(event->event));
    db_column_bind_text(append, ++at, job_state_name(event->state));
    db_column_bind_text(append, ++at, event->lease);
    db_column_bind_hosts(append, ++at, event->hosts, event->n_hosts);
    db_column_bind_text(append, ++at, event->reason);
    if (has_exit(event)) {
        bind_exit(append, at, &event->exit);
    }
    if (event->facts != NULL) {
        bind_facts(append, at + EXIT_WIDTH, event->facts);
    }
    int rc = db_run(db, append, err);
    return rc < 0 ? err_prefix(err, "event of job %" PRIu64, event->id) : 0;
}

/* ---------------------------------------------------------------- reading */

enum { EXIT = 7, FACTS = 10 };

static int read_words(sqlite3_stmt *row, struct row_job_event *event, struct err *err)
{
    int word, state;
    if (db_column_read_word(row, 2, schema_row_job_event_words, JOB_EVENTS, &word,
                            err) < 0 ||
        db_column_read_word(row, 3, schema_row_job_state_words, JOB_STATES, &state,
                            err) < 0) {
        return err->code;
    }
    event->event = (enum job_event)word;
    event->state = (enum job_state)state;
    return 0;
}

static void read_facts(sqlite3_stmt *row, struct arena *arena,
                       struct row_job_event *event)
{
    if (sqlite3_column_type(row, FACTS) == SQLITE_NULL) {
        return;
    }
    struct job_facts *facts = arena_alloc(arena, 1, sizeof(*facts));
    facts->user = arena_str(arena, db_column_text(row, FACTS));
    facts->name = arena_str(arena, db_column_text(row, FACTS + 1));
    facts->queue = arena_str(arena, db_column_text(row, FACTS + 2));
    facts->project = arena_str(arena, db_column_text(row, FACTS + 3));
    facts->command = arena_str(arena, db_column_text(row, FACTS + 4));
    facts->n_slots = sqlite3_column_int(row, FACTS + 5);
    event->facts = facts;
}

static int read_event(sqlite3_stmt *row, struct arena *arena,
                      struct row_job_event *event, struct err *err)
{
    int rc = read_words(row, event, err);
    if (rc == 0) {
        rc = db_column_read_hosts(row, 5, arena, &event->hosts, &event->n_hosts, err);
    }
    event->index = sqlite3_column_int(row, 0);
    event->at_ms = sqlite3_column_int64(row, 1);
    event->lease = arena_str(arena, db_column_text(row, 4));
    event->reason = arena_str(arena, db_column_text(row, 6));
    event->exit.text = "";
    if (sqlite3_column_type(row, EXIT) != SQLITE_NULL) {
        event->exit.end = RUN_END_EXITED;
        event->exit.code = sqlite3_column_int(row, EXIT);
    }
    event->exit.cpu_ms = sqlite3_column_int64(row, EXIT + 1);
    event->exit.mem_kib = sqlite3_column_int64(row, EXIT + 2);
    read_facts(row, arena, event);
    return rc;
}

int journal_history_read_events(struct journal_history *history, struct db *db,
                                const struct journal_asked *asked, struct arena *arena,
                                struct row_job_event **events, int *n_events,
                                bool *is_cut, struct err *err)
{
    sqlite3_stmt *of_job = db_statement(db, &history->of_job, of_job_sql);
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
        rc = step == SQLITE_ROW ? read_event(of_job, arena, event, err)
                                : db_column_fail(of_job, "history", err);
        event->site = asked->site;
        event->id = asked->id;
        n_of_elements += event->index > 0;
        *n_events += rc == 0;
    }
    sqlite3_reset(of_job);
    *is_cut = n_of_elements == asked->limit;
    return rc;
}

int journal_history_read_ids(struct journal_history *history, struct db *db,
                             const char *user, uint64_t after, int limit,
                             struct arena *arena, uint64_t **ids, int *n_ids,
                             struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &history->ids, ids_sql);
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
