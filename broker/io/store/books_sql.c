/* SPDX-License-Identifier: Apache-2.0 */
/* books_sql.c: see books_sql.h. SQLite takes $1 as the name of a parameter. */
#include "broker/io/store/books_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/io/store/books_file.h"
#include "broker/io/store/store_parts.h"
#include "sys/pg/pg_batch.h"

static const struct {
    int n_params;
    const char *text;
} statements[BOOKS_STATEMENTS] = {
    [BOOKS_CARRY] = {5, "INSERT INTO held VALUES ($1, $2, $3, $4, $5)"
                        " ON CONFLICT (lease, start_ms) DO NOTHING"},
    [BOOKS_UNDO] = {2, "DELETE FROM held WHERE lease = $1 AND start_ms > $2"},
    [BOOKS_ENTRIES] = {4, "SELECT start_ms, epoch, provider, consumer FROM held"
                          " WHERE lease = $1 AND start_ms >= (SELECT"
                          " coalesce(max(start_ms), 0) FROM held"
                          " WHERE lease = $1 AND start_ms <= $2)"
                          " AND start_ms < $3 ORDER BY start_ms LIMIT $4"},
    [BOOKS_SUMS] = {3, "SELECT start_ms, provider_ms, consumer_ms FROM held_sum"
                       " WHERE lease = $1 AND start_ms >= $2 AND start_ms < $3"
                       " ORDER BY start_ms"},
    [BOOKS_CUT_ENTRIES] = {2, "DELETE FROM held WHERE lease = $1 AND start_ms < $2"},
    [BOOKS_ADD_SUM] = {5, "INSERT INTO held_sum VALUES ($1, $2, $3, $4, $5)"
                          " ON CONFLICT (lease, n_hours, start_ms) DO UPDATE SET"
                          " provider_ms = held_sum.provider_ms + excluded.provider_ms,"
                          " consumer_ms = held_sum.consumer_ms + excluded.consumer_ms"},
    [BOOKS_CUT_SUMS] = {4, "DELETE FROM held_sum WHERE lease = $1 AND n_hours = $2"
                           " AND start_ms >= $3 AND start_ms < $4"},
    [BOOKS_MERGE] = {3, "INSERT INTO held_sum SELECT lease, 24, CAST($2 AS BIGINT),"
                        " CAST(sum(provider_ms) AS BIGINT),"
                        " CAST(sum(consumer_ms) AS BIGINT) FROM held_sum"
                        " WHERE lease = $1 AND start_ms >= $2 AND start_ms < $3"
                        " GROUP BY lease"
                        " ON CONFLICT (lease, n_hours, start_ms) DO UPDATE SET"
                        " provider_ms = excluded.provider_ms,"
                        " consumer_ms = excluded.consumer_ms"},
    [BOOKS_RESIZE] =
        {4, "INSERT INTO held_size SELECT 1, CAST($4 AS BIGINT) * ("
            "(SELECT count(*) FROM held WHERE lease = $1"
            " AND start_ms >= $2 AND start_ms < $3) * " BOOKS_ENTRY_BYTES("$1") //
         " + (SELECT count(*) FROM held_sum WHERE lease = $1"
         " AND start_ms >= $2 AND start_ms < $3) * " BOOKS_SUM_BYTES("$1") //
         ") WHERE true ON CONFLICT (one) DO UPDATE SET"
         " n_bytes = held_size.n_bytes + excluded.n_bytes"},
    [BOOKS_SIZE] = {0, "SELECT n_bytes FROM held_size"},
    [BOOKS_LAST] = {0, "WITH RECURSIVE names (lease) AS (SELECT min(lease) FROM held"
                       " UNION ALL SELECT (SELECT min(held.lease) FROM held"
                       " WHERE held.lease > names.lease) FROM names"
                       " WHERE names.lease IS NOT NULL)"
                       " SELECT held.lease, start_ms, epoch, provider, consumer"
                       " FROM names JOIN held ON held.lease = names.lease"
                       " AND start_ms = (SELECT max(start_ms) FROM held AS other"
                       " WHERE other.lease = names.lease)"},
    [BOOKS_OLDEST] = {2, "SELECT lease, start_ms FROM held WHERE start_ms < $1"
                         " ORDER BY start_ms, lease LIMIT $2"},
    [BOOKS_OLDEST_SUMS] = {3, "SELECT lease, start_ms FROM held_sum"
                              " WHERE n_hours = $1 AND start_ms < $2"
                              " ORDER BY start_ms, lease LIMIT $3"},
    [BOOKS_FIRST] = {1, "SELECT coalesce(min(first), 0), coalesce(max(split), 0) FROM"
                        " (SELECT min(start_ms) AS first, min(start_ms) AS split"
                        " FROM held WHERE lease = $1 UNION ALL SELECT min(start_ms), 0"
                        " FROM held_sum WHERE lease = $1) AS firsts"},
};

/* A batch (pg_batch.h). A row that is new has no xmax. */
static const char open_on_server[] =
    "WITH opened AS (INSERT INTO held (lease, start_ms, epoch, provider, consumer)"
    " SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[],"
    " $5::bigint[]) ON CONFLICT (lease, start_ms) DO UPDATE SET epoch = excluded.epoch,"
    " provider = excluded.provider, consumer = excluded.consumer"
    " RETURNING lease, xmax = 0 AS is_new)"
    " INSERT INTO held_size SELECT 1, coalesce(sum(" BOOKS_ENTRY_BYTES("lease") //
    "), 0) FROM opened WHERE is_new ON CONFLICT (one) DO UPDATE SET"
    " n_bytes = held_size.n_bytes + excluded.n_bytes";

enum { OPEN_PARAMS = 5, OPEN_KEYS = 2 };

struct books_sql {
    struct db *db; /* NULL: it is a server */
    struct pg *pg;
    struct books_file file;
    sqlite3_stmt *of_file[BOOKS_STATEMENTS];
    struct pg_batch *opened;
    struct pg_statement *of_server[BOOKS_STATEMENTS];
};

int books_sql_new(struct store *store, struct books_sql **sql, struct err *err)
{
    struct books_sql *made = mem_alloc(1, sizeof(*made));
    int rc = 0;
    made->db = made->file.db = store->ops->db(store);
    made->pg = made->db == NULL ? store->ops->pg(store) : NULL;
    if (made->pg != NULL) {
        rc = pg_batch_open(made->pg, open_on_server, OPEN_PARAMS, OPEN_KEYS,
                           &made->opened, err);
    }
    for (int i = 0; i < BOOKS_STATEMENTS && made->pg != NULL && rc == 0; i++) {
        rc = pg_prepare(made->pg, statements[i].text, statements[i].n_params,
                        &made->of_server[i], err);
    }
    if (rc < 0) {
        books_sql_free(made);
        return rc;
    }
    *sql = made;
    return 0;
}

void books_sql_free(struct books_sql *sql)
{
    if (sql != NULL) {
        pg_batch_free(sql->opened);
    }
    free(sql);
}

/* ---------------------------------------------------------------- a file */

static void bind_params(sqlite3_stmt *bound, const struct books_param *params,
                        int n_params)
{
    for (int i = 0; i < n_params; i++) {
        char name[16];
        snprintf(name, sizeof(name), "$%d", i + 1);
        int at = sqlite3_bind_parameter_index(bound, name);
        if (params[i].text != NULL) {
            db_column_bind_text(bound, at, params[i].text);
        } else {
            db_column_bind_int(bound, at, params[i].number);
        }
    }
}

static sqlite3_stmt *bind_file(struct books_sql *sql, enum books_statement which,
                               const struct books_param *params)
{
    sqlite3_stmt *bound =
        db_statement(sql->db, &sql->of_file[which], statements[which].text);
    bind_params(bound, params, statements[which].n_params);
    return bound;
}

static int ask_file(struct books_sql *sql, enum books_statement which,
                    const struct books_param *params, books_row_fn *fn, void *arg,
                    struct err *err)
{
    if (books_file_move(&sql->file, err) < 0) {
        return err->code;
    }
    sqlite3_stmt *asked = bind_file(sql, which, params);
    int step;
    while ((step = sqlite3_step(asked)) == SQLITE_ROW) {
        int64_t numbers[BOOKS_COLUMNS_MAX];
        for (int i = 0; i < sqlite3_column_count(asked); i++) {
            numbers[i] = sqlite3_column_int64(asked, i);
        }
        fn(arg, db_column_text(asked, 0), numbers);
    }
    int rc = step == SQLITE_DONE ? 0 : db_column_fail(asked, "books", err);
    sqlite3_reset(asked);
    return rc;
}

/* ---------------------------------------------------------------- a server */

enum { NUMBER_SIZE = 24 };

static void show_params(const struct books_param *params, int n_params,
                        char numbers[][NUMBER_SIZE], const char **texts)
{
    for (int i = 0; i < n_params; i++) {
        snprintf(numbers[i], NUMBER_SIZE, "%lld", (long long)params[i].number);
        texts[i] = params[i].text != NULL ? params[i].text : numbers[i];
    }
}

static int ask_server(struct books_sql *sql, enum books_statement which,
                      const struct books_param *params, books_row_fn *fn, void *arg,
                      struct err *err)
{
    char shown[BOOKS_PARAMS_MAX][NUMBER_SIZE];
    const char *texts[BOOKS_PARAMS_MAX];
    PGresult *rows;
    show_params(params, statements[which].n_params, shown, texts);
    int rc = pg_ask(sql->pg, sql->of_server[which], texts, &rows, err);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t numbers[BOOKS_COLUMNS_MAX];
        for (int k = 0; k < PQnfields(rows); k++) {
            numbers[k] = strtoll(PQgetvalue(rows, i, k), NULL, 10);
        }
        fn(arg, PQgetvalue(rows, i, 0), numbers);
    }
    PQclear(rows);
    return 0;
}

/* ---------------------------------------------------------------- both */

int books_sql_run(struct books_sql *sql, enum books_statement which,
                  const struct books_param *params, struct err *err)
{
    if (sql->db != NULL) {
        int rc = books_file_move(&sql->file, err);
        return rc == 0 ? db_run(sql->db, bind_file(sql, which, params), err) : rc;
    }
    char numbers[BOOKS_PARAMS_MAX][NUMBER_SIZE];
    const char *texts[BOOKS_PARAMS_MAX];
    show_params(params, statements[which].n_params, numbers, texts);
    pg_send_rows(sql->pg); /* entries that this may be about */
    pg_send(sql->pg, sql->of_server[which], texts);
    return 0;
}

int books_sql_open(struct books_sql *sql, const struct books_param *params,
                   struct err *err)
{
    if (sql->db != NULL) {
        const int64_t numbers[] = {params[1].number, params[2].number, params[3].number,
                                   params[4].number};
        return books_file_append(&sql->file, params[0].text, numbers, err);
    }
    char numbers[OPEN_PARAMS][NUMBER_SIZE];
    const char *texts[OPEN_PARAMS];
    show_params(params, OPEN_PARAMS, numbers, texts);
    pg_batch_add(sql->opened, texts);
    return 0;
}

int books_sql_ask(struct books_sql *sql, enum books_statement which,
                  const struct books_param *params, books_row_fn *fn, void *arg,
                  struct err *err)
{
    return (sql->db != NULL ? ask_file : ask_server)(sql, which, params, fn, arg, err);
}

int books_sql_end(struct books_sql *sql, struct err *err)
{
    return sql->db != NULL ? books_file_move_many(&sql->file, err) : 0;
}

int books_sql_rest(struct books_sql *sql, struct err *err)
{
    return sql->db != NULL ? books_file_rest(&sql->file, err) : 0;
}
