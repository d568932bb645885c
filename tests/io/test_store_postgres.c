/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_postgres.c: a database of PostgreSQL holds what a file holds: the same
 * random rows go into both, and all that can be asked of a store is asked of both. And
 * what a server alone can do: refuse, be restarted, be newer, have dangerous settings.
 * Skips without Debian's package postgresql. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/store/store.h"
#include "broker/io/store/store_copy.h"
#include "broker/io/store/store_lead.h"
#include "broker/io/store/store_transfer.h"
#include "tests/io/postgres_fixture.h"
#include "tests/io/store_rows.h"

enum { SEEDS = 4 };

extern const struct db_migration broker_migrations[], postgres_migrations[];

static struct postgres_fixture server;

struct fixture {
    char directory[64], path[96];
    struct store *file, *database;
};

static void must(int rc, const struct err *err)
{
    if (rc < 0) {
        fail_msg("%s", err->text);
    }
}

static struct store *open_store(const char *state)
{
    struct store *store = NULL;
    struct err err = {0};
    must(store_open(state, false, &store, &err), &err);
    return store;
}

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    *state = fixture;
    if (!server.is_there) {
        return 0;
    }
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-store-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/broker.db", fixture->directory);
    postgres_fixture_clear(&server);
    fixture->file = open_store(fixture->path);
    fixture->database = open_store(server.url);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    char line[128];
    store_close(fixture->file);
    store_close(fixture->database);
    if (fixture->directory[0] != '\0') {
        snprintf(line, sizeof(line), "rm -rf %s", fixture->directory);
        assert_int_equal(system(line), 0);
    }
    free(fixture);
    return 0;
}

static void need_server(void)
{
    if (!server.is_there) {
        skip();
    }
}

/* ---------------------------------------------------------------- tests */

static void test_the_same_rows_are_in_both(void **state)
{
    need_server();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture *fixture = *state;
        store_rows_play(fixture->file, fixture->database, seed);
        store_rows_check_same(fixture->file, fixture->database);
        /* And after both are opened again. */
        store_close(fixture->file);
        store_close(fixture->database);
        fixture->file = open_store(fixture->path);
        fixture->database = open_store(server.url);
        store_rows_check_same(fixture->file, fixture->database);
    }
}

static void test_a_copy_has_every_row_either_way(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    char back[128];
    struct arena arena;
    struct err err = {0};
    const char *sentence = "";
    arena_init(&arena);
    store_rows_play(fixture->file, fixture->database, 11);
    store_close(fixture->file);
    store_close(fixture->database);
    fixture->file = fixture->database = NULL;
    assert_int_equal(
        store_transfer_run(fixture->path, server.url, &arena, &sentence, &err),
        ERR_EXISTS);
    assert_non_null(strstr(err.text, "rows already"));

    postgres_fixture_clear(&server);
    must(store_transfer_run(fixture->path, server.url, &arena, &sentence, &err), &err);
    assert_non_null(strstr(sentence, "all are equal"));
    snprintf(back, sizeof(back), "%s/back.db", fixture->directory);
    must(store_transfer_run(server.url, back, &arena, &sentence, &err), &err);
    assert_int_equal(store_transfer_run(server.url, back, &arena, &sentence, &err),
                     ERR_EXISTS);

    fixture->file = open_store(fixture->path);
    fixture->database = open_store(server.url);
    store_rows_check_same(fixture->file, fixture->database);
    struct store *copy = open_store(back);
    store_rows_check_same(fixture->file, copy);
    /* What is written next is behind what was copied. */
    store_rows_play(fixture->file, fixture->database, 12);
    store_rows_check_same(fixture->file, fixture->database);
    store_close(copy);
    arena_release(&arena);
}

static void test_the_check_of_a_copy_finds_a_row_that_differs(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct err err = {0};
    struct store_transfer *transfer;
    int64_t n_rows;
    int rc;
    store_rows_play(fixture->file, fixture->database, 13);
    postgres_fixture_clear(&server);
    store_close(open_store(server.url));
    must(store_transfer_begin(server.url, store_db(fixture->file), true, &transfer,
                              &err),
         &err);
    while ((rc = store_transfer_step(transfer, 10, &err)) > 0) {
    }
    must(rc, &err);
    must(store_transfer_check(transfer, &n_rows, &err), &err);
    assert_true(n_rows > STORE_ROWS_BATCHES);
    postgres_fixture_run(&server, "UPDATE lease_host SET n_slots = n_slots + 1"
                                  " WHERE lease = 'north/3/south' AND place = 0;"
                                  "UPDATE event SET reason = 'other' WHERE id = 7");
    assert_int_equal(store_transfer_check(transfer, &n_rows, &err), ERR_STATE);
    store_transfer_free(transfer);
}

static void test_a_snapshot_of_a_server_is_a_file(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct err err = {0};
    struct store_copy *copy;
    struct store *to;
    char path[128];
    int rc;
    store_rows_play(fixture->file, fixture->database, 14);
    snprintf(path, sizeof(path), "%s/snapshot.db", fixture->directory);
    must(store_copy_begin(fixture->database, server.url, path, &copy, &err), &err);
    /* What is written meanwhile does not disturb it. */
    store_rows_play(fixture->file, fixture->database, 15);
    while ((rc = store_copy_step(copy, &to, &err)) > 0) {
    }
    must(rc, &err);
    must(store_begin(to, &err), &err);
    must(store_commit(to, &err), &err);
    must(store_copy_finish(copy, true, &err), &err);
    store_copy_free(copy);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/snapshot.db.rows", fixture->directory);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/snapshot.db", fixture->directory);
    struct store *snapshot = open_store(path);
    int64_t last;
    must(store_history_last(snapshot, &last, &err), &err);
    assert_true(last > 0);
    store_close(snapshot);
}

/* The transaction is undone, and the connection is of use again. */
static void test_a_row_that_the_tables_forbid_undoes_its_transaction(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row good = {.kind = ROW_COUNTER, .counter = {"freeze", 7}};
    struct row bad = {.kind = ROW_SITE, .site = {.name = "north", .since_ms = -1}};
    static struct store_rows rows;
    must(store_begin(fixture->database, &err), &err);
    must(store_write(fixture->database, &good, &err), &err);
    must(store_write(fixture->database, &bad, &err), &err);
    assert_int_equal(store_commit(fixture->database, &err), ERR_IO);
    assert_non_null(strstr(err.text, "site_since_ms_check"));
    store_rows_load(fixture->database, &rows);
    assert_int_equal(rows.count, 0);
    arena_release(&rows.arena);

    must(store_begin(fixture->database, &err), &err);
    must(store_write(fixture->database, &good, &err), &err);
    must(store_commit(fixture->database, &err), &err);
    store_rows_load(fixture->database, &rows);
    assert_int_equal(rows.count, 1);
    arena_release(&rows.arena);
    struct row site = {.kind = ROW_QUEUE, .queue = {.name = "q"}};
    must(store_begin(fixture->database, &err), &err);
    assert_int_equal(store_write(fixture->database, &site, &err), ERR_STATE);
    must(store_commit(fixture->database, &err), &err);
}

static void test_settings_that_lose_commits_are_refused(void **state)
{
    static const struct {
        const char *set, *reset;
        int code;
        const char *words;
    } cases[] = {
        {"ALTER ROLE sublet SET synchronous_commit = off",
         "ALTER ROLE sublet RESET synchronous_commit", ERR_DENIED,
         "synchronous_commit = off"},
        {"ALTER ROLE sublet SET synchronous_commit = local",
         "ALTER ROLE sublet RESET synchronous_commit", ERR_DENIED,
         "synchronous_commit = local"},
        {"ALTER ROLE sublet SET synchronous_commit = remote_apply",
         "ALTER ROLE sublet RESET synchronous_commit", 0, ""},
    };
    (void)state;
    need_server();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store *store = NULL;
        struct err err = {0};
        postgres_fixture_run(&server, cases[i].set);
        int rc = store_open(server.url, false, &store, &err);
        postgres_fixture_run(&server, cases[i].reset);
        if (rc != cases[i].code || strstr(err.text, cases[i].words) == NULL) {
            fail_msg("%s: code %d, %s", cases[i].set, rc, err.text);
        }
        store_close(store);
    }
}

/* Later migrations of the file's tables need one for the database's. */
static void test_migrations_have_the_same_numbers(void **state)
{
    (void)state;
    for (const struct db_migration *of_file = broker_migrations; of_file->number != 0;
         of_file++) {
        const struct db_migration *other = postgres_migrations;
        while (other->number != 0 && other->number != of_file->number) {
            other++;
        }
        if (of_file->number > postgres_migrations[0].number && other->number == 0) {
            fail_msg("schema/postgres has no migration %d (%s)", of_file->number,
                     of_file->name);
        }
    }
}

static void test_a_newer_database_is_refused(void **state)
{
    (void)state;
    need_server();
    struct store *store = NULL;
    struct err err = {0};
    postgres_fixture_run(&server,
                         "UPDATE schema_version SET number = 9999, usable_from = 9998");
    assert_int_equal(store_open(server.url, false, &store, &err), ERR_VERSION);
    assert_non_null(strstr(err.text, "9999"));
}

static void test_a_lost_connection_is_away_and_says_no_password(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = {.kind = ROW_COUNTER, .counter = {"freeze", 7}};
    postgres_fixture_restart(&server);
    must(store_begin(fixture->database, &err), &err);
    must(store_write(fixture->database, &row, &err), &err);
    assert_int_equal(store_commit(fixture->database, &err), ERR_AWAY);

    struct store *store = NULL;
    assert_int_equal(
        store_open("postgresql://me:secret@/none?host=/nowhere", false, &store, &err),
        ERR_AWAY);
    assert_null(strstr(err.text, "secret"));
}

/* ---------------------------------------------------------------- the lead */

struct dismissal {
    int count, code;
};

static void note_dismissal(void *arg, const struct err *why)
{
    struct dismissal *dismissal = arg;
    dismissal->count++;
    dismissal->code = why->code;
}

static int try_lead(struct store *store, const char *name)
{
    struct err err = {0};
    struct arena arena;
    struct store_leader leader = {.name = ""};
    arena_init(&arena);
    store_lead_set_self(store, name);
    int rc = store_lead_try(store, &arena, &leader, &err);
    must(rc, &err);
    arena_release(&arena);
    return rc;
}

static int put_counter(struct store *store, uint64_t value)
{
    struct effects effects;
    struct err err = {0};
    struct row row = {.kind = ROW_COUNTER, .counter = {"freeze", value}};
    struct row event = {.kind = ROW_HISTORY,
                        .history = {.lease = "north/1/south",
                                    .state = "active",
                                    .event = HISTORY_ACTIVE,
                                    .reason = ""}};
    effects_init(&effects);
    effects_store(&effects, &row);
    effects_store(&effects, &event);
    int rc = store_commit_batch(store, &effects, &err);
    effects_release(&effects);
    return rc;
}

static void check_counter(struct store *store, uint64_t value)
{
    static struct store_rows rows;
    store_rows_load(store, &rows);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.rows[0].counter.value, value);
    arena_release(&rows.arena);
}

static void test_one_leads_and_who_was_replaced_commits_nothing(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct store *other = open_store(server.url);
    struct dismissal dismissal = {0};
    assert_int_equal(try_lead(fixture->database, "first"), 1);
    store_lead_set_dismissed(fixture->database, note_dismissal, &dismissal);
    assert_int_equal(put_counter(fixture->database, 1), 0);
    assert_int_equal(try_lead(other, "second"), 0);
    /* As if it had been paused. */
    postgres_fixture_run(&server,
                         "UPDATE leader SET renewed = renewed - interval '1 h'");
    assert_int_equal(try_lead(other, "second"), 1);
    assert_int_equal(put_counter(other, 2), 0);
    assert_int_equal(put_counter(fixture->database, 3), ERR_STALE);
    assert_int_equal(dismissal.count, 1);
    assert_int_equal(dismissal.code, ERR_STALE);
    check_counter(other, 2);
    /* The one that leads gives up its lead: another one need not wait. */
    store_lead_leave(other, false);
    assert_int_equal(try_lead(fixture->database, "first"), 1);
    store_close(other);
}

/* What was committed is not committed twice, what was not is sent again. */
static void test_a_commit_of_unknown_outcome_is_looked_up(void **state)
{
    need_server();
    struct fixture *fixture = *state;
    struct dismissal dismissal = {0};
    int64_t last;
    struct err err = {0};
    assert_int_equal(try_lead(fixture->database, "first"), 1);
    store_lead_set_dismissed(fixture->database, note_dismissal, &dismissal);
    assert_int_equal(put_counter(fixture->database, 1), 0);
    /* The session ends before the batch is sent ... */
    postgres_fixture_run(&server, "SELECT pg_terminate_backend(pid::int, 5000)"
                                  " FROM leader");
    assert_int_equal(put_counter(fixture->database, 2), 0);
    check_counter(fixture->database, 2);
    must(store_history_last(fixture->database, &last, &err), &err);
    assert_int_equal(last, 2);
    /* ... and another one as the answer to a commit is lost: the number is there. */
    postgres_fixture_run(&server,
                         "CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql"
                         " SECURITY DEFINER AS $$ BEGIN"
                         " PERFORM pg_terminate_backend(pg_backend_pid());"
                         " RETURN NULL; END $$;"
                         "CREATE TRIGGER hang_up AFTER INSERT ON event"
                         " EXECUTE FUNCTION hang_up()");
    postgres_fixture_run(&server, "UPDATE leader SET batch = batch + 1");
    int rc = put_counter(fixture->database, 3);
    postgres_fixture_run(&server, "DROP TRIGGER hang_up ON event");
    assert_int_equal(rc, 0);
    check_counter(fixture->database, 2);
    must(store_history_last(fixture->database, &last, &err), &err);
    assert_int_equal(last, 2);
    assert_int_equal(dismissal.count, 0);
    assert_int_equal(put_counter(fixture->database, 4), 0);
    check_counter(fixture->database, 4);
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
        TEST(test_the_same_rows_are_in_both),
        TEST(test_a_copy_has_every_row_either_way),
        TEST(test_the_check_of_a_copy_finds_a_row_that_differs),
        TEST(test_a_snapshot_of_a_server_is_a_file),
        TEST(test_a_row_that_the_tables_forbid_undoes_its_transaction),
        TEST(test_settings_that_lose_commits_are_refused),
        TEST(test_a_newer_database_is_refused),
        TEST(test_migrations_have_the_same_numbers),
        TEST(test_one_leads_and_who_was_replaced_commits_nothing),
        TEST(test_a_commit_of_unknown_outcome_is_looked_up),
        TEST(test_a_lost_connection_is_away_and_says_no_password),
#undef TEST
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
