/* SPDX-License-Identifier: Apache-2.0 */
/* store_transfer.c: see store_transfer.h. */
#include "broker/io/store/store_transfer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/pg/pg.h"

enum { TABLES_MAX = 32, ROWS_PER_FETCH = 1000 };

struct transfer_table {
    const char *name, *columns, *keys; /* "a, b, c", in the file's order */
    int n_columns;
    struct pg_statement *put;
};

struct store_transfer {
    struct db *file;
    struct pg *pg;
    struct arena arena;
    bool is_to_server, is_begun; /* the file's transaction */
    struct transfer_table tables[TABLES_MAX];
    int n_tables, at; /* the table that is being copied */
    sqlite3_stmt *rows;
    bool is_open; /* the server's cursor on the present table */
};

/* ---------------------------------------------------------------- tables */

static sqlite3_stmt *select_file(struct store_transfer *transfer, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    return db_statement(transfer->file, &statement, sql);
}

static void read_columns(struct store_transfer *transfer, struct transfer_table *table)
{
    struct arena *arena = &transfer->arena;
    sqlite3_stmt *info = select_file(
        transfer, arena_printf(arena, "PRAGMA table_info(\"%s\")", table->name));
    table->columns = table->keys = "";
    while (sqlite3_step(info) == SQLITE_ROW) {
        const char *name = db_column_text(info, 1);
        table->columns = arena_printf(arena, "%s%s\"%s\"", table->columns,
                                      table->columns[0] != '\0' ? ", " : "", name);
        if (sqlite3_column_int(info, 5) > 0) {
            table->keys = arena_printf(arena, "%s%s\"%s\"", table->keys,
                                       table->keys[0] != '\0' ? ", " : "", name);
        }
        table->n_columns++;
    }
    sqlite3_finalize(info);
}

/* A table is older than those that refer to it. */
static void read_tables(struct store_transfer *transfer)
{
    sqlite3_stmt *names =
        select_file(transfer, "SELECT name FROM sqlite_schema WHERE type = 'table'"
                              " AND name NOT LIKE 'sqlite%' AND name NOT LIKE"
                              " 'present%' AND name <> 'held_recent' ORDER BY rowid");
    while (transfer->n_tables < TABLES_MAX && sqlite3_step(names) == SQLITE_ROW) {
        struct transfer_table *table = &transfer->tables[transfer->n_tables++];
        table->name = arena_str(&transfer->arena, db_column_text(names, 0));
        read_columns(transfer, table);
    }
    sqlite3_finalize(names);
}

/* "$1, $2" or "?1, ?2" */
static const char *join_params(struct arena *arena, int count, char sign)
{
    const char *text = "";
    for (int i = 0; i < count; i++) {
        text = arena_printf(arena, "%s%s%c%d", text, i > 0 ? ", " : "", sign, i + 1);
    }
    return text;
}

static const char *insert_sql(struct store_transfer *transfer,
                              const struct transfer_table *table, char sign)
{
    return arena_printf(&transfer->arena, "INSERT INTO \"%s\" (%s) VALUES (%s)",
                        table->name, table->columns,
                        join_params(&transfer->arena, table->n_columns, sign));
}

static const char *select_sql(struct store_transfer *transfer,
                              const struct transfer_table *table)
{
    return arena_printf(&transfer->arena, "SELECT %s FROM \"%s\" ORDER BY %s",
                        table->columns, table->name, table->keys);
}

/* A federation that is being changed cannot be moved. */
static int check_idle(struct store_transfer *transfer, struct err *err)
{
    PGresult *rows;
    int rc = pg_query(transfer->pg,
                      "SELECT name FROM leader WHERE NOT has_left"
                      " AND renewed > clock_timestamp() - interval '3 s'",
                      &rows, err);
    if (rc == 0 && PQntuples(rows) > 0) {
        rc = err_set(err, ERR_STATE, "the broker %s is running; stop it first",
                     PQgetvalue(rows, 0, 0));
    }
    if (rc == 0 || rc == ERR_STATE) {
        PQclear(rows);
    }
    return rc;
}

/* A server that has rows has a federation already. */
static int check_empty(struct store_transfer *transfer, struct err *err)
{
    for (int i = 0; i < transfer->n_tables; i++) {
        const char *name = transfer->tables[i].name;
        PGresult *rows;
        const char *sql =
            arena_printf(&transfer->arena, "SELECT 1 FROM \"%s\" LIMIT 1", name);
        if (pg_query(transfer->pg, sql, &rows, err) < 0) {
            return err->code;
        }
        int n_rows = PQntuples(rows);
        PQclear(rows);
        if (n_rows > 0) {
            return err_set(err, ERR_EXISTS,
                           "the database has rows already (table %s), expected empty "
                           "tables",
                           name);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- cursors */

static int open_cursor(struct store_transfer *transfer,
                       const struct transfer_table *table, struct err *err)
{
    const char *sql =
        arena_printf(&transfer->arena, "DECLARE copied NO SCROLL CURSOR FOR %s",
                     select_sql(transfer, table));
    int rc = pg_run(transfer->pg, sql, err);
    transfer->is_open = rc == 0;
    return rc;
}

static int close_cursor(struct store_transfer *transfer, struct err *err)
{
    transfer->is_open = false;
    return pg_run(transfer->pg, "CLOSE copied", err);
}

static int fetch(struct store_transfer *transfer, int n_rows, PGresult **rows,
                 struct err *err)
{
    char sql[48];
    snprintf(sql, sizeof(sql), "FETCH %d FROM copied", n_rows);
    return pg_query(transfer->pg, sql, rows, err);
}

/* ---------------------------------------------------------------- to a server */

/* Returns 1 if the table has more rows. */
static int send_rows(struct store_transfer *transfer, struct transfer_table *table,
                     int n_rows, struct err *err)
{
    int step = SQLITE_ROW;
    if (transfer->rows == NULL) {
        transfer->rows = select_file(transfer, select_sql(transfer, table));
    }
    pg_begin(transfer->pg);
    for (int i = 0; i < n_rows && (step = sqlite3_step(transfer->rows)) == SQLITE_ROW;
         i++) {
        const char *params[PG_PARAMS_MAX];
        for (int at = 0; at < table->n_columns; at++) {
            params[at] = (const char *)sqlite3_column_text(transfer->rows, at);
        }
        pg_send(transfer->pg, table->put, params);
    }
    int rc = pg_commit(transfer->pg, err);
    if (rc == 0 && step != SQLITE_ROW && step != SQLITE_DONE) {
        rc = db_column_fail(transfer->rows, table->name, err);
    }
    if (rc < 0 || step == SQLITE_ROW) {
        return rc < 0 ? rc : 1;
    }
    sqlite3_finalize(transfer->rows);
    transfer->rows = NULL;
    return 0;
}

/* Numbers that the server gives continue behind those that were copied. */
static int end_sending(struct store_transfer *transfer, struct err *err)
{
    return pg_run(transfer->pg,
                  "SELECT setval(pg_get_serial_sequence('series', 'id'),"
                  " (SELECT coalesce(max(id), 0) + 1 FROM series), false); COMMIT",
                  err);
}

/* ---------------------------------------------------------------- to a file */

static bool is_number(PGresult *rows, int column)
{
    enum { BIGINT = 20 }; /* its number in the catalogue never changes */
    return PQftype(rows, column) == BIGINT;
}

static int put_row(struct store_transfer *transfer, PGresult *rows, int row,
                   struct err *err)
{
    sqlite3_stmt *put = transfer->rows;
    sqlite3_reset(put);
    for (int at = 0; at < PQnfields(rows); at++) {
        if (PQgetisnull(rows, row, at)) {
            sqlite3_bind_null(put, at + 1);
        } else if (is_number(rows, at)) {
            db_column_bind_int(put, at + 1, pg_number(rows, row, at));
        } else {
            db_column_bind_text(put, at + 1, PQgetvalue(rows, row, at));
        }
    }
    return db_run(transfer->file, put, err);
}

static int take_rows(struct store_transfer *transfer, struct transfer_table *table,
                     int n_rows, struct err *err)
{
    PGresult *rows;
    int rc = 0;
    if (!transfer->is_open) {
        rc = open_cursor(transfer, table, err);
        transfer->rows = select_file(transfer, insert_sql(transfer, table, '?'));
    }
    rc = rc == 0 ? fetch(transfer, n_rows, &rows, err) : rc;
    if (rc < 0) {
        return rc;
    }
    int count = PQntuples(rows);
    for (int i = 0; i < count && rc == 0; i++) {
        rc = put_row(transfer, rows, i, err);
    }
    PQclear(rows);
    if (rc < 0 || count == n_rows) {
        return rc < 0 ? rc : 1;
    }
    sqlite3_finalize(transfer->rows);
    transfer->rows = NULL;
    return close_cursor(transfer, err);
}

static int end_taking(struct store_transfer *transfer, struct err *err)
{
    int rc = pg_run(transfer->pg, "COMMIT", err);
    transfer->is_begun = false;
    return rc == 0 ? db_commit(transfer->file, err) : rc;
}

/* ---------------------------------------------------------------- the copy */

int store_transfer_begin(const char *url, struct db *file, bool is_to_server,
                         struct store_transfer **transfer, struct err *err)
{
    struct store_transfer *begun = mem_alloc(1, sizeof(*begun));
    arena_init(&begun->arena);
    begun->file = file;
    begun->is_to_server = is_to_server;
    read_tables(begun);
    int rc = pg_open(url, &begun->pg, err);
    if (rc == 0 && is_to_server) {
        rc = check_empty(begun, err);
    }
    for (int i = 0; i < begun->n_tables && rc == 0 && is_to_server; i++) {
        struct transfer_table *table = &begun->tables[i];
        rc = pg_prepare(begun->pg, insert_sql(begun, table, '$'), table->n_columns,
                        &table->put, err);
    }
    if (rc == 0) {
        rc = pg_run(begun->pg,
                    is_to_server ? "BEGIN"
                                 : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                    err);
    }
    if (rc == 0 && !is_to_server) {
        rc = db_begin(file, err);
        begun->is_begun = rc == 0;
    }
    if (rc < 0) {
        store_transfer_free(begun);
        return rc;
    }
    *transfer = begun;
    return 0;
}

int store_transfer_step(struct store_transfer *transfer, int n_rows, struct err *err)
{
    if (transfer->at == transfer->n_tables) {
        return transfer->is_to_server ? end_sending(transfer, err)
                                      : end_taking(transfer, err);
    }
    struct transfer_table *table = &transfer->tables[transfer->at];
    int rc =
        (transfer->is_to_server ? send_rows : take_rows)(transfer, table, n_rows, err);
    if (rc < 0) {
        return err_prefix(err, "table %s", table->name);
    }
    transfer->at += rc == 0;
    return 1;
}

void store_transfer_free(struct store_transfer *transfer)
{
    if (transfer == NULL) {
        return;
    }
    sqlite3_finalize(transfer->rows);
    if (transfer->is_begun) {
        sqlite3_exec(db_handle(transfer->file), "ROLLBACK", NULL, NULL, NULL);
    }
    pg_close(transfer->pg);
    arena_release(&transfer->arena);
    free(transfer);
}

/* ---------------------------------------------------------------- the check */

static bool is_same_row(sqlite3_stmt *here, PGresult *there, int row)
{
    for (int at = 0; at < PQnfields(there); at++) {
        const char *a = (const char *)sqlite3_column_text(here, at);
        const char *b = PQgetisnull(there, row, at) ? NULL : PQgetvalue(there, row, at);
        if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0)) {
            return false;
        }
    }
    return true;
}

static int compare_rows(sqlite3_stmt *here, PGresult *there,
                        const struct transfer_table *table, int64_t *n_rows,
                        struct err *err)
{
    for (int row = 0; row < PQntuples(there); row++, ++*n_rows) {
        if (sqlite3_step(here) != SQLITE_ROW || !is_same_row(here, there, row)) {
            return err_set(err, ERR_STATE,
                           "table %s: the row with %s = \"%s\" differs, or only one "
                           "store has it",
                           table->name, PQfname(there, 0), PQgetvalue(there, row, 0));
        }
    }
    return 0;
}

static int check_table(struct store_transfer *transfer,
                       const struct transfer_table *table, int64_t *n_rows,
                       struct err *err)
{
    PGresult *there;
    int count = ROWS_PER_FETCH, rc = open_cursor(transfer, table, err);
    sqlite3_stmt *here = select_file(transfer, select_sql(transfer, table));
    while (rc == 0 && count == ROWS_PER_FETCH) {
        rc = fetch(transfer, ROWS_PER_FETCH, &there, err);
        if (rc == 0) {
            count = PQntuples(there);
            rc = compare_rows(here, there, table, n_rows, err);
            PQclear(there);
        }
    }
    if (rc == 0 && sqlite3_step(here) == SQLITE_ROW) {
        rc = err_set(err, ERR_STATE, "table %s: the file has more rows: \"%s\"",
                     table->name, db_column_text(here, 0));
    }
    sqlite3_finalize(here);
    return rc == 0 ? close_cursor(transfer, err) : rc;
}

int store_transfer_check(struct store_transfer *transfer, int64_t *n_rows,
                         struct err *err)
{
    int rc =
        pg_run(transfer->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    *n_rows = 0;
    for (int i = 0; i < transfer->n_tables && rc == 0; i++) {
        rc = check_table(transfer, &transfer->tables[i], n_rows, err);
    }
    return rc == 0 ? pg_run(transfer->pg, "COMMIT", err) : rc;
}

/* ---------------------------------------------------------------- a whole store */

static int copy_all(const char *url, struct db *file, bool is_to_server,
                    int64_t *n_rows, struct err *err)
{
    struct store_transfer *transfer;
    int rc = store_transfer_begin(url, file, is_to_server, &transfer, err);
    if (rc < 0) {
        return rc;
    }
    rc = check_idle(transfer, err);
    if (rc < 0) {
        store_transfer_free(transfer);
        return rc;
    }
    do {
        rc = store_transfer_step(transfer, ROWS_PER_FETCH, err);
    } while (rc > 0);
    if (rc == 0) {
        rc = store_transfer_check(transfer, n_rows, err);
    }
    store_transfer_free(transfer);
    return rc;
}

/* A file that is to be copied exists, and one to be copied to does not. */
static int check_paths(const char *from, const char *to, struct err *err)
{
    bool is_to_server = pg_is_url(to);
    const char *path = is_to_server ? from : to;
    if (pg_is_url(from) == is_to_server) {
        return err_set(err, ERR_PARSE,
                       "expected a file and a postgresql:// URL; copies between two of "
                       "the same kind are made with cp while the broker is stopped, or "
                       "with pg_dump");
    }
    if ((access(path, F_OK) == 0) != is_to_server) {
        return is_to_server ? err_set(err, ERR_NOT_FOUND, "\"%s\" does not exist", path)
                            : err_set(err, ERR_EXISTS, "\"%s\" exists already", path);
    }
    return 0;
}

int store_transfer_run(const char *from, const char *to, struct arena *arena,
                       const char **sentence, struct err *err)
{
    struct store *source = NULL, *target = NULL;
    int64_t n_rows = 0;
    int rc = check_paths(from, to, err);
    rc = rc == 0 ? store_open(from, false, &source, err) : rc;
    rc = rc == 0 ? store_open(to, false, &target, err) : rc;
    if (rc == 0) {
        bool is_to_server = pg_is_url(to);
        rc =
            copy_all(is_to_server ? to : from, store_db(is_to_server ? source : target),
                     is_to_server, &n_rows, err);
    }
    bool is_unfinished = rc < 0 && target != NULL && store_db(target) != NULL;
    store_close(source);
    store_close(target);
    if (is_unfinished) {
        unlink(to);
        unlink(arena_printf(arena, "%s-commit", to));
    }
    if (rc == 0) {
        *sentence = arena_printf(
            arena, "%" PRId64 " rows were copied and compared; all are equal", n_rows);
    }
    return rc;
}
