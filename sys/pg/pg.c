/* SPDX-License-Identifier: Apache-2.0 */
/* pg.c: see pg.h: the connection, its settings, and the pipeline. */
#include "sys/pg/pg.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATEMENT_NAME_SIZE = 16 };

struct pg_statement {
    struct pg_statement *next;
    const char *sql;
    char name[STATEMENT_NAME_SIZE];
    int n_params;
};

struct pg {
    PGconn *connection;
    char *url;
    struct pg_statement *statements; /* the newest first */
    int n_statements;
    struct pg_writer *writers; /* the oldest first */
    bool has_failed; /* in the present transaction: something could not be sent */
};

bool pg_is_url(const char *text)
{
    return strncmp(text, "postgresql://", strlen("postgresql://")) == 0 ||
           strncmp(text, "postgres://", strlen("postgres://")) == 0;
}

/* ---------------------------------------------------------------- errors */

/* The first line of libpq's words, which has no password. */
static int fail(const struct pg *pg, int code, const char *words, struct err *err)
{
    (void)pg;
    return err_set(err, code, "PostgreSQL: %.*s", (int)strcspn(words, "\n"), words);
}

static bool is_lost(const struct pg *pg)
{
    return PQstatus(pg->connection) != CONNECTION_OK;
}

static int fail_connection(const struct pg *pg, struct err *err)
{
    return fail(pg, is_lost(pg) ? ERR_AWAY : ERR_IO, PQerrorMessage(pg->connection),
                err);
}

static int fail_result(const struct pg *pg, const PGresult *result, struct err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL || is_lost(pg)) {
        return fail(pg, ERR_AWAY, PQresultErrorMessage(result), err);
    }
    bool is_stale = strcmp(state, PG_STATE_STALE) == 0;
    return fail(pg, is_stale ? ERR_STALE : ERR_IO, words != NULL ? words : state, err);
}

/* ---------------------------------------------------------------- waiting */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Sends what is to be sent, and reads until a result is there. */
static int wait_result(struct pg *pg, int64_t deadline_ms, struct err *err)
{
    for (;;) {
        int unsent = PQflush(pg->connection);
        if (unsent < 0 || is_lost(pg)) {
            return fail_connection(pg, err);
        }
        if (unsent == 0 && !PQisBusy(pg->connection)) {
            return 0;
        }
        int64_t left_ms = deadline_ms - now_ms();
        struct pollfd item = {.fd = PQsocket(pg->connection),
                              .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
        if (left_ms <= 0 || poll(&item, 1, (int)left_ms) == 0) {
            return err_set(err, ERR_AWAY,
                           "PostgreSQL: the server has not answered for %d s",
                           PG_PATIENCE_MS / 1000);
        }
        if ((item.revents & ~POLLOUT) != 0 && PQconsumeInput(pg->connection) == 0) {
            return fail_connection(pg, err);
        }
    }
}

/* ---------------------------------------------------------------- opening */

/* What is checked at opening: commits that the server says are made must last, and
 * texts must come back as they were. */
static const struct {
    const char *name, *allowed[3], *why;
} settings[] = {
    {"synchronous_commit",
     {"on", "remote_apply"},
     "a commit that is lost in a crash would break a promise"},
    {"fsync", {"on"}, "a crash of its machine would damage the database"},
    {"full_page_writes", {"on"}, "a crash of its machine would damage the database"},
    {"server_encoding", {"UTF8"}, "names and reasons are UTF-8"},
};

static int check_setting(struct pg *pg, size_t at, struct err *err)
{
    char sql[64];
    PGresult *rows;
    snprintf(sql, sizeof(sql), "SHOW %s", settings[at].name);
    if (pg_query(pg, sql, &rows, err) < 0) {
        return err->code;
    }
    const char *value = PQgetvalue(rows, 0, 0);
    bool is_allowed = false;
    for (const char *const *word = settings[at].allowed; *word != NULL; word++) {
        is_allowed |= strcmp(*word, value) == 0;
    }
    int rc = is_allowed ? 0
                        : err_set(err, ERR_DENIED,
                                  "PostgreSQL has %s = %s for this role and database, "
                                  "expected %s: %s",
                                  settings[at].name, value, settings[at].allowed[0],
                                  settings[at].why);
    PQclear(rows);
    return rc;
}

/* Notices ("relation exists, skipping") are of no use to anyone. */
static void drop_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

static int prepare(struct pg *pg, const struct pg_statement *statement, struct err *err)
{
    PGresult *result = PQprepare(pg->connection, statement->name, statement->sql,
                                 statement->n_params, NULL);
    int rc =
        PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : fail_result(pg, result, err);
    PQclear(result);
    return rc < 0 ? err_prefix(err, "%.64s", statement->sql) : 0;
}

/* The first two are defaults, which the URL overrides. */
static int open_connection(struct pg *pg, struct err *err)
{
    const char *const names[] = {"connect_timeout", "tcp_user_timeout",
                                 "dbname",          "fallback_application_name",
                                 "client_encoding", NULL};
    const char *const values[] = {"5", "10000", pg->url, "sublet-broker", "UTF8", NULL};
    pg->connection = PQconnectdbParams(names, values, 1);
    if (is_lost(pg)) {
        return fail(pg, ERR_AWAY, PQerrorMessage(pg->connection), err);
    }
    PQsetNoticeReceiver(pg->connection, drop_notice, NULL);
    int rc = 0;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && rc == 0; i++) {
        rc = check_setting(pg, i, err);
    }
    for (const struct pg_statement *at = pg->statements; at != NULL && rc == 0;
         at = at->next) {
        rc = prepare(pg, at, err);
    }
    return rc;
}

int pg_open(const char *url, struct pg **pg, struct err *err)
{
    struct pg *opened = mem_alloc(1, sizeof(*opened));
    opened->url = strdup(url);
    if (opened->url == NULL) {
        abort();
    }
    if (open_connection(opened, err) < 0) {
        pg_close(opened);
        return err->code;
    }
    *pg = opened;
    return 0;
}

int pg_reopen(struct pg *pg, struct err *err)
{
    PQfinish(pg->connection);
    pg->has_failed = false;
    return open_connection(pg, err);
}

void pg_close(struct pg *pg)
{
    if (pg == NULL) {
        return;
    }
    PQfinish(pg->connection);
    while (pg->statements != NULL) {
        struct pg_statement *next = pg->statements->next;
        free(pg->statements);
        pg->statements = next;
    }
    free(pg->url);
    free(pg);
}

int pg_prepare(struct pg *pg, const char *sql, int n_params,
               struct pg_statement **statement, struct err *err)
{
    struct pg_statement *made = mem_alloc(1, sizeof(*made));
    snprintf(made->name, sizeof(made->name), "s%d", ++pg->n_statements);
    made->sql = sql;
    made->n_params = n_params;
    made->next = pg->statements;
    pg->statements = made;
    *statement = made;
    return prepare(pg, made, err);
}

/* ---------------------------------------------------------------- transactions */

void pg_add_writer(struct pg *pg, struct pg_writer *writer)
{
    struct pg_writer **end = &pg->writers;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = writer;
}

void pg_remove_writer(struct pg *pg, struct pg_writer *writer)
{
    struct pg_writer **at = &pg->writers;
    while (*at != writer) {
        at = &(*at)->next;
    }
    *at = writer->next;
}

void pg_send_rows(struct pg *pg)
{
    for (struct pg_writer *at = pg->writers; at != NULL; at = at->next) {
        at->send(at);
    }
}

void pg_begin(struct pg *pg)
{
    for (struct pg_writer *at = pg->writers; at != NULL; at = at->next) {
        at->drop(at);
    }
    pg->has_failed = PQenterPipelineMode(pg->connection) != 1 ||
                     PQsetnonblocking(pg->connection, 1) != 0;
}

void pg_send(struct pg *pg, const struct pg_statement *statement,
             const char *const *params)
{
    if (!pg->has_failed) {
        pg->has_failed =
            PQsendQueryPrepared(pg->connection, statement->name, statement->n_params,
                                params, NULL, NULL, 0) != 1;
    }
}

/* Reads the results up to that of the synchronization, at which the server commits. The
 * first error counts: what follows is skipped by the server. */
static int read_pipeline(struct pg *pg, struct err *err)
{
    int64_t deadline_ms = now_ms() + PG_PATIENCE_MS;
    int rc = 0;
    for (bool is_done = false; !is_done;) {
        struct err lost;
        if (wait_result(pg, deadline_ms, &lost) < 0) {
            *err = lost;
            return lost.code;
        }
        PGresult *result = PQgetResult(pg->connection);
        ExecStatusType status =
            result != NULL ? PQresultStatus(result) : PGRES_COMMAND_OK;
        is_done = status == PGRES_PIPELINE_SYNC;
        if (status == PGRES_FATAL_ERROR && rc == 0) {
            rc = fail_result(pg, result, err);
        }
        PQclear(result);
    }
    return rc;
}

/* A pipeline between two synchronizations is one transaction of the server. A
 * connection that is lost, or left in the middle, is of no use before it is opened
 * again. */
int pg_commit(struct pg *pg, struct err *err)
{
    pg_send_rows(pg);
    if (pg->has_failed || PQpipelineSync(pg->connection) != 1) {
        return fail(pg, ERR_AWAY, PQerrorMessage(pg->connection), err);
    }
    int rc = read_pipeline(pg, err);
    if (rc != ERR_AWAY && (PQexitPipelineMode(pg->connection) != 1 ||
                           PQsetnonblocking(pg->connection, 0) != 0)) {
        rc = fail_connection(pg, err);
    }
    return rc;
}

/* ---------------------------------------------------------------- questions */

/* The last result of what was sent; the others are dropped. */
static int read_results(struct pg *pg, bool is_sent, PGresult **rows, struct err *err)
{
    int64_t deadline_ms = now_ms() + PG_PATIENCE_MS;
    PGresult *last = NULL, *result = NULL;
    int rc = is_sent ? 0 : fail_connection(pg, err);
    while (rc == 0) {
        rc = wait_result(pg, deadline_ms, err);
        result = rc == 0 ? PQgetResult(pg->connection) : NULL;
        if (result == NULL) {
            break;
        }
        PQclear(last);
        last = result;
    }
    if (rc == 0 && PQresultStatus(last) != PGRES_TUPLES_OK &&
        PQresultStatus(last) != PGRES_COMMAND_OK) {
        rc = fail_result(pg, last, err);
    }
    if (rc < 0) {
        PQclear(last);
        return rc;
    }
    *rows = last;
    return 0;
}

int pg_ask(struct pg *pg, const struct pg_statement *statement,
           const char *const *params, PGresult **rows, struct err *err)
{
    bool is_sent = PQsendQueryPrepared(pg->connection, statement->name,
                                       statement->n_params, params, NULL, NULL, 0) == 1;
    return read_results(pg, is_sent, rows, err);
}

int pg_query(struct pg *pg, const char *sql, PGresult **rows, struct err *err)
{
    return read_results(pg, PQsendQuery(pg->connection, sql) == 1, rows, err);
}

int pg_run(struct pg *pg, const char *sql, struct err *err)
{
    PGresult *rows;
    int rc = pg_query(pg, sql, &rows, err);
    if (rc == 0) {
        PQclear(rows);
    }
    return rc;
}

int64_t pg_number(const PGresult *rows, int row, int column)
{
    return PQgetisnull(rows, row, column)
               ? 0
               : strtoll(PQgetvalue(rows, row, column), NULL, 10);
}
