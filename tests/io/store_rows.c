/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.c: see store_rows.h. */
#include "tests/io/store_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/record.h"
#include "sys/json.h"

enum { ROWS_PER_BATCH = 12, LEASES = 9, HOSTS = 6 };
/* One batch has more events than one statement writes (PG_BATCH_ROWS). */
enum { LARGE_BATCH = 7, ROWS_OF_LARGE = 4000 };

static void must(int rc, const struct err *err)
{
    if (rc < 0) {
        fail_msg("%s", err->text);
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

static void draw_hours(struct rng *rng, struct arena *arena, struct row *row)
{
    bool is_node = rng_percent(rng, 50);
    row->kind = ROW_HOURS;
    row->hours = (struct row_hours){
        .pool = is_node || rng_percent(rng, 50) ? "p" : "",
        .name = arena_printf(arena, is_node ? "/eng/%d" : "n/1/s:/eng/%d",
                             (int)rng_below(rng, 4)),
        .since_ms = is_node ? 0 : rng_below(rng, 3),
        .month_ms = is_node ? 0 : rng_below(rng, 3),
        .used_ms = rng_below(rng, 1000000),
        .level = (int)rng_below(rng, 3),
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
        if (rng_percent(rng, 30)) {
            row->lease.keeps_lists = true;
            row->lease.n_hosts = row->lease.n_resources = 0;
        }
    } else if (rng_percent(rng, 50)) {
        row->kind = ROW_HISTORY;
        draw_history(rng, arena, &row->history);
    } else if (rng_percent(rng, 20)) {
        draw_kept(rng, arena, row);
    } else if (rng_percent(rng, 20)) {
        draw_hours(rng, arena, row);
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
    /* Three in ten minutes: a day later the second one is thinned out. */
    for (int i = 0; i < 3; i++, at_ms += INT64_C(60000)) {
        must(store_series_put(a, kind, name, at_ms, numbers, &err), &err);
        must(store_series_put(b, kind, name, at_ms, numbers, &err), &err);
    }
    must(store_series_forget(a, at_ms, &err), &err);
    must(store_series_forget(b, at_ms, &err), &err);
}

void store_rows_play(struct store *a, struct store *b, uint64_t seed)
{
    struct err err = {0};
    struct rng rng;
    struct arena arena;
    rng_init(&rng, seed);
    arena_init(&arena);
    for (int batch = 0; batch < STORE_ROWS_BATCHES; batch++) {
        struct row pool = {.kind = ROW_POOL, .pool = {.name = "p0", .window = ""}};
        must(store_begin(a, &err), &err);
        must(store_begin(b, &err), &err);
        must(store_write(a, &pool, &err), &err);
        must(store_write(b, &pool, &err), &err);
        for (int i = 0; i < (batch == LARGE_BATCH ? ROWS_OF_LARGE : ROWS_PER_BATCH);
             i++) {
            struct row row;
            draw_row(&rng, &arena, &row);
            must(store_write(a, &row, &err), &err);
            must(store_write(b, &row, &err), &err);
        }
        put_samples(&rng, a, b, batch);
        must(store_commit(a, &err), &err);
        must(store_commit(b, &err), &err);
        arena_clear(&arena);
    }
    arena_release(&arena);
}

/* ---------------------------------------------------------------- comparison */

static void add_row(void *arg, const struct row *row)
{
    struct store_rows *rows = arg;
    assert_true(rows->count < STORE_ROWS_MAX);
    row_copy(&rows->arena, row, &rows->rows[rows->count++]);
}

void store_rows_load(struct store *store, struct store_rows *rows)
{
    struct err err = {0};
    rows->count = 0;
    arena_init(&rows->arena);
    must(store_load(store, add_row, rows, &err), &err);
}

static void check_same_rows(struct store *a, struct store *b)
{
    static struct store_rows of_a, of_b;
    store_rows_load(a, &of_a);
    store_rows_load(b, &of_b);
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
    assert_true(last_a > STORE_ROWS_BATCHES);
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
                .from_ms = INT64_C(1000000000),
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

void store_rows_check_same(struct store *a, struct store *b)
{
    check_same_rows(a, b);
    check_same_history(a, b);
    check_same_series(a, b);
}
