/* SPDX-License-Identifier: Apache-2.0 */
/* test_db_table.c: structs in tables by their schemas: what comes back, what is NULL,
 * and tables that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/record.h"
#include "model/row.h"
#include "sys/db/db.h"

enum { ID = 0x5375626c };

static char directory[64], path[128];

static int open_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_db_table.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/test.db", directory);
    return 0;
}

static int remove_directory(void **state)
{
    char command[160];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static struct db *open_db(const char *sql)
{
    const struct db_migration migrations[] = {{1, "001", sql}, {0, NULL, NULL}};
    struct db *db;
    struct err err;
    assert_int_equal(db_open(path, ID, migrations, false, &db, &err), 0);
    return db;
}

static const char book_sql[] =
    "CREATE TABLE book (lease TEXT PRIMARY KEY, policy TEXT NOT NULL, type TEXT,"
    " is_pool INTEGER NOT NULL, epoch INTEGER, is_made INTEGER NOT NULL) STRICT;"
    "CREATE TABLE part (lease TEXT REFERENCES book (lease) ON DELETE CASCADE,"
    " place INTEGER, host TEXT, n_slots INTEGER, mem_mib INTEGER,"
    " PRIMARY KEY (lease, place)) STRICT;";

static struct db_table *open_books(struct db *db)
{
    const struct db_table_def def = {.schema = schema_row_kinds[ROW_BOOK],
                                     .lists = {{"hosts", "part"}}};
    struct db_table *table;
    struct err err;
    assert_int_equal(db_table_open(db, &def, &table, &err), 0);
    return table;
}

static void put(struct db *db, struct db_table *table, const struct row_book *book)
{
    struct err err;
    assert_int_equal(db_begin(db, &err), 0);
    assert_int_equal(db_table_put(table, book, &err), 0);
    assert_int_equal(db_commit(db, &err), 0);
}

struct loaded {
    struct row_book *books[4];
    int n_books;
};

static void add(void *arg, const void *record)
{
    struct loaded *loaded = arg;
    assert_true(loaded->n_books < 4);
    loaded->books[loaded->n_books++] = record_dup(schema_row_kinds[ROW_BOOK], record);
}

static struct loaded load(struct db_table *table)
{
    struct loaded loaded = {0};
    struct err err;
    assert_int_equal(db_table_load(table, add, &loaded, &err), 0);
    return loaded;
}

static void release(struct loaded *loaded)
{
    for (int i = 0; i < loaded->n_books; i++) {
        free(loaded->books[i]);
    }
}

static int64_t count(struct db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    db_statement(db, &statement, sql);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void test_a_record_and_its_list_come_back(void **state)
{
    const struct host_split three[] = {
        {.host = "n1", .n_slots = 4, .spaces[SPACE_MEM] = {true, 0}},
        {.host = "n2", .n_slots = 2},
        {.host = "n3", .n_slots = 1}};
    const struct host_split two[] = {{.host = "n1", .n_slots = 4},
                                     {.host = "n4", .n_slots = 8}};
    struct row_book book = {.lease = "north/1/south",
                            .policy = "1",
                            .type = LEASE_POOL,
                            .epoch = 3,
                            .hosts = three,
                            .n_hosts = 3};
    struct db *db = open_db(book_sql);
    struct db_table *table = open_books(db);
    put(db, table, &book);
    struct loaded loaded = load(table);
    assert_int_equal(loaded.n_books, 1);
    assert_int_equal(loaded.books[0]->type, LEASE_POOL);
    assert_int_equal(loaded.books[0]->epoch, 3);
    assert_string_equal(loaded.books[0]->consumer, ""); /* it has no column */
    assert_true(record_is_same_list(&schema_lease_split, three, 3,
                                    loaded.books[0]->hosts, loaded.books[0]->n_hosts));
    release(&loaded);

    book.type = LEASE_SHARED;
    book.hosts = two;
    book.n_hosts = 2;
    put(db, table, &book);
    loaded = load(table);
    assert_int_equal(loaded.n_books, 1);
    assert_int_equal(loaded.books[0]->type, LEASE_SHARED);
    assert_true(record_is_same_list(&schema_lease_split, two, 2, loaded.books[0]->hosts,
                                    loaded.books[0]->n_hosts));
    release(&loaded);

    struct err err;
    assert_int_equal(db_table_delete(table, &book, &err), 0);
    assert_int_equal(count(db, "SELECT count(*) FROM part"), 0);
    db_table_close(table);
    db_close(db);
}

static void test_null_stands_for_nothing_where_it_may(void **state)
{
    const struct row_book book = {.lease = "a/1/b", .policy = ""};
    struct db *db = open_db(book_sql);
    struct db_table *table = open_books(db);
    put(db, table, &book);
    assert_int_equal(count(db, "SELECT count(*) FROM book WHERE epoch IS NULL"
                               " AND type IS NULL AND policy = '' AND is_made = 0"),
                     1);
    struct loaded loaded = load(table);
    assert_int_equal(loaded.books[0]->epoch, 0);
    assert_int_equal(loaded.books[0]->type, LEASE_EXCLUSIVE);
    release(&loaded);
    db_table_close(table);
    db_close(db);
}

static void test_rows_that_do_not_differ_are_not_written(void **state)
{
    const struct host_split hosts[] = {{.host = "n1", .n_slots = 4},
                                       {.host = "n2", .n_slots = 2}};
    struct row_book book = {
        .lease = "a/1/b", .policy = "1", .hosts = hosts, .n_hosts = 2};
    struct db *db = open_db(book_sql);
    struct db_table *table = open_books(db);
    put(db, table, &book);
    int before = sqlite3_total_changes(db_handle(db));
    put(db, table, &book);
    assert_int_equal(sqlite3_total_changes(db_handle(db)) - before, 1); /* the book */
    db_table_close(table);
    db_close(db);
}

static void check_refused(const char *sql, const char *expected)
{
    struct db *db = open_db(sql);
    const struct db_table_def def = {.schema = schema_row_kinds[ROW_HIGH]};
    struct db_table *table;
    struct err err;
    assert_int_equal(db_table_open(db, &def, &table, &err), ERR_STATE);
    assert_string_equal(err.text, expected);
    db_close(db);
}

static void test_a_column_without_a_field_is_refused(void **state)
{
    check_refused("CREATE TABLE high (consumer TEXT PRIMARY KEY, attempt INTEGER,"
                  " colour TEXT) STRICT;",
                  "table high: column colour has no field");
}

static void test_a_table_that_is_not_there_is_refused(void **state)
{
    check_refused("CREATE TABLE other (id INTEGER PRIMARY KEY) STRICT;",
                  "there is no table high");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_record_and_its_list_come_back,
                                        open_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_null_stands_for_nothing_where_it_may,
                                        open_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_rows_that_do_not_differ_are_not_written,
                                        open_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_column_without_a_field_is_refused,
                                        open_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_table_that_is_not_there_is_refused,
                                        open_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
