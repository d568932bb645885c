/* SPDX-License-Identifier: Apache-2.0 */
/* journal_shares.c: see journal_shares.h. */
#include "site/io/journal_shares.h"

#include "site/io/journal_fields.h"

static const char put_sql[] =
    "INSERT INTO share (scope, account, cpu_ms, past_ms, at_ms, ahead_ms, is_waiting)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
    " ON CONFLICT (scope, account) DO UPDATE SET"
    " (cpu_ms, past_ms, at_ms, ahead_ms, is_waiting) = (?3, ?4, ?5, ?6, ?7)";
static const char cut_sql[] = "DELETE FROM share WHERE scope = ?1 AND account = ?2";
static const char all_sql[] =
    "SELECT scope, account, cpu_ms, past_ms, at_ms, ahead_ms, is_waiting FROM share"
    " ORDER BY scope, account";

int journal_shares_put(struct journal_shares *shares, struct db *db,
                       const struct row_share *share, struct err *err)
{
    sqlite3_stmt *put = share->is_gone ? db_statement(db, &shares->cut, cut_sql)
                                       : db_statement(db, &shares->put, put_sql);
    journal_fields_bind_text(put, 1, share->scope);
    journal_fields_bind_text(put, 2, share->account);
    if (!share->is_gone) {
        sqlite3_bind_double(put, 3, share->cpu_ms);
        sqlite3_bind_double(put, 4, share->past_ms);
        journal_fields_bind_int(put, 5, share->at_ms);
        sqlite3_bind_double(put, 6, share->ahead_ms);
        journal_fields_bind_int(put, 7, share->is_waiting);
    }
    return db_run(db, put, err) < 0 ? err_prefix(err, "share of \"%s\"", share->account)
                                    : 0;
}

int journal_shares_load(struct journal_shares *shares, struct db *db, journal_row_fn fn,
                        void *arg, struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &shares->all, all_sql);
    int rc;
    while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
        struct row row = {.kind = ROW_SHARE};
        row.share.scope = journal_fields_text(all, 0);
        row.share.account = journal_fields_text(all, 1);
        row.share.cpu_ms = sqlite3_column_double(all, 2);
        row.share.past_ms = sqlite3_column_double(all, 3);
        row.share.at_ms = sqlite3_column_int64(all, 4);
        row.share.ahead_ms = sqlite3_column_double(all, 5);
        row.share.is_waiting = sqlite3_column_int64(all, 6) != 0;
        fn(arg, &row);
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(all, "shares", err);
    sqlite3_reset(all);
    return rc;
}
