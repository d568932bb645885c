/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_series.c: samples for charts: of every kind what was written comes back,
 * thinned to what a chart shows; old ones go; those of an older file are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/io/store/store.h"
#include "sys/db/db.h"
#include "sys/json.h"

#define BEGIN_MS INT64_C(1700000000000)
#define SECOND_MS INT64_C(1000)

struct fixture {
    char directory[64], path[96];
    struct store *store;
    struct arena arena;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-series-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/broker.db", fixture->directory);
    arena_init(&fixture->arena);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-journal", "-shm"};
    struct fixture *fixture = *state;
    store_close(fixture->store);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", fixture->path, suffixes[i]);
        unlink(path);
    }
    rmdir(fixture->directory);
    arena_release(&fixture->arena);
    free(fixture);
    return 0;
}

static void open_store(struct fixture *fixture)
{
    struct err err = {0};
    if (store_open(fixture->path, false, &fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void begin(struct fixture *fixture)
{
    struct err err = {0};
    if (store_begin(fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void commit(struct fixture *fixture)
{
    struct err err = {0};
    if (store_commit(fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void put(struct fixture *fixture, enum store_series_kind kind, const char *name,
                int64_t at_ms, const int64_t *numbers)
{
    struct err err = {0};
    if (store_series_put(fixture->store, kind, name, at_ms, numbers, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* NULL where there is no such series. */
static const struct value *read_rows(struct fixture *fixture,
                                     enum store_series_kind kind, const char *name,
                                     int64_t from_ms, int64_t to_ms)
{
    const struct store_series_ask ask = {kind, name, from_ms, to_ms};
    struct value *value = NULL;
    struct err err = {0};
    int rc = store_series_read(fixture->store, &ask, &fixture->arena, &value, &err);
    assert_true(rc == 0 || rc == ERR_NOT_FOUND);
    return rc == 0 ? value_find(value, "series") : NULL;
}

static void test_every_kind_comes_back(void **state)
{
    static const struct {
        enum store_series_kind kind;
        const char *name;
        int64_t numbers[STORE_SERIES_SITE_NUMBERS];
        const char *expected;
    } rows[] = {
        {STORE_SERIES_ALL,
         "",
         {1, 2, 3, 4, 5, 6, 2},
         "\"own\":1,\"used\":2,\"lent\":3,\"borrowed\":4,\"idle\":5,\"pending\":6,"
         "\"lent_used\":2"},
        {STORE_SERIES_SITE,
         "n",
         {6, 5, 4, 3, 2, 1, 0},
         "\"own\":6,\"used\":5,\"lent\":4,\"borrowed\":3,\"idle\":2,\"pending\":1,"
         "\"lent_used\":0"},
        {STORE_SERIES_LEASE,
         "n/1/s",
         {4, 3, 2, 1, 0, 0},
         "\"provider\":{\"available\":4,\"used\":3},"
         "\"consumer\":{\"available\":2,\"used\":1}"},
        {STORE_SERIES_POOL,
         "p",
         {8, 1, 7, 2, 9, 0},
         "\"slots\":8,\"idle\":1,\"alloc\":7,\"recalled\":2,\"demand\":9"},
        {STORE_SERIES_NODE,
         "p/eng/sim",
         {3, 5, 2, 11, 0, 0},
         "\"quota\":3,\"alloc\":5,\"recalled\":2,\"demand\":11"},
    };
    struct fixture *fixture = *state;
    open_store(fixture);
    begin(fixture);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put(fixture, rows[i].kind, rows[i].name, BEGIN_MS, rows[i].numbers);
    }
    commit(fixture);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = json_render(
            read_rows(fixture, rows[i].kind, rows[i].name, BEGIN_MS, BEGIN_MS));
        char expected[200];
        snprintf(expected, sizeof(expected),
                 "[{\"at\":\"2023-11-14T22:13:20.000Z\",%s}]", rows[i].expected);
        assert_string_equal(text, expected);
        free(text);
    }
    assert_null(read_rows(fixture, STORE_SERIES_POOL, "p/eng/sim", 0, BEGIN_MS));
    assert_null(read_rows(fixture, STORE_SERIES_NODE, "p", 0, BEGIN_MS));
    assert_int_equal(
        read_rows(fixture, STORE_SERIES_NODE, "p/eng/sim", BEGIN_MS + 1, BEGIN_MS + 2)
            ->count,
        0);
}

/* The quota is the number of its second, so that a row says which sample it is. */
static void test_an_answer_is_thinned(void **state)
{
    enum { N_SECONDS = 5 * STORE_SERIES_POINTS_MAX };
    struct fixture *fixture = *state;
    open_store(fixture);
    begin(fixture);
    for (int64_t i = 0; i < N_SECONDS; i++) {
        const int64_t numbers[STORE_SERIES_NODE_NUMBERS] = {i, 0, 0, 0};
        put(fixture, STORE_SERIES_NODE, "p/a", BEGIN_MS + i * SECOND_MS, numbers);
    }
    commit(fixture);
    const struct value *rows = read_rows(fixture, STORE_SERIES_NODE, "p/a", BEGIN_MS,
                                         BEGIN_MS + N_SECONDS * SECOND_MS);
    assert_in_range(rows->count, STORE_SERIES_POINTS_MAX / 2,
                    STORE_SERIES_POINTS_MAX + 1);
    int64_t last = -1;
    for (const struct value *row = rows->first; row != NULL; row = row->next) {
        int64_t quota = value_find(row, "quota")->number;
        assert_true(quota > last && quota - last <= 6);
        last = quota;
    }
    assert_int_equal(last, N_SECONDS - 1);
}

static void test_old_samples_go(void **state)
{
    static const int64_t numbers[STORE_SERIES_POOL_NUMBERS] = {8, 8, 0, 0, 0};
    int64_t later_ms = BEGIN_MS + STORE_SERIES_KEEP_MS + SECOND_MS;
    struct fixture *fixture = *state;
    struct err err = {0};
    open_store(fixture);
    begin(fixture);
    put(fixture, STORE_SERIES_POOL, "stays", BEGIN_MS, numbers);
    put(fixture, STORE_SERIES_POOL, "gone", BEGIN_MS, numbers);
    put(fixture, STORE_SERIES_POOL, "stays", later_ms, numbers);
    assert_int_equal(store_series_forget(fixture->store, later_ms, &err), 0);
    commit(fixture);
    assert_int_equal(read_rows(fixture, STORE_SERIES_POOL, "stays", 0, later_ms)->count,
                     1);
    assert_null(read_rows(fixture, STORE_SERIES_POOL, "gone", 0, later_ms));
}

static int count_rows(struct fixture *fixture, const char *kind, const char *where,
                      int64_t at_ms)
{
    sqlite3 *db;
    sqlite3_stmt *count;
    char sql[256];
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM sample, series WHERE series = id AND kind = '%s'"
             " AND at_ms %s %lld",
             kind, where, (long long)at_ms);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &count, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(count), SQLITE_ROW);
    int n_rows = sqlite3_column_int(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(db);
    return n_rows;
}

/* A sample a minute for eight days. All of the last 25 hours stay, and of those before,
 * for a week and an hour, the first of each ten minutes; of nodes none of those. */
static void test_a_week_is_coarse(void **state)
{
    enum { N_MINUTES = 8 * 24 * 60 };
    static const int64_t numbers[STORE_SERIES_POOL_NUMBERS] = {8, 8, 0, 0, 0};
    const int64_t minute_ms = 60 * SECOND_MS, part_ms = 10 * minute_ms;
    int64_t last_ms = BEGIN_MS + (N_MINUTES - 1) * minute_ms;
    int64_t fine_ms = last_ms - 25 * 60 * minute_ms;
    int64_t first_ms = last_ms - (7 * 24 + 1) * 60 * minute_ms;
    struct fixture *fixture = *state;
    int n_coarse = 0;
    open_store(fixture);
    begin(fixture);
    for (int64_t at_ms = BEGIN_MS; at_ms <= last_ms; at_ms += minute_ms) {
        put(fixture, STORE_SERIES_POOL, "p", at_ms, numbers);
        put(fixture, STORE_SERIES_NODE, "p/a", at_ms, numbers);
        n_coarse += at_ms >= first_ms && at_ms < fine_ms &&
                    at_ms / part_ms != (at_ms - minute_ms) / part_ms;
    }
    commit(fixture);
    store_close(fixture->store); /* it locks its file */
    assert_int_equal(n_coarse, 6 * 24 * 6);
    assert_int_equal(count_rows(fixture, "pool", ">=", fine_ms), 25 * 60 + 1);
    assert_int_equal(count_rows(fixture, "pool", "<", fine_ms), n_coarse);
    assert_int_equal(count_rows(fixture, "node", ">=", fine_ms), 25 * 60 + 1);
    assert_int_equal(count_rows(fixture, "node", "<", fine_ms), 0);
    open_store(fixture);
}

/* ---------------------------------------------------------------- an older file */

extern const struct db_migration broker_migrations[];

enum { BEFORE_POOLS = 8 };

static void run(sqlite3 *db, const char *sql)
{
    char *words = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK) {
        fail_msg("%s", words);
    }
}

static void test_samples_of_an_older_file_are_kept(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db;
    char pragmas[96];
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    for (int i = 0; broker_migrations[i].sql != NULL &&
                    broker_migrations[i].number <= BEFORE_POOLS;
         i++) {
        run(db, broker_migrations[i].sql);
    }
    run(db,
        "INSERT INTO series VALUES (7, 'site', 'n', 1700000000000);"
        "INSERT INTO sample (series, at_ms, own, used, lent, borrowed, idle, pending)"
        " VALUES (7, 1700000000000, 8, 1, 2, 3, 4, 5)");
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA user_version = %d; PRAGMA application_id = %d", BEFORE_POOLS,
             0x53624c42);
    run(db, pragmas);
    sqlite3_close(db);
    open_store(fixture);
    const struct value *rows =
        read_rows(fixture, STORE_SERIES_SITE, "n", 0, BEGIN_MS + 1);
    assert_int_equal(rows->count, 1);
    assert_int_equal(value_find(rows->first, "pending")->number, 5);
    assert_int_equal(value_find(rows->first, "lent_used")->kind, VALUE_NULL);
    /* And it takes what it did not know. */
    static const int64_t numbers[STORE_SERIES_NODE_NUMBERS] = {1, 2, 3, 4};
    begin(fixture);
    put(fixture, STORE_SERIES_NODE, "p/a", BEGIN_MS, numbers);
    commit(fixture);
    assert_int_equal(read_rows(fixture, STORE_SERIES_NODE, "p/a", 0, BEGIN_MS)->count,
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_every_kind_comes_back),
        TEST(test_an_answer_is_thinned),
        TEST(test_old_samples_go),
        TEST(test_a_week_is_coarse),
        TEST(test_samples_of_an_older_file_are_kept),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
