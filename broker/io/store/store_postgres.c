/* SPDX-License-Identifier: Apache-2.0 */
/* store_postgres.c: the store as a database of PostgreSQL (store.h). What is written
 * between begin and commit is one pipeline. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/store/store_parts.h"
#include "broker/leader/leader.h"
#include "sys/log.h"
#include "sys/pg/pg.h"

enum {
    PARAM_SIZE = 24, /* a number as text */
};

/* From schema/postgres, by tools/embed-sql. */
extern const struct db_migration postgres_migrations[];

struct store_postgres {
    struct store store;
    struct pg *pg;
    struct pg_table *tables[ROW_KINDS];
    struct arena texts;
    int64_t term, batch; /* of the lead; term 0: it does not lead */
    struct pg_statement *check_term, *take_lead, *look, *see_broker, *leave_lead;
    int n_looks;  /* since it has last renewed its row of `broker` */
    bool is_seen; /* it has renewed that */
    int n_events; /* written since the oldest were deleted */
    struct pg_statement *forget, *last_event, *events, *leases, *lease, *last_events,
        *last_of_lease;
    struct pg_statement *forget_series, *find;
    struct pg_statement *put[STORE_SERIES_KINDS], *read[STORE_SERIES_KINDS];
};

static struct store_postgres *server_of(struct store *store)
{
    return (struct store_postgres *)store;
}

static const char *show(char text[PARAM_SIZE], int64_t number)
{
    snprintf(text, PARAM_SIZE, "%lld", (long long)number);
    return text;
}

/* ---------------------------------------------------------------- transactions */

static int begin(struct store *store, struct err *err)
{
    (void)err;
    struct store_postgres *server = server_of(store);
    char term[PARAM_SIZE], batch[PARAM_SIZE];
    pg_begin(server->pg);
    if (server->term > 0) {
        pg_send(
            server->pg, server->check_term,
            (const char *[]){show(term, server->term), show(batch, server->batch + 1)});
    }
    return 0;
}

/* Connects again, once, and reads what became of the last transaction: its session is
 * ended first, so that nothing of it comes later. 0: it was committed; ERR_AWAY: it was
 * not, and can be sent again; any other error: it is not known, and this broker starts
 * anew, from what is stored then. */
static int settle(struct store_postgres *server, struct err *err)
{
    char sql[320];
    PGresult *rows;
    log_line(LOG_LEVEL_WARNING, "%s; it is opened again", err->text);
    snprintf(sql, sizeof(sql),
             "SELECT end_session(%lld); UPDATE leader SET pid = pg_backend_pid(),"
             " session_at = (SELECT backend_start FROM pg_stat_activity AS activity"
             " WHERE activity.pid = pg_backend_pid()), renewed = clock_timestamp()"
             " WHERE term = %lld AND NOT has_left RETURNING batch",
             (long long)server->term, (long long)server->term);
    int rc = pg_reopen(server->pg, err);
    rc = rc == 0 ? pg_query(server->pg, sql, &rows, err) : rc;
    if (rc < 0) {
        err->code = ERR_IO;
        return ERR_IO;
    }
    bool leads = PQntuples(rows) == 1;
    bool is_committed = leads && pg_number(rows, 0, 0) == server->batch + 1;
    PQclear(rows);
    if (!leads) {
        return err_set(err, ERR_STALE, "term %lld is over, another broker leads",
                       (long long)server->term);
    }
    return is_committed ? 0 : err_set(err, ERR_AWAY, "the connection was lost");
}

static int commit(struct store *store, struct err *err)
{
    struct store_postgres *server = server_of(store);
    int rc = pg_commit(server->pg, err);
    if (rc == ERR_AWAY && server->term > 0) {
        rc = settle(server, err);
    }
    server->batch += rc == 0;
    return rc;
}

/* ---------------------------------------------------------------- the lead */

/* The others see that this broker runs. */
static int renew_row(struct store_postgres *server, struct err *err)
{
    char name[HOST_NAME_MAX + 1] = "";
    PGresult *rows;
    gethostname(name, sizeof(name) - 1);
    const char *const params[] = {server->store.endpoint, name,
                                  server->is_seen ? "false" : "true"};
    int rc = pg_ask(server->pg, server->see_broker, params, &rows, err);
    if (rc == 0) {
        server->is_seen = true;
        PQclear(rows);
    }
    return rc;
}

static int look(struct store_postgres *server, struct leader_row *row,
                struct arena *arena, struct store_leader *leader, struct err *err)
{
    PGresult *rows;
    const char *const params[] = {server->store.endpoint};
    int rc = pg_ask(server->pg, server->look, params, &rows, err);
    if (rc < 0) {
        return rc;
    }
    *row = (struct leader_row){pg_number(rows, 0, 0), pg_number(rows, 0, 1),
                               pg_number(rows, 0, 2) != 0, pg_number(rows, 0, 3) != 0,
                               pg_number(rows, 0, 6) != 0};
    server->batch = pg_number(rows, 0, 4);
    leader->term = row->term;
    leader->batch = server->batch;
    leader->name = leader_may_take(row) ? "" : arena_str(arena, PQgetvalue(rows, 0, 5));
    PQclear(rows);
    return 0;
}

static int take(struct store_postgres *server, const struct leader_row *row,
                struct err *err)
{
    char term[PARAM_SIZE], stale[PARAM_SIZE];
    const char *const params[] = {
        show(term, row->term), server->store.endpoint,
        show(stale, row->has_session ? LEADER_STALE_MS : LEADER_DEAD_MS)};
    PGresult *rows;
    int rc = pg_ask(server->pg, server->take_lead, params, &rows, err);
    if (rc == 0) {
        server->term = pg_number(rows, 0, 0);
        PQclear(rows);
    }
    return rc < 0 ? rc : server->term > 0;
}

/* The batch number is read again under the new term, after which no one else changes
 * it.
 */
static int try_lead(struct store *store, struct arena *arena,
                    struct store_leader *leader, struct err *err)
{
    struct store_postgres *server = server_of(store);
    struct leader_row row;
    int rc = look(server, &row, arena, leader, err);
    if (rc == ERR_AWAY && pg_reopen(server->pg, err) == 0) {
        rc = look(server, &row, arena, leader, err);
    }
    if (rc == 0 && leader_may_take(&row)) {
        rc = take(server, &row, err);
    }
    if (rc == 0 && server->n_looks++ % (LEADER_RENEW_MS / LEADER_LOOK_MS) == 0) {
        rc = renew_row(server, err);
    }
    return rc > 0 ? (look(server, &row, arena, leader, err) == 0 ? 1 : err->code) : rc;
}

/* NULL: the batch stays as it is. */
static int renew_lead(struct store *store, struct err *err)
{
    struct store_postgres *server = server_of(store);
    char term[PARAM_SIZE];
    PGresult *rows;
    if (server->term == 0) {
        return 0;
    }
    int rc = pg_ask(server->pg, server->check_term,
                    (const char *[]){show(term, server->term), NULL}, &rows, err);
    if (rc == 0) {
        PQclear(rows);
        rc = renew_row(server, err);
    }
    if (rc == ERR_AWAY) {
        rc = settle(server, err);
    }
    return rc == ERR_AWAY ? 0 : rc;
}

static void leave_lead(struct store *store, bool steps_down)
{
    struct store_postgres *server = server_of(store);
    struct err err;
    char term[PARAM_SIZE];
    PGresult *rows;
    if (server->term > 0) {
        const char *const params[] = {show(term, server->term),
                                      steps_down ? "true" : "false"};
        if (pg_ask(server->pg, server->leave_lead, params, &rows, &err) < 0) {
            log_line(LOG_LEVEL_WARNING, "the lead is not given up: %s", err.text);
        } else {
            PQclear(rows);
        }
        server->term = 0;
    }
}

static int list_brokers(struct store *store, store_broker_fn *fn, void *arg,
                        struct err *err)
{
    PGresult *rows;
    int rc = pg_query(
        server_of(store)->pg,
        "SELECT endpoint, broker.name, leads::int, CASE WHEN leads THEN term ELSE 0 "
        "END,"
        " (extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint, (extract(epoch"
        " FROM CASE WHEN leads THEN leader.since ELSE broker.since END) * 1000)::bigint"
        " FROM leader, broker, LATERAL (SELECT endpoint = leader.name AND NOT has_left)"
        " AS role (leads) ORDER BY endpoint",
        &rows, err);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < PQntuples(rows); i++) {
        fn(arg, &(struct store_broker){.endpoint = PQgetvalue(rows, i, 0),
                                       .name = PQgetvalue(rows, i, 1),
                                       .leads = pg_number(rows, i, 2) != 0,
                                       .term = pg_number(rows, i, 3),
                                       .lag_ms = pg_number(rows, i, 4),
                                       .since_ms = pg_number(rows, i, 5)});
    }
    PQclear(rows);
    return 0;
}

/* ---------------------------------------------------------------- rows */

/* The server has its own (autovacuum, checkpoints). */
static void maintain(struct store *store)
{
    (void)store;
}

static void forget_events(struct store_postgres *server)
{
    char max[PARAM_SIZE], n_rows[PARAM_SIZE];
    if (++server->n_events >= STORE_FORGET_EVERY) {
        server->n_events = 0;
        pg_send(server->pg, server->forget,
                (const char *[]){show(max, STORE_EVENTS_MAX),
                                 show(n_rows, (int64_t)2 * STORE_FORGET_EVERY)});
    }
}

static int write_row(struct store *store, const struct row *row, struct err *err)
{
    struct store_postgres *server = server_of(store);
    struct pg_table *table = server->tables[row->kind];
    if (table == NULL) {
        return err_set(err, ERR_STATE, "there is no table for rows of kind %d",
                       (int)row->kind);
    }
    (row_is_gone(row) ? pg_table_delete : pg_table_put)(table, row_record_of(row));
    if (row->kind == ROW_HISTORY) {
        forget_events(server);
    }
    return 0;
}

struct loading {
    store_row_fn *fn;
    void *arg;
    enum row_kind kind;
};

static void on_record(void *arg, const void *record)
{
    const struct loading *loading = arg;
    struct row row = {.kind = loading->kind};
    memcpy(row_record(&row), record, schema_row_kinds[row.kind]->size);
    row_restore(&row);
    loading->fn(loading->arg, &row);
}

/* All tables as of one instant, so that a list is that of its row. */
static int load(struct store *store, store_row_fn *fn, void *arg, struct err *err)
{
    struct store_postgres *server = server_of(store);
    struct err ignored;
    int rc = pg_run(server->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    for (int kind = 0; kind < ROW_KINDS && rc == 0; kind++) {
        struct loading loading = {fn, arg, (enum row_kind)kind};
        if (server->tables[kind] != NULL && kind != ROW_HISTORY) {
            rc = pg_table_load(server->tables[kind], on_record, &loading, err);
        }
    }
    if (rc < 0) {
        (void)!pg_run(server->pg, "ROLLBACK", &ignored); /* the first error counts */
        return rc;
    }
    return pg_run(server->pg, "COMMIT", err);
}

/* ---------------------------------------------------------------- events */

static int last_event(struct store *store, int64_t *id, struct err *err)
{
    struct store_postgres *server = server_of(store);
    PGresult *rows;
    int rc = pg_ask(server->pg, server->last_event, NULL, &rows, err);
    if (rc == 0) {
        *id = pg_number(rows, 0, 0);
        PQclear(rows);
    }
    return rc;
}

static int read_events(struct store *store, const struct store_events *events,
                       struct arena *arena, store_event_fn *fn, void *arg,
                       struct err *err)
{
    struct store_postgres *server = server_of(store);
    struct pg_statement *const of[][2] = {
        [STORE_EVENTS_ALL] = {server->events, server->last_events},
        [STORE_EVENTS_LEASES] = {server->leases, server->leases},
        [STORE_EVENTS_LEASE] = {server->lease, server->last_of_lease},
    };
    char after[PARAM_SIZE], n_rows[PARAM_SIZE];
    const char *const params[] = {show(after, events->after),
                                  show(n_rows, events->n_rows), events->lease};
    PGresult *rows;
    int rc =
        pg_ask(server->pg, of[events->of][events->is_last ? 1 : 0], params, &rows, err);
    if (rc < 0) {
        return rc;
    }
    bool goes_on = true;
    for (int i = 0; i < PQntuples(rows) && goes_on && rc == 0; i++) {
        struct row_history row;
        rc = pg_table_read(server->tables[ROW_HISTORY], rows, i, &row, arena, err);
        goes_on = rc == 0 && fn(arg, &row);
    }
    PQclear(rows);
    return rc;
}

/* ---------------------------------------------------------------- series */

static int put_sample(struct store *store, enum store_series_kind kind,
                      const char *name, int64_t at_ms, const int64_t *numbers,
                      struct err *err)
{
    (void)err;
    struct store_postgres *server = server_of(store);
    char texts[STORE_SERIES_SITE_NUMBERS][PARAM_SIZE], at[PARAM_SIZE],
        before[PARAM_SIZE];
    const char *params[4 + STORE_SERIES_SITE_NUMBERS] = {
        store_series_defs[kind].kind, name, show(at, at_ms),
        show(before, at_ms - store_series_keep_ms(kind))};
    for (int i = 0; i < store_series_count(kind); i++) {
        params[4 + i] = show(texts[i], numbers[i]);
    }
    pg_send(server->pg, server->put[kind], params);
    return 0;
}

static int forget_series(struct store *store, int64_t now_ms, struct err *err)
{
    (void)err;
    struct store_postgres *server = server_of(store);
    char fine[PARAM_SIZE], before[PARAM_SIZE], max[PARAM_SIZE];
    const char *const params[] = {show(fine, now_ms - STORE_SERIES_FINE_MS),
                                  show(before, now_ms - STORE_SERIES_KEEP_MS),
                                  show(max, STORE_FORGET_SERIES_MAX)};
    pg_send(server->pg, server->forget_series, params);
    return 0;
}

static int find_series(struct store *store, const struct store_series_ask *ask,
                       int64_t *series, int64_t *first_ms, struct err *err)
{
    struct store_postgres *server = server_of(store);
    char from[PARAM_SIZE];
    const char *const params[] = {store_series_defs[ask->kind].kind, ask->name,
                                  show(from, ask->from_ms)};
    PGresult *rows;
    int rc = pg_ask(server->pg, server->find, params, &rows, err);
    if (rc == 0) {
        *series = PQntuples(rows) > 0 ? pg_number(rows, 0, 0) : -1;
        *first_ms = PQntuples(rows) > 0 ? pg_number(rows, 0, 1) : 0;
        PQclear(rows);
    }
    return rc;
}

static int read_samples(struct store *store, const struct store_samples *samples,
                        store_sample_fn *fn, void *arg, struct err *err)
{
    struct store_postgres *server = server_of(store);
    char series[PARAM_SIZE], from[PARAM_SIZE], bucket[PARAM_SIZE];
    const char *const params[] = {show(series, samples->series),
                                  show(from, samples->from_ms),
                                  show(bucket, samples->bucket_ms)};
    PGresult *rows;
    int rc = pg_ask(server->pg, server->read[samples->kind], params, &rows, err);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t numbers[STORE_SERIES_SITE_NUMBERS];
        for (int at = 0; at < store_series_count(samples->kind); at++) {
            numbers[at] = PQgetisnull(rows, i, at + 1) ? STORE_SERIES_UNKNOWN
                                                       : pg_number(rows, i, at + 1);
        }
        fn(arg, pg_number(rows, i, 0), numbers);
    }
    PQclear(rows);
    return 0;
}

/* ---------------------------------------------------------------- statements */

/* Of the old samples of $3 and of the named series, the first of each part stays. */
static const char *thin_sql(struct arena *arena, enum store_series_kind kind)
{
    if (store_series_keep_ms(kind) == STORE_SERIES_FINE_MS) {
        return "";
    }
    return arena_printf(
        arena,
        " thin AS (DELETE FROM sample USING named WHERE series = named.id"
        " AND at_ms >= $3::bigint - %d AND at_ms < $3::bigint - %d AND EXISTS"
        " (SELECT 1 FROM sample AS first WHERE first.series = named.id"
        " AND first.at_ms >= sample.at_ms - sample.at_ms %% %d"
        " AND first.at_ms < sample.at_ms)),",
        STORE_SERIES_FINE_MS + STORE_THIN_MS, STORE_SERIES_FINE_MS,
        STORE_SERIES_COARSE_MS);
}

/* A sample, with the name of its series, and without the samples that are too old. The
 * parts of one statement do not see what the others change. */
static int prepare_series(struct store_postgres *server, enum store_series_kind kind,
                          struct err *err)
{
    int count = store_series_count(kind);
    const char *columns = store_series_join(&server->texts, kind);
    const char *values = "", *set = "";
    for (int i = 0; i < count; i++) {
        const char *column = store_series_defs[kind].columns[i];
        values = arena_printf(&server->texts, "%s, $%d::bigint", values, i + 5);
        set = arena_printf(&server->texts, "%s%s%s = excluded.%s", set,
                           i > 0 ? ", " : "", column, column);
    }
    const char *put = arena_printf(
        &server->texts,
        "WITH named AS (INSERT INTO series (kind, name, last_ms) VALUES ($1, $2, $3)"
        " ON CONFLICT (kind, name) DO UPDATE SET last_ms = $3 RETURNING id),%s"
        " cut AS (DELETE FROM sample USING named"
        " WHERE series = named.id AND at_ms < $4)"
        " INSERT INTO sample (series, at_ms, %s) SELECT id, $3%s FROM named"
        " ON CONFLICT (series, at_ms) DO UPDATE SET %s",
        thin_sql(&server->texts, kind), columns, values, set);
    const char *read = arena_printf(
        &server->texts,
        "SELECT DISTINCT ON (at_ms / $3::bigint) at_ms, %s FROM sample"
        " WHERE series = $1 AND at_ms >= $2 ORDER BY at_ms / $3::bigint, at_ms DESC",
        columns);
    int rc = pg_prepare(server->pg, put, 4 + count, &server->put[kind], err);
    return rc == 0 ? pg_prepare(server->pg, read, 3, &server->read[kind], err) : rc;
}

static int prepare(struct store_postgres *server, struct err *err)
{
    const struct {
        struct pg_statement **statement;
        int n_params;
        const char *sql;
    } all[] = {
        {&server->check_term, 2, "SELECT check_term($1, $2)"},
        {&server->take_lead, 3, "SELECT take_lead($1, $2, $3)"},
        {&server->look, 1,
         "SELECT term, (extract(epoch FROM clock_timestamp() - renewed) * "
         "1000)::bigint,"
         " EXISTS (SELECT 1 FROM pg_stat_activity AS activity WHERE activity.pid ="
         " leader.pid AND backend_start = session_at)::int, has_left::int, batch, name,"
         " (stepped_down AND name = $1)::int FROM leader"},
        {&server->see_broker, 3, "SELECT see_broker($1, $2, $3)"},
        {&server->leave_lead, 2, "SELECT leave_lead($1, $2)"},
        /* The order and the limit keep the server from reading the whole table. */
        {&server->forget, 2,
         "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE id <="
         " (SELECT max(id) FROM event) - $1 ORDER BY id LIMIT $2)"},
        {&server->last_event, 0, "SELECT max(id) FROM event"},
        {&server->events, 2, "SELECT * FROM event WHERE id > $1 ORDER BY id LIMIT $2"},
        {&server->last_events, 2,
         "SELECT * FROM (SELECT * FROM event WHERE id > $1 ORDER BY id DESC LIMIT $2)"
         " AS latest ORDER BY id"},
        {&server->leases, 2,
         "SELECT * FROM event WHERE lease <> '' AND id > $1 ORDER BY id LIMIT $2"},
        {&server->lease, 3,
         "SELECT * FROM event WHERE lease = $3 AND id > $1 ORDER BY id LIMIT $2"},
        {&server->last_of_lease, 3,
         "SELECT * FROM (SELECT * FROM event WHERE lease = $3 AND id > $1"
         " ORDER BY id DESC LIMIT $2) AS latest ORDER BY id"},
        {&server->forget_series, 3,
         "DELETE FROM series WHERE id IN (SELECT id FROM series WHERE last_ms <"
         " CASE WHEN kind = 'lease' OR kind = 'node' THEN $1::bigint"
         " ELSE $2::bigint END ORDER BY id LIMIT $3)"},
        {&server->find, 3,
         "SELECT id, coalesce((SELECT min(at_ms) FROM sample WHERE series = id"
         " AND at_ms >= $3), $3) FROM series WHERE kind = $1 AND name = $2"},
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && rc == 0; i++) {
        rc = pg_prepare(server->pg, all[i].sql, all[i].n_params, all[i].statement, err);
    }
    for (int kind = 0; kind < STORE_SERIES_KINDS && rc == 0; kind++) {
        if (kind != STORE_SERIES_ALL) {
            rc = prepare_series(server, (enum store_series_kind)kind, err);
        }
    }
    server->put[STORE_SERIES_ALL] = server->put[STORE_SERIES_SITE];
    server->read[STORE_SERIES_ALL] = server->read[STORE_SERIES_SITE];
    return rc;
}

static int open_tables(struct store_postgres *server, struct err *err)
{
    struct db_table_def defs[ROW_KINDS];
    int rc = 0;
    store_tables_describe(defs);
    for (int kind = 0; kind < ROW_KINDS && rc == 0; kind++) {
        if (defs[kind].schema != NULL) {
            rc = pg_table_open(server->pg, &defs[kind], &server->tables[kind], err);
        }
    }
    return rc;
}

/* ---------------------------------------------------------------- life */

static void close_store(struct store *store)
{
    struct store_postgres *server = server_of(store);
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        pg_table_close(server->tables[kind]);
    }
    pg_close(server->pg);
    arena_release(&server->texts);
    free(server);
}

static struct db *db_of(struct store *store)
{
    (void)store;
    return NULL;
}

static struct pg *pg_of(struct store *store)
{
    return server_of(store)->pg;
}

static const struct store_ops postgres_ops = {
    .close = close_store,
    .db = db_of,
    .pg = pg_of,
    .begin = begin,
    .commit = commit,
    .maintain = maintain,
    .write = write_row,
    .load = load,
    .last_event = last_event,
    .read_events = read_events,
    .put_sample = put_sample,
    .forget_series = forget_series,
    .find_series = find_series,
    .read_samples = read_samples,
    .try_lead = try_lead,
    .renew_lead = renew_lead,
    .leave_lead = leave_lead,
    .list_brokers = list_brokers,
};

int store_postgres_open(const char *url, struct store **store, struct err *err)
{
    struct store_postgres *opened = mem_alloc(1, sizeof(*opened));
    opened->store.ops = &postgres_ops;
    arena_init(&opened->texts);
    int rc = pg_open(url, &opened->pg, err);
    rc = rc == 0 ? pg_migrate(opened->pg, postgres_migrations, err) : rc;
    rc = rc == 0 ? open_tables(opened, err) : rc;
    rc = rc == 0 ? prepare(opened, err) : rc;
    if (rc < 0) {
        close_store(&opened->store);
        return rc;
    }
    *store = &opened->store;
    return 0;
}
