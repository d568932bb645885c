/* SPDX-License-Identifier: Apache-2.0 */
/* books_file.c: see books_file.h. */
#include "broker/io/store/books_file.h"

static const char append_sql[] = "INSERT INTO held_recent VALUES (?1, ?2, ?3, ?4, ?5)";

#define BYTES BOOKS_ENTRY_BYTES("lease")
#define COUNT_INTO_SIZE(rows)                                                          \
    "INSERT INTO held_size SELECT 1, coalesce(sum(" BYTES "), 0) FROM " rows           \
    " ON CONFLICT (one) DO UPDATE SET n_bytes = held_size.n_bytes + excluded.n_bytes"
#define MOVE_UNLESS_THERE                                                              \
    "INSERT INTO held SELECT * FROM held_recent WHERE true"                            \
    " ORDER BY lease, start_ms, rowid ON CONFLICT (lease, start_ms)"

static const char count_sql[] = COUNT_INTO_SIZE("held_recent WHERE true");
static const char move_sql[] = MOVE_UNLESS_THERE " DO NOTHING";

/* The last entry of a start replaces others; only new starts are counted. */
static const char count_new_sql[] =
    COUNT_INTO_SIZE("(SELECT DISTINCT lease, start_ms FROM held_recent) AS recent"
                    " WHERE NOT EXISTS (SELECT 1 FROM held"
                    " WHERE held.lease = recent.lease"
                    " AND held.start_ms = recent.start_ms)");
static const char replace_sql[] = MOVE_UNLESS_THERE
    " DO UPDATE SET epoch = excluded.epoch, provider = excluded.provider,"
    " consumer = excluded.consumer";

int books_file_append(struct books_file *file, const char *lease,
                      const int64_t numbers[4], struct err *err)
{
    sqlite3_stmt *append = db_statement(file->db, &file->append, append_sql);
    db_column_bind_text(append, 1, lease);
    for (int i = 0; i < 4; i++) {
        db_column_bind_int(append, i + 2, numbers[i]);
    }
    file->n_recent++;
    return db_run(file->db, append, err);
}

static int count_recent(struct books_file *file)
{
    sqlite3_stmt *any =
        db_statement(file->db, &file->any, "SELECT count(*) FROM held_recent");
    int n_recent = sqlite3_step(any) == SQLITE_ROW ? sqlite3_column_int(any, 0) : 0;
    sqlite3_reset(any);
    return n_recent;
}

static int run(struct books_file *file, sqlite3_stmt **slot, const char *sql,
               struct err *err)
{
    return db_run(file->db, db_statement(file->db, slot, sql), err);
}

/* Usually all starts are new, and need not be looked for twice. */
static int move_all(struct books_file *file, int n_recent, struct err *err)
{
    int rc = run(file, &file->save, "SAVEPOINT move", err);
    rc = rc == 0 ? run(file, &file->move, move_sql, err) : rc;
    if (rc == 0 && sqlite3_changes(db_handle(file->db)) == n_recent) {
        rc = run(file, &file->count, count_sql, err);
    } else if (rc == 0) {
        rc = run(file, &file->back, "ROLLBACK TO move", err);
        rc = rc == 0 ? run(file, &file->count_new, count_new_sql, err) : rc;
        rc = rc == 0 ? run(file, &file->replace, replace_sql, err) : rc;
    }
    rc = rc == 0 ? run(file, &file->clear, "DELETE FROM held_recent", err) : rc;
    return rc == 0 ? run(file, &file->release, "RELEASE move", err) : rc;
}

int books_file_move(struct books_file *file, struct err *err)
{
    int n_recent = count_recent(file);
    file->n_recent = 0;
    if (n_recent == 0) {
        return 0;
    }
    if (sqlite3_get_autocommit(db_handle(file->db)) == 0) {
        return move_all(file, n_recent, err);
    }
    int rc = db_begin(file->db, err);
    rc = rc == 0 ? move_all(file, n_recent, err) : rc;
    return rc == 0 ? db_commit(file->db, err) : rc;
}

int books_file_move_many(struct books_file *file, struct err *err)
{
    return file->n_recent < BOOKS_RECENT_MAX ? 0 : books_file_move(file, err);
}

int books_file_rest(struct books_file *file, struct err *err)
{
    bool is_at_rest = file->n_recent > 0 && file->n_recent == file->n_before;
    file->n_before = file->n_recent;
    return is_at_rest ? books_file_move(file, err) : 0;
}
