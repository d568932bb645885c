/* SPDX-License-Identifier: Apache-2.0 */
/* test_usage_store.c: the ledger in a site's journal: it is added up over restarts, a
 * transaction that is taken back books nothing twice, and what is too old or too much
 * is merged and deleted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/io/usage_detail.h"
#include "site/io/usage_store.h"
#include "tests/io/journal_fixture.h"

static const char lease[] = "north/1/south";
static const int64_t day = 20000 * USAGE_DAY_MS;
#define MIB (INT64_C(1) << 20)

static struct usage_store *start(struct journal_fixture *fixture, int64_t size,
                                 int64_t now_ms)
{
    struct err err;
    struct usage_store *store = usage_store_new(fixture->journal, size);
    assert_int_equal(usage_store_start(store, now_ms, &err), 0);
    return store;
}

static struct usage_store *restart(struct journal_fixture *fixture,
                                   struct usage_store *store, int64_t now_ms)
{
    usage_store_free(store);
    journal_fixture_reopen(fixture);
    return start(fixture, MIB, now_ms);
}

static void maintain(struct usage_store *store, int64_t now_ms)
{
    struct err err = {0};
    usage_book(usage_store_usage(store), now_ms);
    int rc = usage_store_maintain(store, now_ms, &err);
    if (rc != 0) {
        fail_msg("%s", err.text);
    }
}

struct sums {
    int64_t held_ms, used_ms, idle_ms, first_ms;
    int n_rows;
};

static void add_row(void *arg, const struct usage_row *row)
{
    struct sums *sums = arg;
    sums->first_ms = sums->n_rows == 0 ? row->start_ms : sums->first_ms;
    sums->held_ms += row->held_ms;
    sums->used_ms += row->used_ms;
    sums->idle_ms += row->idle_ms;
    sums->n_rows++;
}

static struct sums read_sums(struct usage_store *store, int64_t from_ms, int64_t to_ms)
{
    struct sums sums = {0};
    struct err err;
    assert_int_equal(usage_store_read(store, from_ms, to_ms, add_row, &sums, &err), 0);
    return sums;
}

static void test_a_restart_books_what_passed(void **state)
{
    struct usage_store *store = start(*state, MIB, day);
    usage_hold(usage_store_usage(store), lease, USAGE_CONSUMER, 3, day);
    maintain(store, day + 1000);
    store = restart(*state, store, day + 5000);
    maintain(store, day + 6000);
    store = restart(*state, store, day + 6000);
    struct sums sums = read_sums(store, 0, INT64_MAX);
    assert_int_equal(sums.held_ms, 18000);
    assert_int_equal(sums.idle_ms, 18000);
    assert_int_equal(sums.n_rows, 1);
    usage_hold(usage_store_usage(store), lease, USAGE_CONSUMER, 0, day + 6000);
    maintain(store, day + 6000);
    store = restart(*state, store, day + 9000);
    assert_int_equal(read_sums(store, 0, INT64_MAX).held_ms, 18000);
    usage_store_free(store);
}

static struct row told(enum job_state state, int64_t used_ms, int64_t at_ms,
                       int n_slots)
{
    static const struct host_slots hosts[] = {{.host = "n1@north", .n_slots = 2}};
    struct row row = {.kind = ROW_JOB_STATE};
    row.job_state = (struct row_job_state){.id = 7,
                                           .state = state,
                                           .attempt = 3,
                                           .lease = lease,
                                           .hosts = hosts,
                                           .n_hosts = 1,
                                           .queue = "",
                                           .use = {day, at_ms, used_ms, n_slots}};
    return row;
}

struct found {
    struct usage_run run;
    int count;
};

static void keep_run(void *arg, const struct usage_run *run)
{
    struct found *found = arg;
    found->run = *run;
    found->count++;
}

/* A site that was away while a job ended has, in the end, what its provider has. */
static void test_an_end_that_is_told_after_a_restart(void **state)
{
    struct journal_fixture *fixture = *state;
    struct usage_store *store = start(fixture, MIB, day);
    struct row row = told(JOB_RUN, 0, day, 2);
    struct found found = {.count = 0};
    struct err err;
    usage_store_row(store, &row, day + 300);
    maintain(store, day + 1000);
    usage_store_free(store);
    journal_fixture_reopen(fixture);
    store = usage_store_new(fixture->journal, MIB);
    usage_store_row(store, &row, day + 50000);
    assert_int_equal(usage_store_start(store, day + 50000, &err), 0);
    assert_int_equal(read_sums(store, 0, INT64_MAX).used_ms, 100000);
    row = told(JOB_DONE, 2 * 8000, day + 8000, 0);
    usage_store_row(store, &row, day + 60000);
    maintain(store, day + 60000);
    store = restart(fixture, store, day + 70000);
    assert_int_equal(read_sums(store, 0, INT64_MAX).used_ms, 16000);
    assert_int_equal(usage_detail_read_runs(usage_store_detail(store), lease, 0,
                                            day + 7000, day + 9000, 10, keep_run,
                                            &found, &err),
                     0);
    assert_int_equal(found.count, 1);
    assert_true(found.run.attempt == 3 && found.run.start_ms == day &&
                found.run.end_ms == day + 8000 && found.run.used_ms == 16000);
    assert_int_equal(usage_detail_read_runs(usage_store_detail(store), lease, 0,
                                            day + 8001, INT64_MAX, 10, keep_run, &found,
                                            &err),
                     0);
    assert_int_equal(found.count, 1); /* it had ended */
    usage_store_free(store);
}

static void test_a_transaction_that_is_taken_back(void **state)
{
    struct journal_fixture *fixture = *state;
    struct usage_store *store = start(fixture, MIB, day);
    struct db *db = journal_db(fixture->journal);
    struct err err;
    usage_hold(usage_store_usage(store), lease, USAGE_PROVIDER, 2, day);
    usage_book(usage_store_usage(store), day + 100);
    assert_int_equal(db_begin(db, &err), 0);
    assert_int_equal(usage_store_write(store, &err), 0);
    sqlite3_exec(db_handle(db), "ROLLBACK", NULL, NULL, NULL);
    maintain(store, day + 100);
    store = restart(fixture, store, day + 100);
    assert_int_equal(read_sums(store, 0, INT64_MAX).held_ms, 200);
    usage_store_free(store);
}

static void test_what_is_not_written_is_read(void **state)
{
    struct usage_store *store = start(*state, MIB, day);
    usage_hold(usage_store_usage(store), lease, USAGE_PROVIDER, 1, day);
    maintain(store, day + 10);
    usage_book(usage_store_usage(store), day + USAGE_HOUR_MS + 5);
    assert_int_equal(read_sums(store, day, day + 1).held_ms, USAGE_HOUR_MS);
    assert_int_equal(read_sums(store, day + 1, INT64_MAX).held_ms, 5);
    usage_store_free(store);
}

/* Three days of a slot for many users, in a ledger that is small: the oldest day is a
 * row for each user, the last one has its hours. */
static void test_the_oldest_hours_are_merged(void **state)
{
    struct usage_store *store = start(*state, 87000, day);
    int64_t end_ms = day + 3 * USAGE_DAY_MS - 1, merged_ms;
    struct err err;
    char user[16];
    for (int i = 0; i < 20; i++) {
        snprintf(user, sizeof(user), "u%d", i);
        struct usage_owner owner = {user, "normal", "default", ""};
        usage_change(usage_store_usage(store), lease, USAGE_CONSUMER, &owner, 1, day);
    }
    usage_hold(usage_store_usage(store), lease, USAGE_CONSUMER, 20, day);
    maintain(store, end_ms);
    assert_int_equal(read_sums(store, 0, INT64_MAX).n_rows, 20 * (24 + 24 + 1));
    for (int i = 0; i < 5; i++) {
        maintain(store, end_ms);
    }
    assert_int_equal(usage_store_merged_ms(store, &merged_ms, &err), 0);
    assert_int_equal(merged_ms, day + USAGE_DAY_MS);
    struct sums sums = read_sums(store, 0, INT64_MAX);
    assert_int_equal(sums.held_ms, 20 * (3 * USAGE_DAY_MS - 1));
    assert_int_equal(sums.used_ms, sums.held_ms);
    assert_int_equal(read_sums(store, day, day + 1).held_ms, 20 * USAGE_DAY_MS);
    usage_store_resize(store, 100);
    for (int i = 0; i < 10; i++) {
        maintain(store, end_ms);
    }
    sums = read_sums(store, 0, INT64_MAX); /* today stays, and nothing else */
    assert_int_equal(sums.first_ms, day + 2 * USAGE_DAY_MS);
    assert_int_equal(sums.n_rows, 20 * 24);
    usage_store_free(store);
}

static void test_totals_since_the_start(void **state)
{
    struct usage_store *store = start(*state, MIB, day);
    struct sums sums = {0};
    usage_hold(usage_store_usage(store), lease, USAGE_PROVIDER, 2, day);
    maintain(store, day + 10);
    usage_store_each_total(store, day + 15, add_row, &sums);
    assert_int_equal(sums.held_ms, 30);
    maintain(store, day + 20);
    sums = (struct sums){0};
    usage_store_each_total(store, day + 20, add_row, &sums);
    assert_int_equal(sums.held_ms, 40);
    assert_int_equal(sums.n_rows, 1);
    store = restart(*state, store, day + 20);
    sums = (struct sums){0};
    usage_store_each_total(store, day + 23, add_row, &sums);
    assert_int_equal(sums.held_ms, 6);
    const struct usage_split late = {lease, USAGE_PROVIDER, 1, 0, day + 21};
    usage_split(usage_store_usage(store), &late, day + 23); /* 2 ms of a slot fewer */
    sums = (struct sums){0};
    usage_store_each_total(store, day + 24, add_row, &sums);
    assert_int_equal(sums.held_ms, 6); /* a counter never goes back */
    sums = (struct sums){0};
    usage_store_each_total(store, day + 30, add_row, &sums);
    assert_int_equal(sums.held_ms, 2 + 9);
    usage_store_free(store);
}

static void test_what_is_too_old(void **state)
{
    struct usage_store *store = start(*state, MIB, day);
    usage_hold(usage_store_usage(store), lease, USAGE_PROVIDER, 1, day);
    usage_hold(usage_store_usage(store), lease, USAGE_PROVIDER, 0, day + 7);
    maintain(store, day + 7);
    maintain(store, day + USAGE_STORE_DAYS * USAGE_DAY_MS);
    assert_int_equal(read_sums(store, 0, INT64_MAX).held_ms, 7);
    maintain(store, day + (USAGE_STORE_DAYS + 1) * USAGE_DAY_MS);
    assert_int_equal(read_sums(store, 0, INT64_MAX).n_rows, 0);
    usage_store_free(store);
}

int main(void)
{
#define WITH_JOURNAL(test)                                                             \
    cmocka_unit_test_setup_teardown(test, journal_fixture_setup,                       \
                                    journal_fixture_teardown)
    const struct CMUnitTest tests[] = {
        WITH_JOURNAL(test_a_restart_books_what_passed),
        WITH_JOURNAL(test_an_end_that_is_told_after_a_restart),
        WITH_JOURNAL(test_a_transaction_that_is_taken_back),
        WITH_JOURNAL(test_what_is_not_written_is_read),
        WITH_JOURNAL(test_the_oldest_hours_are_merged),
        WITH_JOURNAL(test_totals_since_the_start),
        WITH_JOURNAL(test_what_is_too_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
