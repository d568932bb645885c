/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_books.c: the broker's books of held slots, in a file and in a database:
 * random contracts are booked as a model that adds up minutes books them, however often
 * the store is opened anew, and after splits have become hours; what is not committed
 * is not booked; wrong clocks; age and size; a copy of the store has the books.
 * The part with PostgreSQL skips without Debian's package postgresql. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "broker/io/store/books.h"
#include "broker/io/store/books_file.h"
#include "broker/io/store/store_transfer.h"
#include "sys/db/db.h"
#include "tests/io/postgres_fixture.h"

#define MINUTE_MS INT64_C(60000)
#define BEGIN_MS (INT64_C(19700) * USAGE_DAY_MS) /* a midnight */
#define BIG (INT64_C(1) << 40)

enum { LEASES = 4, DAYS = 45, MINUTES = DAYS * 24 * 60 };

static struct postgres_fixture server;

struct fixture {
    char directory[64], path[96];
    const char *place; /* the path, or the URL */
    struct store *store;
    struct books *books;
};

static void must(int rc, const struct err *err)
{
    if (rc < 0) {
        fail_msg("%s", err->text);
    }
}

static void open_books(struct fixture *fixture, int64_t n_bytes_max)
{
    struct err err = {0};
    books_free(fixture->books);
    store_close(fixture->store);
    fixture->books = NULL;
    fixture->store = NULL;
    must(store_open(fixture->place, false, &fixture->store, &err), &err);
    must(books_new(fixture->store, n_bytes_max, &fixture->books, &err), &err);
}

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-books-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/broker.db", fixture->directory);
    fixture->place = fixture->path;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    books_free(fixture->books);
    store_close(fixture->store);
    snprintf(command, sizeof(command), "rm -r %s", fixture->directory);
    assert_int_equal(system(command), 0);
    free(fixture);
    return 0;
}

/* ---------------------------------------------------------------- contracts */

static const char *name_of(int lease)
{
    static const char *const names[LEASES] = {"north/0/south", "north/1/east", "p:a/b",
                                              "west/0/south"};
    return names[lease];
}

static void write_split(struct fixture *fixture, int lease, int n_provider,
                        int n_consumer, int64_t now_ms)
{
    struct err err = {0};
    const struct host_split hosts[] = {
        {.host = "n1", .provider = n_provider, .consumer = n_consumer}};
    const struct row_lease row = {
        .id = name_of(lease),
        .state = n_provider + n_consumer > 0 ? LEASE_ACTIVE : LEASE_ENDED,
        .changed_ms = now_ms,
        .hosts = hosts,
        .n_hosts = 1,
    };
    must(books_write(fixture->books, &row, now_ms, &err), &err);
}

/* With its epoch, and when the provider's journal got it. */
static void commit_told(struct fixture *fixture, int lease, int n_provider,
                        int n_consumer, uint64_t epoch, int64_t split_ms,
                        int64_t now_ms)
{
    struct err err = {0};
    const struct host_split hosts[] = {
        {.host = "n1", .provider = n_provider, .consumer = n_consumer}};
    const struct row_lease row = {.id = name_of(lease),
                                  .state = LEASE_ACTIVE,
                                  .epoch = epoch,
                                  .split_ms = split_ms,
                                  .changed_ms = now_ms,
                                  .hosts = hosts,
                                  .n_hosts = 1};
    must(store_begin(fixture->store, &err), &err);
    books_begin(fixture->books);
    must(books_write(fixture->books, &row, now_ms, &err), &err);
    must(books_end(fixture->books, &err), &err);
    must(store_commit(fixture->store, &err), &err);
    books_committed(fixture->books);
}

static void commit_split(struct fixture *fixture, int lease, int n_provider,
                         int n_consumer, int64_t now_ms)
{
    struct err err = {0};
    must(store_begin(fixture->store, &err), &err);
    books_begin(fixture->books);
    write_split(fixture, lease, n_provider, n_consumer, now_ms);
    must(books_end(fixture->books, &err), &err);
    must(store_commit(fixture->store, &err), &err);
    books_committed(fixture->books);
}

static void maintain(struct fixture *fixture, int64_t now_ms)
{
    struct err err = {0};
    int rc;
    while ((rc = books_trim(fixture->books, now_ms, &err)) > 0) {
    }
    must(rc, &err);
}

struct sum {
    int64_t held_ms[USAGE_SIDES];
    int64_t start_ms; /* -1: of all hours */
    int n_rows;
};

static void add(void *arg, const struct usage_row *row)
{
    struct sum *sum = arg;
    sum->n_rows++;
    assert_int_equal(row->held_ms, row->idle_ms);
    if (sum->start_ms < 0 || row->start_ms == sum->start_ms) {
        sum->held_ms[row->side] += row->held_ms;
    }
}

static struct sum read_sum(struct fixture *fixture, int lease, int64_t from_ms,
                           int64_t to_ms, int64_t start_ms)
{
    struct sum sum = {.start_ms = start_ms};
    struct err err = {0};
    must(books_read(fixture->books, name_of(lease), from_ms, to_ms, add, &sum, &err),
         &err);
    return sum;
}

static void check_sum(struct fixture *fixture, int lease, int64_t to_ms,
                      int64_t provider_ms, int64_t consumer_ms)
{
    struct sum sum = read_sum(fixture, lease, BEGIN_MS, to_ms, -1);
    assert_int_equal(sum.held_ms[USAGE_PROVIDER], provider_ms);
    assert_int_equal(sum.held_ms[USAGE_CONSUMER], consumer_ms);
}

/* ---------------------------------------------------------------- the model */

static int model[LEASES][USAGE_SIDES][MINUTES]; /* slots in each minute */

static void check_model(struct fixture *fixture, int minute)
{
    int64_t now_ms = BEGIN_MS + minute * MINUTE_MS;
    for (int lease = 0; lease < LEASES; lease++) {
        for (int hour = 0; hour * 60 < minute; hour++) {
            struct sum expected = {0};
            for (int at = hour * 60; at < hour * 60 + 60 && at < minute; at++) {
                expected.held_ms[0] += model[lease][0][at] * MINUTE_MS;
                expected.held_ms[1] += model[lease][1][at] * MINUTE_MS;
            }
            int64_t start_ms = BEGIN_MS + hour * USAGE_HOUR_MS;
            int64_t end_ms =
                start_ms + USAGE_HOUR_MS < now_ms ? start_ms + USAGE_HOUR_MS : now_ms;
            struct sum sum = read_sum(fixture, lease, start_ms, end_ms, start_ms);
            for (int side = 0; side < USAGE_SIDES; side++) {
                if (sum.held_ms[side] != expected.held_ms[side]) {
                    fail_msg("%s %s hour %d at minute %d: %lld, expected %lld",
                             name_of(lease), usage_side_name((enum usage_side)side),
                             hour, minute, (long long)sum.held_ms[side],
                             (long long)expected.held_ms[side]);
                }
            }
        }
    }
}

static void play(struct fixture *fixture, uint64_t seed)
{
    struct rng rng;
    int now[LEASES][USAGE_SIDES] = {0};
    rng_init(&rng, seed);
    open_books(fixture, BIG);
    for (int minute = 0; minute < MINUTES; minute++) {
        int64_t now_ms = BEGIN_MS + minute * MINUTE_MS;
        int lease = (int)rng_below(&rng, LEASES);
        if (rng_percent(&rng, 2)) {
            bool is_ended = rng_percent(&rng, 20);
            now[lease][0] = is_ended ? 0 : (int)rng_below(&rng, 9);
            now[lease][1] = is_ended ? 0 : 8 - now[lease][0];
            commit_split(fixture, lease, now[lease][USAGE_PROVIDER],
                         now[lease][USAGE_CONSUMER], now_ms);
        }
        for (int i = 0; i < LEASES; i++) {
            model[i][0][minute] = now[i][0];
            model[i][1][minute] = now[i][1];
        }
        if (minute % (24 * 60) == 700 && rng_percent(&rng, 40)) {
            open_books(fixture, BIG);
        }
        if (minute % (24 * 60) == 900 && rng_percent(&rng, 60)) {
            maintain(fixture, now_ms);
        }
    }
    check_model(fixture, MINUTES - 7);
    maintain(fixture, BEGIN_MS + MINUTES * MINUTE_MS);
    open_books(fixture, BIG);
    check_model(fixture, MINUTES);
}

static int64_t number_of(sqlite3 *file, const char *sql)
{
    sqlite3_stmt *asked = NULL;
    assert_int_equal(sqlite3_prepare_v2(file, sql, -1, &asked, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(asked), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(asked, 0);
    sqlite3_finalize(asked);
    return number;
}

/* LEDGER_SIZE is compared with a count that each change carries on. */
static void check_size(const struct fixture *fixture)
{
    sqlite3 *file = db_handle(store_db(fixture->store));
    assert_int_equal(number_of(file, "SELECT n_bytes FROM held_size"),
                     number_of(file, "SELECT coalesce(sum(n), 0) FROM (SELECT 42 +"
                                     " length(lease) * 9 / 4 AS n FROM held UNION ALL"
                                     " SELECT 48 + length(lease) * 9 / 4 FROM held_sum"
                                     ")"));
    assert_true(number_of(file, "SELECT count(*) FROM held") > 0);
}

static void test_books_are_those_of_a_model(void **state)
{
    play(*state, 1);
    check_size(*state);
}

static void test_books_of_a_database_are_the_same(void **state)
{
    struct fixture *fixture = *state;
    if (!server.is_there) {
        skip();
    }
    postgres_fixture_clear(&server);
    fixture->place = server.url;
    play(fixture, 2);
}

/* ---------------------------------------------------------------- cases */

static void test_what_is_not_committed_is_not_booked(void **state)
{
    struct fixture *fixture = *state;
    open_books(fixture, BIG);
    commit_split(fixture, 0, 3, 5, BEGIN_MS);
    /* A batch that is sent again begins again. */
    books_begin(fixture->books);
    struct err err = {0};
    must(store_begin(fixture->store, &err), &err);
    books_begin(fixture->books);
    write_split(fixture, 0, 8, 0, BEGIN_MS + MINUTE_MS);
    write_split(fixture, 0, 0, 8,
                BEGIN_MS + MINUTE_MS); /* the last of a batch counts */
    must(books_end(fixture->books, &err), &err);
    must(store_commit(fixture->store, &err), &err);
    books_begin(fixture->books); /* its answer was lost; it is sent once more */
    check_sum(fixture, 0, BEGIN_MS + 3 * MINUTE_MS, 3 * MINUTE_MS,
              5 * MINUTE_MS + 8 * 2 * MINUTE_MS);
    commit_split(fixture, 0, 0, 8, BEGIN_MS + MINUTE_MS);
    check_sum(fixture, 0, BEGIN_MS + 3 * MINUTE_MS, 3 * MINUTE_MS,
              5 * MINUTE_MS + 8 * 2 * MINUTE_MS);
    check_size(fixture);
}

/* What is not in `held` yet is booked all the same, also after a crash, and is bounded
 * while no one reads. */
static void test_entries_are_moved_together(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *file;
    open_books(fixture, BIG);
    for (int i = 0; i < BOOKS_RECENT_MAX + 10; i++) {
        commit_split(fixture, i % 3, i % 2 + 1, 0, BEGIN_MS + i);
    }
    file = db_handle(store_db(fixture->store));
    assert_int_equal(number_of(file, "SELECT count(*) FROM held_recent"), 10);
    assert_int_equal(number_of(file, "SELECT count(*) FROM held"), BOOKS_RECENT_MAX);
    check_size(fixture);
    int64_t n_bytes = number_of(file, "SELECT n_bytes FROM held_size");
    /* Each of the three changes with each third split, from 1 to 2 and back. */
    int64_t end_ms = BEGIN_MS + BOOKS_RECENT_MAX + 10, held_ms = 0;
    for (int i = 0; i < BOOKS_RECENT_MAX + 10; i += 3) {
        int64_t until_ms = BEGIN_MS + i + 3 < end_ms ? BEGIN_MS + i + 3 : end_ms;
        held_ms += (i % 2 + 1) * (until_ms - BEGIN_MS - i);
    }
    open_books(fixture, BIG);
    file = db_handle(store_db(fixture->store));
    assert_int_equal(number_of(file, "SELECT count(*) FROM held_recent"), 0);
    assert_true(number_of(file, "SELECT n_bytes FROM held_size") > n_bytes);
    check_size(fixture);
    check_sum(fixture, 0, end_ms, held_ms, 0);
    commit_split(fixture, 0, 5, 0, end_ms);
    assert_int_equal(number_of(file, "SELECT count(*) FROM held_recent"), 1);
    check_sum(fixture, 0, end_ms + 10, held_ms + 50, 0);
    check_size(fixture);
}

/* A reader writes nothing while nothing changes. */
static void test_entries_are_moved_when_no_more_come(void **state)
{
    static const char count[] = "SELECT count(*) FROM held_recent";
    struct fixture *fixture = *state;
    struct err err = {0};
    open_books(fixture, BIG);
    maintain(fixture, BEGIN_MS);
    sqlite3 *file = db_handle(store_db(fixture->store));
    commit_split(fixture, 0, 1, 2, BEGIN_MS);
    assert_int_equal(books_trim(fixture->books, BEGIN_MS + 1000, &err), 0);
    assert_int_equal(number_of(file, count), 1);
    commit_split(fixture, 0, 2, 1, BEGIN_MS + 1000);
    assert_int_equal(books_trim(fixture->books, BEGIN_MS + 2000, &err), 0);
    assert_int_equal(number_of(file, count), 2);
    assert_int_equal(books_trim(fixture->books, BEGIN_MS + 3000, &err), 0);
    assert_int_equal(number_of(file, count), 0);
    check_size(fixture);
}

/* A lease that is judged and stays holds what it held. */
static void test_a_row_without_hosts_is_no_split(void **state)
{
    struct fixture *fixture = *state;
    struct row row = {.kind = ROW_LEASE};
    struct effects batch;
    struct err err = {0};
    open_books(fixture, BIG);
    commit_split(fixture, 0, 3, 5, BEGIN_MS);
    row.lease = (struct row_lease){.id = name_of(0),
                                   .provider = "north",
                                   .policy = "0",
                                   .consumer = "south",
                                   .state = LEASE_ACTIVE,
                                   .changed_ms = BEGIN_MS,
                                   .judged_ms = BEGIN_MS + MINUTE_MS,
                                   .reason = "",
                                   .keeps_lists = true};
    effects_init(&batch);
    effects_store(&batch, &row);
    must(store_commit_batch(fixture->store, &batch, &err), &err);
    effects_release(&batch);
    sqlite3 *file = db_handle(store_db(fixture->store));
    assert_int_equal(number_of(file, "SELECT judged_ms FROM lease"),
                     BEGIN_MS + MINUTE_MS);
    assert_int_equal(number_of(file, "SELECT count(*) FROM held_recent"), 1);
}

static void test_an_open_contract_is_booked_while_the_broker_is_away(void **state)
{
    struct fixture *fixture = *state;
    open_books(fixture, BIG);
    commit_split(fixture, 1, 2, 6, BEGIN_MS);
    open_books(fixture, BIG); /* a restart, or another broker of the same store */
    commit_split(fixture, 1, 2, 6, BEGIN_MS + 5 * USAGE_HOUR_MS); /* nothing new */
    commit_split(fixture, 1, 0, 0, BEGIN_MS + 7 * USAGE_HOUR_MS);
    check_sum(fixture, 1, BEGIN_MS + USAGE_DAY_MS, 2 * 7 * USAGE_HOUR_MS,
              6 * 7 * USAGE_HOUR_MS);
}

static void test_clocks(void **state)
{
    struct fixture *fixture = *state;
    open_books(fixture, BIG);
    /* Back by a quarter of an hour: nothing until it is where it was. */
    commit_split(fixture, 0, 4, 0, BEGIN_MS);
    commit_split(fixture, 0, 0, 4, BEGIN_MS + 30 * MINUTE_MS);
    commit_split(fixture, 0, 2, 2, BEGIN_MS + 15 * MINUTE_MS);
    check_sum(fixture, 0, BEGIN_MS + 40 * MINUTE_MS,
              4 * 30 * MINUTE_MS + 2 * 10 * MINUTE_MS, 2 * 10 * MINUTE_MS);
    /* A year ahead, and right again: that year was never there. */
    commit_split(fixture, 1, 1, 7, BEGIN_MS);
    commit_split(fixture, 1, 7, 1, BEGIN_MS + 365 * USAGE_DAY_MS);
    commit_split(fixture, 1, 3, 5, BEGIN_MS + USAGE_HOUR_MS);
    check_sum(fixture, 1, BEGIN_MS + 2 * USAGE_HOUR_MS, 4 * USAGE_HOUR_MS,
              12 * USAGE_HOUR_MS);
    check_sum(fixture, 1, BEGIN_MS + 800 * USAGE_DAY_MS,
              USAGE_HOUR_MS + 3 * (800 * USAGE_DAY_MS - USAGE_HOUR_MS),
              7 * USAGE_HOUR_MS + 5 * (800 * USAGE_DAY_MS - USAGE_HOUR_MS));
}

/* A provider that was away tells later what it changed; no split begins before the one
 * before it, nor much later than now. */
static void test_a_split_counts_from_when_its_provider_has_it(void **state)
{
    struct fixture *fixture = *state;
    const int64_t m = MINUTE_MS, now_ms = BEGIN_MS + 200 * m;
    open_books(fixture, BIG);
    commit_told(fixture, 0, 4, 0, 1, BEGIN_MS, BEGIN_MS + 10 * m);
    commit_told(fixture, 0, 0, 4, 2, BEGIN_MS + 30 * m, BEGIN_MS + 90 * m);
    check_sum(fixture, 0, now_ms, 4 * 30 * m, 4 * 170 * m);
    commit_told(fixture, 0, 3, 1, 3, BEGIN_MS + 20 * m, BEGIN_MS + 95 * m);
    check_sum(fixture, 0, now_ms, 4 * 30 * m + 3 * 170 * m, 170 * m);
    open_books(fixture, BIG);
    commit_told(fixture, 0, 2, 2, 4, BEGIN_MS + 110 * m, BEGIN_MS + 100 * m);
    check_sum(fixture, 0, now_ms, 4 * 30 * m + 3 * 70 * m + 2 * 100 * m,
              70 * m + 2 * 100 * m);
    commit_told(fixture, 0, 0, 0, 4, BEGIN_MS + 110 * m, BEGIN_MS + 150 * m);
    check_sum(fixture, 0, now_ms, 4 * 30 * m + 3 * 70 * m + 2 * 50 * m,
              70 * m + 2 * 50 * m);
}

/* Slots of a host that is down are held as before, whatever is used of them. */
static void test_a_host_that_is_down(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    open_books(fixture, BIG);
    for (int i = 0; i < 3; i++) {
        const struct host_split hosts[] = {{.host = "n1",
                                            .n_slots = 8,
                                            .provider = 3,
                                            .consumer = 5,
                                            .consumer_used = i,
                                            .is_down = i > 0}};
        const struct row_lease row = {.id = name_of(0),
                                      .state = LEASE_ACTIVE,
                                      .epoch = 1,
                                      .split_ms = BEGIN_MS,
                                      .hosts = hosts,
                                      .n_hosts = 1};
        must(store_begin(fixture->store, &err), &err);
        books_begin(fixture->books);
        must(books_write(fixture->books, &row, BEGIN_MS + i * USAGE_HOUR_MS, &err),
             &err);
        must(books_end(fixture->books, &err), &err);
        must(store_commit(fixture->store, &err), &err);
        books_committed(fixture->books);
    }
    check_sum(fixture, 0, BEGIN_MS + 4 * USAGE_HOUR_MS, 3 * 4 * USAGE_HOUR_MS,
              5 * 4 * USAGE_HOUR_MS);
}

/* What is told of a time that is summed already begins where the sums end. */
static void test_a_split_of_a_time_that_is_summed(void **state)
{
    struct fixture *fixture = *state;
    const int64_t day = USAGE_DAY_MS, now_ms = BEGIN_MS + 40 * day;
    open_books(fixture, BIG);
    commit_told(fixture, 0, 1, 3, 1, BEGIN_MS, BEGIN_MS);
    maintain(fixture, now_ms);
    commit_told(fixture, 0, 4, 0, 2, BEGIN_MS + 5 * day, now_ms);
    check_sum(fixture, 0, now_ms, 10 * day + 4 * 30 * day, 3 * 10 * day);
    check_size(fixture);
}

/* The copy is of before the second split: what holds at the copy goes on until the
 * provider tells what it has now, and since when. */
static void test_a_store_that_is_restored_from_a_copy(void **state)
{
    struct fixture *fixture = *state;
    char command[400];
    open_books(fixture, BIG);
    commit_told(fixture, 0, 4, 0, 1, BEGIN_MS, BEGIN_MS);
    books_free(fixture->books);
    store_close(fixture->store);
    fixture->books = NULL;
    fixture->store = NULL;
    snprintf(command, sizeof(command), "cp %s %s.copy", fixture->path, fixture->path);
    assert_int_equal(system(command), 0);
    open_books(fixture, BIG);
    commit_told(fixture, 0, 0, 4, 2, BEGIN_MS + USAGE_HOUR_MS,
                BEGIN_MS + USAGE_HOUR_MS);
    books_free(fixture->books);
    store_close(fixture->store);
    fixture->books = NULL;
    fixture->store = NULL;
    snprintf(command, sizeof(command), "rm -f %s-*; mv %s.copy %s", fixture->path,
             fixture->path, fixture->path);
    assert_int_equal(system(command), 0);
    open_books(fixture, BIG);
    check_sum(fixture, 0, BEGIN_MS + 3 * USAGE_HOUR_MS, 4 * 3 * USAGE_HOUR_MS, 0);
    commit_told(fixture, 0, 0, 4, 2, BEGIN_MS + USAGE_HOUR_MS,
                BEGIN_MS + 2 * USAGE_HOUR_MS);
    check_sum(fixture, 0, BEGIN_MS + 3 * USAGE_HOUR_MS, 4 * USAGE_HOUR_MS,
              4 * 2 * USAGE_HOUR_MS);
}

/* Two brokers have one database: the second one continues with what the first wrote. */
static void test_a_standby_continues_the_books(void **state)
{
    struct fixture *fixture = *state;
    struct fixture second = {.place = server.url};
    if (!server.is_there) {
        skip();
    }
    postgres_fixture_clear(&server);
    fixture->place = server.url;
    open_books(fixture, BIG);
    commit_told(fixture, 0, 4, 0, 1, BEGIN_MS, BEGIN_MS);
    books_free(fixture->books); /* it is killed */
    store_close(fixture->store);
    fixture->books = NULL;
    fixture->store = NULL;
    open_books(&second, BIG);
    commit_told(&second, 0, 1, 3, 2, BEGIN_MS + 5 * MINUTE_MS,
                BEGIN_MS + USAGE_HOUR_MS);
    check_sum(&second, 0, BEGIN_MS + USAGE_HOUR_MS, (4 * 5 + 55) * MINUTE_MS,
              3 * 55 * MINUTE_MS);
    books_free(second.books);
    store_close(second.store);
}

static void test_rows_are_kept_for_400_days(void **state)
{
    struct fixture *fixture = *state;
    open_books(fixture, BIG);
    commit_split(fixture, 0, 1, 0, BEGIN_MS);
    for (int day = 1; day <= 450; day += 1) {
        maintain(fixture, BEGIN_MS + day * USAGE_DAY_MS);
    }
    int64_t now_ms = BEGIN_MS + 450 * USAGE_DAY_MS;
    struct sum sum = read_sum(fixture, 0, BEGIN_MS, now_ms, -1);
    assert_int_equal(sum.held_ms[USAGE_PROVIDER], 400 * USAGE_DAY_MS);
    sum = read_sum(fixture, 0, BEGIN_MS, now_ms, BEGIN_MS + 50 * USAGE_DAY_MS);
    assert_int_equal(sum.held_ms[USAGE_PROVIDER], USAGE_HOUR_MS);
}

/* 1 KiB holds some ten rows: all of before today become days, and then fewer. */
static void test_beyond_the_size_hours_become_days(void **state)
{
    struct fixture *fixture = *state;
    int64_t now_ms = BEGIN_MS + 6 * USAGE_DAY_MS;
    open_books(fixture, BIG);
    for (int hour = 0; hour < 6 * 24; hour++) {
        commit_split(fixture, 0, hour % 2, 1 - hour % 2,
                     BEGIN_MS + hour * USAGE_HOUR_MS);
    }
    assert_true(read_sum(fixture, 0, BEGIN_MS, now_ms, -1).n_rows > 6 * 24 - 1);
    books_resize(fixture->books, 1024);
    maintain(fixture, now_ms);
    check_sum(fixture, 0, now_ms, 3 * USAGE_DAY_MS, 3 * USAGE_DAY_MS);
    assert_int_equal(read_sum(fixture, 0, BEGIN_MS, now_ms, -1).n_rows, 2 * 6);
    books_resize(fixture->books, 250);
    maintain(fixture, now_ms);
    struct sum left = read_sum(fixture, 0, BEGIN_MS, now_ms, -1);
    assert_in_range(left.n_rows, 0, 2 * 2);
    assert_int_equal(left.held_ms[0], left.n_rows / 2 * (USAGE_DAY_MS / 2));
}

static void test_a_copy_of_the_store_has_the_books(void **state)
{
    struct fixture *fixture = *state;
    struct arena arena;
    struct err err = {0};
    const char *sentence;
    char back[128];
    if (!server.is_there) {
        skip();
    }
    arena_init(&arena);
    open_books(fixture, BIG);
    commit_split(fixture, 0, 3, 5, BEGIN_MS);
    maintain(fixture, BEGIN_MS + 33 * USAGE_DAY_MS);
    books_free(fixture->books);
    fixture->books = NULL;
    store_close(fixture->store);
    fixture->store = NULL;
    postgres_fixture_clear(&server);
    must(store_transfer_run(fixture->path, server.url, &arena, &sentence, &err), &err);
    snprintf(back, sizeof(back), "%s/back.db", fixture->directory);
    must(store_transfer_run(server.url, back, &arena, &sentence, &err), &err);
    const char *const places[] = {server.url, back};
    for (int i = 0; i < 2; i++) {
        fixture->place = places[i];
        open_books(fixture, BIG);
        check_sum(fixture, 0, BEGIN_MS + 40 * USAGE_DAY_MS, 3 * 40 * USAGE_DAY_MS,
                  5 * 40 * USAGE_DAY_MS);
    }
    arena_release(&arena);
}

static int start_server(void **state)
{
    (void)state;
    postgres_fixture_start(&server);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    postgres_fixture_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_books_are_those_of_a_model),
        TEST(test_books_of_a_database_are_the_same),
        TEST(test_what_is_not_committed_is_not_booked),
        TEST(test_entries_are_moved_together),
        TEST(test_a_row_without_hosts_is_no_split),
        TEST(test_entries_are_moved_when_no_more_come),
        TEST(test_an_open_contract_is_booked_while_the_broker_is_away),
        TEST(test_clocks),
        TEST(test_a_split_counts_from_when_its_provider_has_it),
        TEST(test_a_host_that_is_down),
        TEST(test_a_split_of_a_time_that_is_summed),
        TEST(test_a_store_that_is_restored_from_a_copy),
        TEST(test_a_standby_continues_the_books),
        TEST(test_rows_are_kept_for_400_days),
        TEST(test_beyond_the_size_hours_become_days),
        TEST(test_a_copy_of_the_store_has_the_books),
#undef TEST
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
