/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_store.c: what the broker writes it finds again, in order; files that are
 * not its own, not whole or in use are refused; history comes in pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/word_hash.h"
#include "broker/io/store/store.h"
#include "broker/io/store/store_parts.h"
#include "sys/json.h"

/* ---------------------------------------------------------------- fixture */

struct fixture {
    char directory[64], path[96];
    struct store *store;
};

static void reopen(struct fixture *fixture)
{
    struct err err = {0};
    store_close(fixture->store);
    fixture->store = NULL;
    if (store_open(fixture->path, false, &fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-store-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/broker.db", fixture->directory);
    reopen(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-journal", "-shm", "-commit"};
    struct fixture *fixture = *state;
    store_close(fixture->store);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", fixture->path, suffixes[i]);
        unlink(path);
    }
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static void write_rows(struct fixture *fixture, const struct row *rows, size_t n_rows)
{
    struct err err = {0};
    int rc = store_begin(fixture->store, &err);
    for (size_t i = 0; i < n_rows && rc == 0; i++) {
        rc = store_write(fixture->store, &rows[i], &err);
    }
    if (rc < 0 || store_commit(fixture->store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* ---------------------------------------------------------------- rows as text */

struct transcript {
    char text[16384];
    size_t length;
};

static void add(struct transcript *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct transcript *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(to->text + to->length, sizeof(to->text) - to->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof(to->text) - to->length);
    to->length += (size_t)n;
}

static void add_lease(struct transcript *to, const struct row_lease *lease)
{
    add(to, "lease %s %s %s %s %s %s epoch %" PRIu64 " made %d withdrawn %d", lease->id,
        lease->provider, lease->policy, lease->consumer,
        msg_lease_type_name(lease->type), msg_lease_state_name(lease->state),
        lease->epoch, lease->is_made, lease->is_withdrawn);
    add(to, " at %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " \"%s\"\n",
        lease->registered_ms, lease->made_ms, lease->changed_ms, lease->judged_ms,
        lease->reason);
    if (lease->drain > 0) {
        add(to, "  ordered %d drained %d by %" PRIu64 "\n", lease->is_drain_ordered,
            lease->is_drained, lease->drain);
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct host_split *host = &lease->hosts[i];
        add(to, "  %s %d = %d + %d, used %d + %d, down %d\n", host->host, host->n_slots,
            host->provider, host->consumer, host->provider_used, host->consumer_used,
            host->is_down);
        for (int k = 0; k < SPACES; k++) {
            if (host->spaces[k].is_given) {
                add(to, "  space %d: %d\n", k, host->spaces[k].mib);
            }
        }
    }
    for (int i = 0; i < lease->n_resources; i++) {
        const struct lease_resource *resource = &lease->resources[i];
        add(to, "  %d of %s %d traits %d seen from \"%s\"\n", resource->n_instances,
            resource->name, resource->pool, resource->traits, resource->hosts);
    }
}

static void add_row(void *arg, const struct row *row)
{
    struct transcript *to = arg;
    if (row->kind == ROW_COUNTER) {
        add(to, "counter %s %" PRIu64 "\n", row->counter.name, row->counter.value);
    } else if (row->kind == ROW_OVERRIDE) {
        add(to, "override %d \"%s\" %" PRId64 "\n", row->override.scope,
            row->override.name, row->override.delay_ms);
    } else if (row->kind == ROW_LEASE) {
        add_lease(to, &row->lease);
    } else if (row->kind == ROW_SITE) {
        add(to, "site %s lost %d drained %d\n", row->site.name, row->site.is_lost,
            row->site.is_drained);
    } else if (row->kind == ROW_POOL) {
        add(to, "pool %s window \"%s\" slots %" PRId64 "\n", row->pool.name,
            row->pool.window, row->pool.slots);
    } else if (row->kind == ROW_KEPT) {
        add(to, "pool %s %s keeps %" PRId64 "\n", row->kept.pool, row->kept.node,
            row->kept.slots);
    } else if (row->kind == ROW_HOURS) {
        add(to, "hours %s:%s since %" PRId64 " month %" PRId64 ": %" PRId64,
            row->hours.pool, row->hours.name, row->hours.since_ms, row->hours.month_ms,
            row->hours.used_ms);
        add(to, " level %d\n", row->hours.level);
    } else {
        fail_msg("a row of kind %d", row->kind);
    }
}

static void assert_loads(struct fixture *fixture, const char *expected)
{
    struct transcript *loaded = mem_alloc(1, sizeof(*loaded));
    struct err err = {0};
    reopen(fixture);
    if (store_load(fixture->store, add_row, loaded, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(loaded->text, expected);
    free(loaded);
}

/* ---------------------------------------------------------------- rows */

static void test_an_empty_store_loads_nothing(void **state)
{
    assert_loads(*state, "");
}

static void test_counters_and_overrides(void **state)
{
    struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"session", 7}},
        {.kind = ROW_COUNTER, .counter = {"boot", 1}},
        {.kind = ROW_COUNTER, .counter = {"boot", INT64_MAX}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_PROVIDER, "north", 60000}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_LEASE, "north/1/south", 0}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_ALL, "", 300000}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_ALL, "", 5000}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_PROVIDER, "east", 1000}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_PROVIDER, "east", -1}},
        {.kind = ROW_OVERRIDE, .override = {RECLAIM_PROVIDER, "never there", -1}},
    };
    write_rows(*state, rows, sizeof(rows) / sizeof(rows[0]));
    assert_loads(*state, "counter boot 9223372036854775807\n"
                         "counter session 7\n"
                         "override 0 \"\" 5000\n"
                         "override 2 \"north/1/south\" 0\n"
                         "override 1 \"north\" 60000\n");
}

static void test_a_lease_keeps_its_hosts_in_order(void **state)
{
    struct host_split hosts[] = {
        {"n2", 4, 3, 1, 2, 1, false, {{0}}},
        {"n1", 8, 8, 0, 0, 0, true, {{0}}},
    };
    struct row row = {.kind = ROW_LEASE};
    row.lease = (struct row_lease){
        .id = "north/spare/south",
        .provider = "north",
        .policy = "spare",
        .consumer = "south",
        .type = LEASE_SHARED,
        .state = LEASE_INACTIVE,
        .epoch = 3,
        .is_made = true,
        .registered_ms = 1000,
        .made_ms = 2000,
        .changed_ms = 3000,
        .judged_ms = 4000,
        .reason = "5 idle of 8, \u2264 all; 'quoted'",
        .hosts = hosts,
        .n_hosts = 2,
    };
    write_rows(*state, &row, 1);
    assert_loads(*state,
                 "lease north/spare/south north spare south shared inactive epoch 3"
                 " made 1 withdrawn 0 at 1000 2000 3000 4000"
                 " \"5 idle of 8, \u2264 all; 'quoted'\"\n"
                 "  n2 4 = 3 + 1, used 2 + 1, down 0\n"
                 "  n1 8 = 8 + 0, used 0 + 0, down 1\n");
}

static void test_what_is_drained_stays_so(void **state)
{
    struct row rows[] = {
        {.kind = ROW_LEASE},
        {.kind = ROW_SITE, .site = {"north", true, false, 7}},
        {.kind = ROW_SITE, .site = {"south", false, true, 8, 9}},
    };
    rows[0].lease = (struct row_lease){.id = "north/1/south",
                                       .provider = "north",
                                       .policy = "1",
                                       .consumer = "south",
                                       .state = LEASE_ENDED,
                                       .is_drain_ordered = true,
                                       .is_drained = true,
                                       .drain = 3,
                                       .reason = ""};
    write_rows(*state, rows, 3);
    assert_loads(*state, "lease north/1/south north 1 south exclusive ended epoch 0"
                         " made 0 withdrawn 0 at 0 0 0 0 \"\"\n"
                         "  ordered 1 drained 1 by 3\n"
                         "site north lost 1 drained 0\n"
                         "site south lost 0 drained 1\n");
}

static void test_pools_and_what_their_nodes_keep(void **state)
{
    struct row rows[] = {
        {.kind = ROW_POOL, .pool = {"p", "", 7, false}},
        {.kind = ROW_POOL, .pool = {"p", "night", 8, false}},
        {.kind = ROW_POOL, .pool = {"old", "day", 2, false}},
        {.kind = ROW_KEPT, .kept = {"old", "/a", 1, false}},
        {.kind = ROW_KEPT, .kept = {"p", "/b/x", 0, false}},
        {.kind = ROW_KEPT, .kept = {"p", "/a", 4, false}},
        {.kind = ROW_KEPT, .kept = {"p", "/a", 3, false}},
        {.kind = ROW_KEPT, .kept = {"p", "/c", 5, false}},
        {.kind = ROW_KEPT, .kept = {"p", "/c", 0, true}},
        {.kind = ROW_KEPT, .kept = {"p", "/never", 0, true}},
        {.kind = ROW_POOL, .pool = {"old", "", 0, true}},
        {.kind = ROW_POOL, .pool = {"never", "", 0, true}},
    };
    write_rows(*state, rows, sizeof(rows) / sizeof(rows[0]));
    assert_loads(*state, "pool p window \"night\" slots 8\n"
                         "pool p /a keeps 3\n"
                         "pool p /b/x keeps 0\n");
}

static void test_hours(void **state)
{
    const char *a = "n/1/s:/a";
    struct row rows[] = {
        {.kind = ROW_HOURS, .hours = {"p", a, 5, 100, 7, 0, false}},
        {.kind = ROW_HOURS, .hours = {"p", a, 5, 100, 9, 0, false}}, /* grows */
        {.kind = ROW_HOURS, .hours = {"p", a, 6, 100, 3, 0, false}}, /* counted anew */
        {.kind = ROW_HOURS, .hours = {"p", a, 5, 200, 1, 0, false}}, /* a month later */
        {.kind = ROW_HOURS, .hours = {"p", "/a", 0, 0, 0, 1, false}},
        {.kind = ROW_HOURS, .hours = {"p", "/a", 0, 0, 0, 2, false}},
        {.kind = ROW_HOURS, .hours = {"p", "/b", 0, 0, 0, 2, false}},
        {.kind = ROW_HOURS, .hours = {"p", "/b", 0, 0, 0, 0, true}},
        {.kind = ROW_HOURS, .hours = {"", "n/2/s", 0, 0, 0, 1, false}},
        {.kind = ROW_HOURS, .hours = {"p", a, 6, 100, 0, 0, true}},
    };
    write_rows(*state, rows, sizeof(rows) / sizeof(rows[0]));
    assert_loads(*state, "hours :n/2/s since 0 month 0: 0 level 1\n"
                         "hours p:/a since 0 month 0: 0 level 2\n"
                         "hours p:n/1/s:/a since 5 month 100: 9 level 0\n"
                         "hours p:n/1/s:/a since 5 month 200: 1 level 0\n");
}

static struct row small_lease(const char *id, const struct host_split *hosts,
                              int n_hosts)
{
    struct row row = {.kind = ROW_LEASE};
    row.lease = (struct row_lease){
        .id = id,
        .provider = "north",
        .policy = "1",
        .consumer = "south",
        .reason = "",
        .hosts = hosts,
        .n_hosts = n_hosts,
    };
    return row;
}

static void test_a_lease_is_replaced_with_its_hosts(void **state)
{
    struct host_split before[] = {
        {.host = "n1", .n_slots = 4, .provider = 4},
        {.host = "n2", .n_slots = 4, .provider = 4},
        {.host = "n3", .n_slots = 4, .provider = 4},
    };
    struct host_split after[] = {
        {.host = "n1", .n_slots = 4, .consumer = 4},
        {.host = "n3", .n_slots = 4, .provider = 4},
    };
    struct row rows[] = {
        small_lease("north/1/south", before, 3),
        small_lease("north/1/east", before, 3),
        small_lease("north/1/south", after, 2),
        small_lease("north/1/east", NULL, 0),
    };
    write_rows(*state, rows, 2);
    write_rows(*state, rows + 2, 2);
    assert_loads(*state,
                 "lease north/1/east north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 0 \"\"\n"
                 "lease north/1/south north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 0 \"\"\n"
                 "  n1 4 = 0 + 4, used 0 + 0, down 0\n"
                 "  n3 4 = 4 + 0, used 0 + 0, down 0\n");
}

/* A lease that is judged and stays: its other columns are replaced. */
static void test_a_lease_may_keep_its_hosts(void **state)
{
    struct host_split hosts[] = {
        {.host = "n1", .n_slots = 4, .provider = 4},
        {.host = "n2", .n_slots = 2, .provider = 1, .consumer = 1},
    };
    struct row rows[] = {
        small_lease("north/1/south", hosts, 2),
        small_lease("north/1/south", NULL, 0),
        small_lease("north/1/south", hosts, 1),
    };
    rows[1].lease.judged_ms = 7000;
    rows[1].lease.keeps_lists = true;
    write_rows(*state, rows, 2);
    assert_loads(*state,
                 "lease north/1/south north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 7000 \"\"\n"
                 "  n1 4 = 4 + 0, used 0 + 0, down 0\n"
                 "  n2 2 = 1 + 1, used 0 + 0, down 0\n");
    write_rows(*state, rows + 2, 1);
    assert_loads(*state,
                 "lease north/1/south north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 0 \"\"\n"
                 "  n1 4 = 4 + 0, used 0 + 0, down 0\n");
}

static void test_what_a_lease_exports_besides_slots(void **state)
{
    struct host_split hosts[] = {
        {.host = "n1", .n_slots = 1, .provider = 1, .spaces = {{true, 25}, {true, 0}}},
        {.host = "n2", .n_slots = 1, .provider = 1, .spaces = {{false, 0}, {true, 9}}},
    };
    struct lease_resource resources[] = {
        {"lic", 1, 3, TRAIT_CONSUMABLE, ""},
        {"lic", 2, 1, TRAIT_CONSUMABLE, "n1 n2"},
    };
    struct row row = small_lease("north/1/south", hosts, 2);
    row.lease.resources = resources;
    row.lease.n_resources = 2;
    write_rows(*state, &row, 1);
    write_rows(*state, &row, 1);
    assert_loads(*state,
                 "lease north/1/south north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 0 \"\"\n"
                 "  n1 1 = 1 + 0, used 0 + 0, down 0\n"
                 "  space 0: 25\n  space 1: 0\n"
                 "  n2 1 = 1 + 0, used 0 + 0, down 0\n"
                 "  space 1: 9\n"
                 "  3 of lic 1 traits 2 seen from \"\"\n"
                 "  1 of lic 2 traits 2 seen from \"n1 n2\"\n");
    row.lease.n_resources = 0;
    hosts[0].spaces[SPACE_MEM].is_given = false;
    row.lease.n_hosts = 1;
    write_rows(*state, &row, 1);
    assert_loads(*state,
                 "lease north/1/south north 1 south exclusive pending epoch 0 made 0"
                 " withdrawn 0 at 0 0 0 0 \"\"\n"
                 "  n1 1 = 1 + 0, used 0 + 0, down 0\n"
                 "  space 1: 0\n");
}

static void test_every_state_and_type_comes_back(void **state)
{
    for (int lease_state = LEASE_PENDING; lease_state <= LEASE_ENDED; lease_state++) {
        for (int type = LEASE_EXCLUSIVE; type <= LEASE_SHARED; type++) {
            char expected[256];
            struct row row = small_lease("north/1/south", NULL, 0);
            row.lease.state = (enum lease_state)lease_state;
            row.lease.type = (enum lease_type)type;
            write_rows(*state, &row, 1);
            snprintf(
                expected, sizeof(expected),
                "lease north/1/south north 1 south %s %s epoch 0 made 0 withdrawn 0"
                " at 0 0 0 0 \"\"\n",
                msg_lease_type_name(row.lease.type),
                msg_lease_state_name(row.lease.state));
            assert_loads(*state, expected);
        }
    }
}

static void test_what_is_not_committed_is_not_there(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = {.kind = ROW_COUNTER, .counter = {"boot", 1}};
    assert_int_equal(store_begin(fixture->store, &err), 0);
    assert_int_equal(store_write(fixture->store, &row, &err), 0);
    assert_loads(fixture, "");
}

static void test_a_row_of_a_site_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = {.kind = ROW_HIGH, .high = {"south", 1}};
    assert_int_equal(store_begin(fixture->store, &err), 0);
    assert_int_equal(store_write(fixture->store, &row, &err), ERR_STATE);
}

static void test_what_the_schema_forbids_is_an_error_that_names_the_row(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct host_split host = {.host = "n1", .n_slots = -1};
    struct row row = small_lease("north/1/south", &host, 1);
    assert_int_equal(store_begin(fixture->store, &err), 0);
    assert_int_equal(store_write(fixture->store, &row, &err), ERR_IO);
    assert_non_null(strstr(err.text, "north/1/south"));
    assert_non_null(strstr(err.text, "n_slots"));
}

/* ---------------------------------------------------------------- history */

static void append_history(struct fixture *fixture, int n_rows, const char *reason)
{
    struct err err = {0};
    assert_int_equal(store_begin(fixture->store, &err), 0);
    for (int i = 0; i < n_rows; i++) {
        struct row row = {.kind = ROW_HISTORY};
        row.history = (struct row_history){
            .at_ms = 1700000000000 + i,
            .lease = i % 3 == 0 ? "north/2/south" : "north/1/south",
            .event = HISTORY_ACTIVE,
            .state = "active",
            .epoch = (uint64_t)i + 1,
            .provider_available = 1,
            .provider_used = 2,
            .consumer_available = 3,
            .consumer_used = 4,
            .reason = reason,
        };
        if (store_write(fixture->store, &row, &err) < 0) {
            fail_msg("%s", err.text);
        }
    }
    assert_int_equal(store_commit(fixture->store, &err), 0);
}

static int64_t ask_number(struct fixture *fixture, const char *sql)
{
    sqlite3_stmt *ask = NULL;
    assert_int_equal(
        sqlite3_prepare_v2(db_handle(store_db(fixture->store)), sql, -1, &ask, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(ask), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return number;
}

/* The oldest go when there are too many, and the ids go on. */
static void test_history_is_bounded(void **state)
{
    enum { OLD = 40, MORE = 600, EVERY = 256 };
    struct fixture *fixture = *state;
    append_history(fixture, OLD, "old");
    char sql[120];
    /* As if the rest of a million had been written since. */
    snprintf(sql, sizeof(sql), "UPDATE event SET id = id + %d WHERE id > %d",
             STORE_EVENTS_MAX - OLD / 2, OLD / 2);
    assert_int_equal(
        sqlite3_exec(db_handle(store_db(fixture->store)), sql, NULL, NULL, NULL),
        SQLITE_OK);
    append_history(fixture, MORE, "new");
    int64_t last = ask_number(fixture, "SELECT max(id) FROM event");
    int64_t first = ask_number(fixture, "SELECT min(id) FROM event");
    assert_int_equal(last, STORE_EVENTS_MAX + OLD / 2 + MORE);
    assert_in_range(last - first, 0, STORE_EVENTS_MAX + EVERY);
    assert_true(first > OLD / 2);
    assert_int_equal(
        ask_number(fixture, "SELECT count(*) FROM event WHERE reason = 'new'"), MORE);
}

static void test_history_shows_what_was_written(void **state)
{
    struct fixture *fixture = *state;
    struct msg_query query = {.name = "north/2/south", .after = ""};
    struct arena arena;
    struct value *value;
    const char *next;
    struct err err = {0};
    append_history(fixture, 1, "made by job 1");
    arena_init(&arena);
    assert_int_equal(
        store_history_read(fixture->store, &query, &arena, &value, &next, &err), 0);
    char *json = json_render(value);
    assert_string_equal(
        json, "{\"schema_version\":1,\"history\":[{\"seq\":1,"
              "\"at\":\"2023-11-14T22:13:20.000Z\",\"lease\":\"north/2/south\","
              "\"event\":\"active\",\"state\":\"active\",\"epoch\":1,"
              "\"provider\":{\"available\":1,\"used\":2},"
              "\"consumer\":{\"available\":3,\"used\":4},"
              "\"reason\":\"made by job 1\"}]}");
    assert_string_equal(next, "");
    free(json);
    arena_release(&arena);
}

/* Follows `next` from page to page; returns the pages, counts the rows, checks that
 * they come in order and each page fits a frame. */
static int walk_pages(struct fixture *fixture, const char *lease, int limit,
                      int *n_rows)
{
    char after[32] = "";
    int64_t last_seq = 0;
    int n_pages = 0;
    *n_rows = 0;
    do {
        struct msg_query query = {.name = lease, .after = after, .limit = limit};
        struct arena arena;
        struct value *value;
        const char *next;
        struct err err = {0};
        arena_init(&arena);
        if (store_history_read(fixture->store, &query, &arena, &value, &next, &err) <
            0) {
            fail_msg("%s", err.text);
        }
        const struct value *entries = value_find(value, "history");
        for (const struct value *at = entries->first; at != NULL; at = at->next) {
            int64_t seq = value_find(at, "seq")->number;
            assert_true(seq > last_seq);
            last_seq = seq;
        }
        char *json = json_render(value);
        assert_true(strlen(json) < FRAME_MAX);
        free(json);
        *n_rows += entries->count;
        n_pages++;
        snprintf(after, sizeof(after), "%s", next);
        arena_release(&arena);
    } while (after[0] != '\0');
    return n_pages;
}

static void test_history_pages(void **state)
{
    static const struct {
        const char *why, *lease;
        int limit, n_rows, n_pages;
    } cases[] = {
        {"all leases, pages as long as they may be", "", 0, 900, 4},
        {"one lease", "north/2/south", 0, 300, 2},
        {"a limit that divides the rows leaves no empty page", "north/2/south", 100,
         300, 3},
        {"a limit that does not", "north/2/south", 90, 300, 4},
        {"a lease that nothing happened to", "north/9/south", 0, 0, 1},
    };
    struct fixture *fixture = *state;
    append_history(fixture, 900, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n_rows;
        int n_pages = walk_pages(fixture, cases[i].lease, cases[i].limit, &n_rows);
        if (n_rows != cases[i].n_rows || n_pages > cases[i].n_pages) {
            fail_msg("%s: %d rows in %d pages, expected %d in %d", cases[i].why, n_rows,
                     n_pages, cases[i].n_rows, cases[i].n_pages);
        }
    }
}

/* Two names that have one place in the index of events (event_index.h). */
static void find_names_of_one_hash(char names[2][32])
{
    enum { NAMES = 1000000, PLACES = 1 << 20 };
    uint32_t *of_place = mem_alloc(PLACES, sizeof(*of_place));
    names[0][0] = '\0';
    for (uint32_t i = 1; i < NAMES && names[0][0] == '\0'; i++) {
        snprintf(names[1], sizeof(names[1]), "n%" PRIu32 "/0/s", i);
        uint32_t hash = (uint32_t)word_hash_text(0, names[1]);
        uint32_t *at = &of_place[hash % PLACES];
        snprintf(names[0], sizeof(names[0]), "n%" PRIu32 "/0/s", *at);
        if (*at == 0 || (uint32_t)word_hash_text(0, names[0]) != hash) {
            names[0][0] = '\0';
        }
        *at = i;
    }
    free(of_place);
    assert_true(names[0][0] != '\0');
}

/* NULL: of a site. */
static void append_event(struct fixture *fixture, const char *lease)
{
    struct err err = {0};
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){.at_ms = 1,
                                       .lease = lease != NULL ? lease : "",
                                       .site = lease != NULL ? "" : "s",
                                       .event = lease != NULL ? HISTORY_ACTIVE
                                                              : HISTORY_SITE_LOST,
                                       .state = lease != NULL ? "active" : "",
                                       .reason = ""};
    assert_int_equal(store_begin(fixture->store, &err), 0);
    assert_int_equal(store_write(fixture->store, &row, &err), 0);
    assert_int_equal(store_commit(fixture->store, &err), 0);
}

/* "3 5 7 " */
static const char *read_ids(struct fixture *fixture, const struct msg_query *query)
{
    static char text[256];
    struct arena arena;
    struct value *value;
    const char *next;
    struct err err = {0};
    arena_init(&arena);
    text[0] = '\0';
    assert_int_equal(
        store_history_read(fixture->store, query, &arena, &value, &next, &err), 0);
    const struct value *at = value_find(value, "history")->first;
    for (; at != NULL; at = at->next) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%" PRId64 " ",
                 value_find(at, "seq")->number);
    }
    arena_release(&arena);
    return text;
}

static void test_the_history_of_one_lease_is_its_own(void **state)
{
    struct fixture *fixture = *state;
    char names[2][32];
    find_names_of_one_hash(names);
    for (int i = 0; i < 9; i++) { /* ids 1 to 9 */
        append_event(fixture, i % 3 == 2 ? NULL : names[i % 3]);
    }
    for (int turn = 0; turn < 2; turn++, reopen(fixture)) {
        const struct msg_query all = {.name = names[0], .after = ""};
        assert_string_equal(read_ids(fixture, &all), "1 4 7 ");
        const struct msg_query behind = {.name = names[1], .after = "4"};
        assert_string_equal(read_ids(fixture, &behind), "5 8 ");
        const struct msg_query last = {.name = names[0], .after = "", .last = 2};
        assert_string_equal(read_ids(fixture, &last), "4 7 ");
        const struct msg_query last_behind = {
            .name = names[0], .after = "4", .last = 2};
        assert_string_equal(read_ids(fixture, &last_behind), "7 ");
        const struct msg_query more = {.name = names[1], .after = "", .last = 20};
        assert_string_equal(read_ids(fixture, &more), "2 5 8 ");
    }
}

static void test_a_page_of_long_reasons_fits_a_frame(void **state)
{
    char reason[REASON_SIZE];
    int n_rows;
    memset(reason, 1, sizeof(reason) - 1); /* six bytes each in JSON */
    reason[sizeof(reason) - 1] = '\0';
    append_history(*state, 700, reason);
    walk_pages(*state, "", 0, &n_rows);
    assert_int_equal(n_rows, 700);
}

static void test_a_page_behind_rubbish_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static const char *const rubbish[] = {"x", "1x", "-1"};
    for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
        struct msg_query query = {.name = "", .after = rubbish[i]};
        struct arena arena;
        struct value *value;
        const char *next;
        struct err err = {0};
        arena_init(&arena);
        assert_int_equal(
            store_history_read(fixture->store, &query, &arena, &value, &next, &err),
            ERR_PARSE);
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- other files */

static int try_open(struct fixture *fixture, struct err *err)
{
    struct store *other = NULL;
    int rc = store_open(fixture->path, false, &other, err);
    store_close(other);
    return rc;
}

static void run_sql(struct fixture *fixture, const char *sql)
{
    sqlite3 *handle;
    store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
    char commit[128]; /* has sums of the pages as they were */
    snprintf(commit, sizeof(commit), "%s-commit", fixture->path);
    unlink(commit);
}

static void test_a_newer_file_is_refused(void **state)
{
    struct err err = {0};
    run_sql(*state, "PRAGMA user_version = 99");
    assert_int_equal(try_open(*state, &err), ERR_VERSION);
}

static void test_a_file_of_another_program_is_refused(void **state)
{
    struct err err = {0};
    run_sql(*state, "PRAGMA application_id = 1");
    assert_true(try_open(*state, &err) < 0);
}

static void test_a_file_in_use_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    assert_int_equal(try_open(fixture, &err), ERR_EXISTS);
    assert_non_null(strstr(err.text, fixture->path));
}

static void overwrite(struct fixture *fixture, off_t offset, size_t n_bytes)
{
    char rubbish[4096];
    assert_true(n_bytes <= sizeof(rubbish));
    memset(rubbish, 0xa5, sizeof(rubbish));
    store_close(fixture->store);
    fixture->store = NULL;
    int fd = open(fixture->path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, rubbish, n_bytes, offset), (ssize_t)n_bytes);
    close(fd);
}

static void test_a_damaged_file_is_refused(void **state)
{
    static const struct {
        const char *why;
        off_t offset;
        size_t n_bytes;
    } cases[] = {
        {"a page of a table", 4096, 4096},
        {"the header", 0, 100},
    };
    struct fixture *fixture = *state;
    append_history(fixture, 500, "enough to have pages");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        overwrite(fixture, cases[i].offset, cases[i].n_bytes);
        int rc = try_open(fixture, &err);
        if (rc != ERR_IO || strstr(err.text, fixture->path) == NULL) {
            fail_msg("%s: code %d, \"%s\"", cases[i].why, rc, err.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_an_empty_store_loads_nothing),
        TEST(test_counters_and_overrides),
        TEST(test_what_is_drained_stays_so),
        TEST(test_pools_and_what_their_nodes_keep),
        TEST(test_hours),
        TEST(test_a_lease_keeps_its_hosts_in_order),
        TEST(test_a_lease_is_replaced_with_its_hosts),
        TEST(test_a_lease_may_keep_its_hosts),
        TEST(test_what_a_lease_exports_besides_slots),
        TEST(test_every_state_and_type_comes_back),
        TEST(test_what_is_not_committed_is_not_there),
        TEST(test_a_row_of_a_site_is_refused),
        TEST(test_what_the_schema_forbids_is_an_error_that_names_the_row),
        TEST(test_history_shows_what_was_written),
        TEST(test_history_pages),
        TEST(test_history_is_bounded),
        TEST(test_the_history_of_one_lease_is_its_own),
        TEST(test_a_page_of_long_reasons_fits_a_frame),
        TEST(test_a_page_behind_rubbish_is_refused),
        TEST(test_a_newer_file_is_refused),
        TEST(test_a_file_of_another_program_is_refused),
        TEST(test_a_file_in_use_is_refused),
        TEST(test_a_damaged_file_is_refused),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
