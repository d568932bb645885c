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

#include "base/rng.h"
#include "broker/io/store/store.h"
#include "broker/io/store/store_copy.h"
#include "broker/io/store/store_lead.h"
#include "broker/io/store/store_transfer.h"
#include "model/record.h"
#include "sys/json.h"
#include "tests/io/postgres_fixture.h"

enum {
    SEEDS = 4,
    BATCHES = 60,
    ROWS_PER_BATCH = 12,
    LEASES = 9,
    HOSTS = 6,
    ROWS_MAX = 256
};

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

/* ---------------------------------------------------------------- random rows */

/* What an array or a literal of SQL might stumble over. */
static const char *draw_text(struct rng *rng)
{
    static const char *const texts[] = {
        "",
        "plain",
        "NULL",
        "with \"quotes\" and \\backslashes\\",
        "it's {braces}, commas, and a trailing blank ",
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
        "$1 ?1 %s \t",
    };
    return texts[rng_below(rng, (int64_t)(sizeof(texts) / sizeof(texts[0])))];
}

static void draw_host(struct rng *rng, struct arena *arena, struct host_split *host,
                      int place)
{
    host->host = arena_printf(arena, "n%d", place + (int)rng_below(rng, 3) * 10);
    host->n_slots = (int)rng_below(rng, 100001);
    host->provider = (int)rng_below(rng, 100);
    host->consumer = (int)rng_below(rng, 100);
    host->provider_used = (int)rng_below(rng, 3);
    host->consumer_used = (int)rng_below(rng, 3);
    host->is_down = rng_percent(rng, 20);
    for (int i = 0; i < SPACES; i++) {
        host->spaces[i].is_given = rng_percent(rng, 50);
        host->spaces[i].mib =
            host->spaces[i].is_given ? (int)rng_below(rng, 5) * 1000 : 0;
    }
}

static void draw_lease(struct rng *rng, struct arena *arena, struct row_lease *lease)
{
    struct host_split *hosts = arena_alloc(arena, HOSTS, sizeof(*hosts));
    struct lease_resource *resources = arena_alloc(arena, 3, sizeof(*resources));
    int which = (int)rng_below(rng, LEASES);
    *lease = (struct row_lease){
        .id = arena_printf(arena, "north/%d/south", which),
        .provider = "north",
        .policy = arena_printf(arena, "%d", which),
        .consumer = "south",
        .type = (enum lease_type)rng_below(rng, 3),
        .state = (enum lease_state)rng_below(rng, 5),
        .epoch = rng_percent(rng, 10) ? INT64_MAX : rng_next(rng) >> 40,
        .is_made = rng_percent(rng, 50),
        .is_withdrawn = rng_percent(rng, 10),
        .is_drain_ordered = rng_percent(rng, 10),
        .is_drained = rng_percent(rng, 10),
        .drain = (uint64_t)rng_below(rng, 5),
        .registered_ms = rng_below(rng, INT64_C(2000000000000)),
        .changed_ms = rng_below(rng, INT64_C(2000000000000)),
        .judged_ms = rng_below(rng, 2),
        .reason = draw_text(rng),
        .hosts = hosts,
        .n_hosts = (int)rng_below(rng, HOSTS + 1),
        .resources = resources,
        .n_resources = (int)rng_below(rng, 4),
    };
    for (int i = 0; i < lease->n_hosts; i++) {
        draw_host(rng, arena, &hosts[i], i);
    }
    for (int i = 0; i < lease->n_resources; i++) {
        resources[i] = (struct lease_resource){
            .name = arena_printf(arena, "licence%d", i),
            .pool = (int)rng_below(rng, 3),
            .n_instances = (int)rng_below(rng, 100),
            .traits = (int)rng_below(rng, 16),
            .hosts = rng_percent(rng, 50) ? "" : "n0 n1 n2",
        };
    }
}

static void draw_history(struct rng *rng, struct arena *arena, struct row_history *row)
{
    bool is_of_lease = rng_percent(rng, 70);
    *row = (struct row_history){
        .at_ms = rng_below(rng, INT64_C(2000000000000)),
        .lease = is_of_lease ? arena_printf(arena, "north/%d/south",
                                            (int)rng_below(rng, LEASES))
                             : "",
        .site = is_of_lease ? NULL : "north",
        .event = is_of_lease ? HISTORY_ACTIVE : HISTORY_SITE_LOST,
        .state = is_of_lease ? "active" : "",
        .epoch = (uint64_t)rng_below(rng, 1000),
        .provider_available = (int)rng_below(rng, 1000),
        .consumer_used = (int)rng_below(rng, 1000),
        .reason = draw_text(rng),
    };
}

/* A node's row names its pool, which must be there. */
static void draw_kept(struct rng *rng, struct arena *arena, struct row *row)
{
    row->kind = ROW_KEPT;
    row->kept = (struct row_kept){
        .pool = "p0",
        .node = arena_printf(arena, "eng/%d", (int)rng_below(rng, 4)),
        .slots = rng_below(rng, 100),
        .is_gone = rng_percent(rng, 30),
    };
}

static void draw_small(struct rng *rng, struct arena *arena, struct row *row)
{
    if (row->kind == ROW_COUNTER) {
        row->counter.name = rng_percent(rng, 50) ? "freeze" : "order";
        row->counter.value = rng_next(rng) >> 1;
    } else if (row->kind == ROW_OVERRIDE) {
        row->override.scope = (enum reclaim_scope)rng_below(rng, 3);
        row->override.name = row->override.scope == RECLAIM_ALL ? "" : draw_text(rng);
        row->override.delay_ms = rng_below(rng, 100000) - 30000; /* < 0: gone */
    } else if (row->kind == ROW_SITE) {
        row->site.name = rng_percent(rng, 50) ? "north" : "south";
        row->site.is_lost = rng_percent(rng, 50);
        row->site.is_drained = rng_percent(rng, 50);
        row->site.since_ms = rng_below(rng, 100000);
        row->site.silent_ms = rng_below(rng, 3);
        row->site.mark.commits = rng_next(rng) >> 30;
        row->site.mark.job = rng_next(rng) >> 50;
    } else {
        row->pool.name = arena_printf(arena, "p%d", (int)rng_below(rng, 2));
        row->pool.window = rng_percent(rng, 50) ? "" : "night";
        row->pool.slots = rng_below(rng, 1000);
        row->pool.is_gone = rng_percent(rng, 20) && row->pool.name[1] != '0';
    }
}

static void draw_row(struct rng *rng, struct arena *arena, struct row *row)
{
    static const enum row_kind small[] = {ROW_COUNTER, ROW_OVERRIDE, ROW_SITE,
                                          ROW_POOL};
    *row = (struct row){0};
    if (rng_percent(rng, 40)) {
        row->kind = ROW_LEASE;
        draw_lease(rng, arena, &row->lease);
    } else if (rng_percent(rng, 50)) {
        row->kind = ROW_HISTORY;
        draw_history(rng, arena, &row->history);
    } else if (rng_percent(rng, 20)) {
        draw_kept(rng, arena, row);
    } else {
        row->kind = small[rng_below(rng, 4)];
        draw_small(rng, arena, row);
    }
}

static void put_samples(struct rng *rng, struct store *a, struct store *b, int turn)
{
    struct err err = {0};
    int64_t numbers[STORE_SERIES_SITE_NUMBERS];
    for (int i = 0; i < STORE_SERIES_SITE_NUMBERS; i++) {
        numbers[i] = rng_below(rng, 1000);
    }
    enum store_series_kind kind = (enum store_series_kind)(turn % STORE_SERIES_KINDS);
    const char *name = kind == STORE_SERIES_ALL ? "" : "north";
    int64_t at_ms = INT64_C(1000000000) + turn * INT64_C(1800000);
    must(store_series_put(a, kind, name, at_ms, numbers, &err), &err);
    must(store_series_put(b, kind, name, at_ms, numbers, &err), &err);
    must(store_series_forget(a, at_ms, &err), &err);
    must(store_series_forget(b, at_ms, &err), &err);
}

static void play(struct fixture *fixture, uint64_t seed)
{
    struct err err = {0};
    struct rng rng;
    struct arena arena;
    rng_init(&rng, seed);
    arena_init(&arena);
    for (int batch = 0; batch < BATCHES; batch++) {
        struct row pool = {.kind = ROW_POOL, .pool = {.name = "p0", .window = ""}};
        must(store_begin(fixture->file, &err), &err);
        must(store_begin(fixture->database, &err), &err);
        must(store_write(fixture->file, &pool, &err), &err);
        must(store_write(fixture->database, &pool, &err), &err);
        for (int i = 0; i < ROWS_PER_BATCH; i++) {
            struct row row;
            draw_row(&rng, &arena, &row);
            must(store_write(fixture->file, &row, &err), &err);
            must(store_write(fixture->database, &row, &err), &err);
        }
        put_samples(&rng, fixture->file, fixture->database, batch);
        must(store_commit(fixture->file, &err), &err);
        must(store_commit(fixture->database, &err), &err);
        arena_clear(&arena);
    }
    arena_release(&arena);
}

/* ---------------------------------------------------------------- comparison */

struct rows {
    struct arena arena;
    struct row rows[ROWS_MAX];
    int count;
};

static void add_row(void *arg, const struct row *row)
{
    struct rows *rows = arg;
    assert_true(rows->count < ROWS_MAX);
    row_copy(&rows->arena, row, &rows->rows[rows->count++]);
}

static void load_rows(struct store *store, struct rows *rows)
{
    struct err err = {0};
    rows->count = 0;
    arena_init(&rows->arena);
    must(store_load(store, add_row, rows, &err), &err);
}

static void check_same_rows(struct store *a, struct store *b)
{
    static struct rows of_a, of_b;
    load_rows(a, &of_a);
    load_rows(b, &of_b);
    assert_int_equal(of_a.count, of_b.count);
    assert_true(of_a.count > LEASES);
    for (int i = 0; i < of_a.count; i++) {
        const struct row *x = &of_a.rows[i], *y = &of_b.rows[i];
        char key[ROW_KEY_SIZE];
        row_key(x, key);
        if (x->kind != y->kind || !record_is_same(schema_row_kinds[x->kind],
                                                  row_record_of(x), row_record_of(y))) {
            fail_msg("row %d (%s %s) differs", i, schema_row_kinds[x->kind]->name,
                     key + ROW_KEY_KIND);
        }
    }
    arena_release(&of_a.arena);
    arena_release(&of_b.arena);
}

/* The JSON of an answer, or the error. */
static char *ask_history(struct store *store, const struct msg_query *query)
{
    struct err err = {0};
    struct arena arena;
    struct value *value = NULL;
    const char *next = "";
    char *answer, *json = NULL;
    arena_init(&arena);
    must(store_history_read(store, query, &arena, &value, &next, &err), &err);
    json = json_render(value);
    assert_true(asprintf(&answer, "%s next %s", json, next) > 0);
    free(json);
    arena_release(&arena);
    return answer;
}

static void check_same_history(struct store *a, struct store *b)
{
    static const struct msg_query queries[] = {
        {.kind = QUERY_EVENTS, .name = "", .after = ""},
        {.kind = QUERY_EVENTS, .name = "", .after = "100", .limit = 7},
        {.kind = QUERY_EVENTS, .name = "", .after = "", .last = 5},
        {.kind = QUERY_LEASE_HISTORY, .name = "", .after = "3"},
        {.kind = QUERY_LEASE_HISTORY, .name = "north/1/south", .after = ""},
        {.kind = QUERY_LEASE_HISTORY, .name = "north/1/south", .after = "", .last = 2},
        {.kind = QUERY_LEASE_HISTORY, .name = "no/1/such", .after = ""},
    };
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        char *of_a = ask_history(a, &queries[i]), *of_b = ask_history(b, &queries[i]);
        assert_string_equal(of_a, of_b);
        free(of_a);
        free(of_b);
    }
    struct err err = {0};
    int64_t last_a = -1, last_b = -2;
    must(store_history_last(a, &last_a, &err), &err);
    must(store_history_last(b, &last_b, &err), &err);
    assert_int_equal(last_a, last_b);
    assert_true(last_a > BATCHES);
}

static char *ask_series(struct store *store, const struct store_series_ask *ask)
{
    struct err err = {0};
    struct arena arena;
    struct value *value = NULL;
    arena_init(&arena);
    int rc = store_series_read(store, ask, &arena, &value, &err);
    char *answer = rc == 0 ? json_render(value) : strdup(err.text);
    arena_release(&arena);
    return answer;
}

static void check_same_series(struct store *a, struct store *b)
{
    for (int kind = 0; kind < STORE_SERIES_KINDS; kind++) {
        for (int64_t to_ms = INT64_C(1090000000); to_ms < INT64_C(90000000000);
             to_ms *= 9) {
            const struct store_series_ask ask = {
                .kind = (enum store_series_kind)kind,
                .name = kind == STORE_SERIES_ALL ? "" : "north",
                .from_ms = INT64_C(1020000000),
                .to_ms = to_ms,
            };
            char *of_a = ask_series(a, &ask), *of_b = ask_series(b, &ask);
            assert_string_equal(of_a, of_b);
            assert_non_null(strstr(of_a, "\"at\""));
            free(of_a);
            free(of_b);
        }
    }
    const struct store_series_ask none = {.kind = STORE_SERIES_SITE, .name = "nobody"};
    char *answer = ask_series(b, &none);
    assert_string_equal(answer, "site \"nobody\": no sample was taken");
    free(answer);
}

static void check_same(struct store *a, struct store *b)
{
    check_same_rows(a, b);
    check_same_history(a, b);
    check_same_series(a, b);
}

/* ---------------------------------------------------------------- tests */

static void test_the_same_rows_are_in_both(void **state)
{
    need_server();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture *fixture = *state;
        play(fixture, seed);
        check_same(fixture->file, fixture->database);
        /* And after both are opened again. */
        store_close(fixture->file);
        store_close(fixture->database);
        fixture->file = open_store(fixture->path);
        fixture->database = open_store(server.url);
        check_same(fixture->file, fixture->database);
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
    play(fixture, 11);
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
    check_same(fixture->file, fixture->database);
    struct store *copy = open_store(back);
    check_same(fixture->file, copy);
    /* What is written next is behind what was copied. */
    play(fixture, 12);
    check_same(fixture->file, fixture->database);
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
    play(fixture, 13);
    postgres_fixture_clear(&server);
    store_close(open_store(server.url));
    must(store_transfer_begin(server.url, store_db(fixture->file), true, &transfer,
                              &err),
         &err);
    while ((rc = store_transfer_step(transfer, 10, &err)) > 0) {
    }
    must(rc, &err);
    must(store_transfer_check(transfer, &n_rows, &err), &err);
    assert_true(n_rows > BATCHES);
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
    play(fixture, 14);
    snprintf(path, sizeof(path), "%s/snapshot.db", fixture->directory);
    must(store_copy_begin(fixture->database, server.url, path, &copy, &err), &err);
    /* What is written meanwhile does not disturb it. */
    play(fixture, 15);
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
    static struct rows rows;
    must(store_begin(fixture->database, &err), &err);
    must(store_write(fixture->database, &good, &err), &err);
    must(store_write(fixture->database, &bad, &err), &err);
    assert_int_equal(store_commit(fixture->database, &err), ERR_IO);
    assert_non_null(strstr(err.text, "site_since_ms_check"));
    load_rows(fixture->database, &rows);
    assert_int_equal(rows.count, 0);
    arena_release(&rows.arena);

    must(store_begin(fixture->database, &err), &err);
    must(store_write(fixture->database, &good, &err), &err);
    must(store_commit(fixture->database, &err), &err);
    load_rows(fixture->database, &rows);
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
    postgres_fixture_run(&server, "UPDATE schema_version SET number = 9999");
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
    static struct rows rows;
    load_rows(store, &rows);
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
