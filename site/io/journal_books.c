/* SPDX-License-Identifier: Apache-2.0 */
/* journal_books.c: see journal_books.h. */
#include "site/io/journal_books.h"

#include <stdlib.h>

#include "site/io/journal_fields.h"

static const char put_sql[] =
    "INSERT INTO book (lease, policy, consumer, content, type, epoch, is_made,"
    " is_withdrawn, is_ended, is_drained, drain, is_pool, recall, is_whole)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
    " ON CONFLICT (lease) DO UPDATE SET (policy, consumer, content, type, epoch,"
    " is_made, is_withdrawn, is_ended, is_drained, drain, is_pool, recall, is_whole)"
    " = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

static const char put_host_sql[] =
    "INSERT INTO book_host (lease, place, host, n_slots, provider, consumer, mem_mib,"
    " swp_mib) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    " ON CONFLICT (lease, place) DO UPDATE SET (host, n_slots, provider, consumer,"
    " mem_mib, swp_mib) = (?3, ?4, ?5, ?6, ?7, ?8)"
    " WHERE (host, n_slots, provider, consumer, mem_mib, swp_mib)"
    " IS NOT (?3, ?4, ?5, ?6, ?7, ?8)";

static const char cut_hosts_sql[] =
    "DELETE FROM book_host WHERE lease = ?1 AND place >= ?2";

static const char cut_sql[] = "DELETE FROM book WHERE lease = ?1";

static const char all_sql[] =
    "SELECT lease, policy, consumer, content, type, epoch, is_made, is_withdrawn,"
    " is_ended, is_drained, drain, is_pool, recall, is_whole FROM book ORDER BY lease";

static const char hosts_sql[] =
    "SELECT host, n_slots, provider, consumer, mem_mib, swp_mib FROM book_host"
    " WHERE lease = ?1 ORDER BY place";

static const struct exported_table_sql exported_sql =
    EXPORTED_TABLE_SQL("book_resource");

static const char put_recall_sql[] =
    "INSERT INTO book_recall (lease, place, n_held, deadline_ms)"
    " VALUES (?1, ?2, ?3, ?4)";

static const char cut_recalls_sql[] = "DELETE FROM book_recall WHERE lease = ?1";

static const char recalls_sql[] =
    "SELECT n_held, deadline_ms FROM book_recall WHERE lease = ?1 ORDER BY place";

/* Of a pool's contract is_pool says it: an older schema knew two words. */
static const char *const type_words[] = {
    [LEASE_EXCLUSIVE] = "exclusive",
    [LEASE_SHARED] = "shared",
};
enum { N_TYPE_WORDS = sizeof(type_words) / sizeof(type_words[0]) };

static int put_book(struct journal_books *books, struct db *db,
                    const struct row_book *book, struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &books->put, put_sql);
    int at = 0;
    journal_fields_bind_text(put, ++at, book->lease);
    journal_fields_bind_text(put, ++at, book->policy);
    journal_fields_bind_text(put, ++at, book->consumer);
    journal_fields_bind_text(put, ++at, book->content);
    bool is_pool = book->type == LEASE_POOL;
    journal_fields_bind_text(put, ++at,
                             type_words[is_pool ? LEASE_EXCLUSIVE : book->type]);
    journal_fields_bind_int(put, ++at, (int64_t)book->epoch);
    journal_fields_bind_int(put, ++at, book->is_made);
    journal_fields_bind_int(put, ++at, book->is_withdrawn);
    journal_fields_bind_int(put, ++at, book->is_ended);
    journal_fields_bind_int(put, ++at, book->is_drained);
    journal_fields_bind_int(put, ++at, (int64_t)book->drain);
    journal_fields_bind_int(put, ++at, is_pool);
    journal_fields_bind_int(put, ++at, (int64_t)book->recall);
    journal_fields_bind_int(put, ++at, book->is_whole);
    return db_run(db, put, err);
}

/* There are a few, of a few contracts: written anew with each change. */
static int put_recalls(struct journal_books *books, struct db *db,
                       const struct row_book *book, struct err *err)
{
    if (book->recall == 0) {
        return 0;
    }
    sqlite3_stmt *cut = db_statement(db, &books->cut_recalls, cut_recalls_sql);
    journal_fields_bind_text(cut, 1, book->lease);
    int rc = db_run(db, cut, err);
    for (int i = 0; i < book->n_recalls && rc == 0; i++) {
        sqlite3_stmt *put = db_statement(db, &books->put_recall, put_recall_sql);
        journal_fields_bind_text(put, 1, book->lease);
        journal_fields_bind_int(put, 2, i);
        journal_fields_bind_int(put, 3, book->recalls[i].n_held);
        journal_fields_bind_int(put, 4, book->recalls[i].deadline_ms);
        rc = db_run(db, put, err);
    }
    return rc;
}

static int put_host(struct journal_books *books, struct db *db, const char *lease,
                    int place, const struct host_split *host, struct err *err)
{
    sqlite3_stmt *put = db_statement(db, &books->put_host, put_host_sql);
    int at = 0;
    journal_fields_bind_text(put, ++at, lease);
    journal_fields_bind_int(put, ++at, place);
    journal_fields_bind_text(put, ++at, host->host);
    journal_fields_bind_int(put, ++at, host->n_slots);
    journal_fields_bind_int(put, ++at, host->provider);
    journal_fields_bind_int(put, ++at, host->consumer);
    for (int i = 0; i < SPACES; i++) {
        exported_table_bind_space(put, ++at, &host->spaces[i]);
    }
    return db_run(db, put, err);
}

static int cut_hosts(struct journal_books *books, struct db *db, const char *lease,
                     int n_hosts, struct err *err)
{
    sqlite3_stmt *cut = db_statement(db, &books->cut_hosts, cut_hosts_sql);
    journal_fields_bind_text(cut, 1, lease);
    journal_fields_bind_int(cut, 2, n_hosts);
    return db_run(db, cut, err);
}

static int cut_book(struct journal_books *books, struct db *db, const char *lease,
                    struct err *err)
{
    sqlite3_stmt *cut = db_statement(db, &books->cut, cut_sql);
    journal_fields_bind_text(cut, 1, lease);
    return db_run(db, cut, err);
}

int journal_books_put(struct journal_books *books, struct db *db,
                      const struct row_book *book, struct err *err)
{
    if (book->is_gone) {
        int gone_rc = cut_book(books, db, book->lease, err);
        return gone_rc < 0 ? err_prefix(err, "book \"%s\"", book->lease) : 0;
    }
    int rc = put_book(books, db, book, err);
    for (int i = 0; i < book->n_hosts && rc == 0; i++) {
        rc = put_host(books, db, book->lease, i, &book->hosts[i], err);
    }
    if (rc == 0) {
        rc = cut_hosts(books, db, book->lease, book->n_hosts, err);
    }
    if (rc == 0) {
        rc = put_recalls(books, db, book, err);
    }
    if (rc == 0) {
        rc = exported_table_put(&books->exported, &exported_sql, db, book->lease,
                                book->resources, book->n_resources, err);
    }
    return rc < 0 ? err_prefix(err, "book \"%s\"", book->lease) : 0;
}

static int read_book(sqlite3_stmt *all, struct row_book *book, struct err *err)
{
    int type;
    if (journal_fields_read_word(all, 4, type_words, N_TYPE_WORDS, &type, err) < 0) {
        return err->code;
    }
    *book = (struct row_book){
        .lease = journal_fields_text(all, 0),
        .policy = journal_fields_text(all, 1),
        .consumer = journal_fields_text(all, 2),
        .content = journal_fields_text(all, 3),
        .type = sqlite3_column_int(all, 11) != 0 ? LEASE_POOL : (enum lease_type)type,
        .epoch = (uint64_t)sqlite3_column_int64(all, 5),
        .is_made = sqlite3_column_int(all, 6) != 0,
        .is_withdrawn = sqlite3_column_int(all, 7) != 0,
        .is_ended = sqlite3_column_int(all, 8) != 0,
        .is_drained = sqlite3_column_int(all, 9) != 0,
        .drain = (uint64_t)sqlite3_column_int64(all, 10),
        .recall = (uint64_t)sqlite3_column_int64(all, 12),
        .is_whole = sqlite3_column_int(all, 13) != 0,
    };
    return 0;
}

static int read_hosts(struct journal_books *books, struct db *db, struct arena *arena,
                      struct row_book *book, struct err *err)
{
    sqlite3_stmt *hosts = db_statement(db, &books->hosts, hosts_sql);
    struct host_split *splits = NULL;
    int n_splits = 0, capacity = 0, rc;
    journal_fields_bind_text(hosts, 1, book->lease);
    while ((rc = sqlite3_step(hosts)) == SQLITE_ROW) {
        if (n_splits == capacity) {
            capacity = capacity == 0 ? 16 : capacity * 2;
            splits = mem_grow(splits, (size_t)capacity, sizeof(*splits));
        }
        splits[n_splits++] = (struct host_split){
            .host = arena_str(arena, journal_fields_text(hosts, 0)),
            .n_slots = sqlite3_column_int(hosts, 1),
            .provider = sqlite3_column_int(hosts, 2),
            .consumer = sqlite3_column_int(hosts, 3),
            .spaces = {exported_table_space(hosts, 4), exported_table_space(hosts, 5)},
        };
    }
    rc = rc == SQLITE_DONE ? 0 : journal_fields_fail(hosts, "hosts of books", err);
    sqlite3_reset(hosts);
    if (n_splits > 0) {
        book->hosts = arena_copy(arena, splits, (size_t)n_splits * sizeof(*splits));
    }
    book->n_hosts = n_splits;
    free(splits);
    return rc;
}

static int read_recalls(struct journal_books *books, struct db *db, struct arena *arena,
                        struct row_book *book, struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &books->recalls, recalls_sql);
    struct row_recall *recalls = arena_alloc(arena, RECALLS_MAX, sizeof(*recalls));
    int step = SQLITE_DONE;
    journal_fields_bind_text(all, 1, book->lease);
    while (book->n_recalls < RECALLS_MAX && (step = sqlite3_step(all)) == SQLITE_ROW) {
        recalls[book->n_recalls++] = (struct row_recall){sqlite3_column_int(all, 0),
                                                         sqlite3_column_int64(all, 1)};
    }
    int rc = step == SQLITE_DONE || step == SQLITE_ROW
                 ? 0
                 : journal_fields_fail(all, "recalls of books", err);
    sqlite3_reset(all);
    book->recalls = recalls;
    return rc;
}

int journal_books_load(struct journal_books *books, struct db *db, journal_row_fn fn,
                       void *arg, struct err *err)
{
    sqlite3_stmt *all = db_statement(db, &books->all, all_sql);
    struct arena arena;
    arena_init(&arena);
    int step, rc = 0;
    while (rc == 0 && (step = sqlite3_step(all)) != SQLITE_DONE) {
        struct row row = {.kind = ROW_BOOK};
        arena_clear(&arena);
        rc = step == SQLITE_ROW ? read_book(all, &row.book, err)
                                : journal_fields_fail(all, "books", err);
        if (rc == 0) {
            rc = read_hosts(books, db, &arena, &row.book, err);
        }
        if (rc == 0 && row.book.recall != 0) {
            rc = read_recalls(books, db, &arena, &row.book, err);
        }
        if (rc == 0) {
            rc = exported_table_load(&books->exported, &exported_sql, db,
                                     row.book.lease, &arena, &row.book.resources,
                                     &row.book.n_resources, err);
        }
        if (rc == 0) {
            fn(arg, &row);
        }
    }
    sqlite3_reset(all);
    arena_release(&arena);
    return rc;
}
