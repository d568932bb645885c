/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_view.c: what a query shows, and that no page outgrows a frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/value.h"
#include "sys/json.h"
#include "tests/unit/broker/stage.h"

static const struct peer anyone = {.kind = PEER_CLIENT, .name = "ops", .link = 9};
static struct stage stage;

static int open_stage(void **state)
{
    stage_open(&stage);
    stage_hello(&stage, "north", 1);
    stage_hello(&stage, "south", 1);
    return 0;
}

static int close_stage(void **state)
{
    stage_close(&stage);
    return 0;
}

static void say_lease(const char *id, bool is_made, const struct host_split *hosts,
                      int n_hosts, const char *reason)
{
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = id,
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .is_made = is_made,
                                   .hosts = hosts,
                                   .n_hosts = n_hosts,
                                   .reason = reason};
    stage_say(&stage, "north", 1, &msg);
}

static const struct msg_reply *ask(enum query_kind kind, const char *name,
                                   const char *after, int limit, bool with_ended)
{
    struct msg msg = {.kind = MSG_QUERY, .site = ""};
    msg.query = (struct msg_query){.request = 5,
                                   .kind = kind,
                                   .name = name,
                                   .user = "",
                                   .queue = "",
                                   .host = "",
                                   .after = after,
                                   .limit = limit,
                                   .with_ended = with_ended};
    stage_say_as(&stage, &anyone, &msg);
    const struct msg *reply = stage_sent(&stage, "ops", MSG_REPLY, 0);
    assert_non_null(reply);
    assert_int_equal(reply->reply.request, 5);
    return &reply->reply;
}

static const struct value *at(const struct value *array, int index)
{
    const struct value *item = array->first;
    while (index-- > 0 && item != NULL) {
        item = item->next;
    }
    assert_non_null(item);
    return item;
}

static const struct value *rows_of(const struct msg_reply *reply, const char *name)
{
    assert_int_equal(reply->code, 0);
    assert_int_equal(value_find(reply->value, "schema_version")->number, 1);
    const struct value *rows = value_find(reply->value, name);
    assert_non_null(rows);
    return rows;
}

static void expect_text(const struct value *row, const char *path, const char *text)
{
    const struct value *value = value_find(row, path);
    assert_non_null(value);
    assert_string_equal(value->text, text);
}

static void expect_int(const struct value *row, const char *path, int64_t number)
{
    const struct value *value = value_find(row, path);
    if (value == NULL || value->kind != VALUE_INT || value->number != number) {
        fail_msg("%s: %lld", path, value != NULL ? (long long)value->number : -1);
    }
}

static void a_lease_has_the_fields_of_the_interface(void **state)
{
    const struct host_split hosts[] = {{"n1", 4, 3, 1, 2, 1, false, {{0}}},
                                       {"n2", 4, 4, 0, 3, 0, true, {{0}}}};
    say_lease("north/spare/south", true, hosts, 2, "");
    const struct value *row =
        at(rows_of(ask(QUERY_LEASES, "", "", 0, false), "leases"), 0);
    expect_text(row, "id", "north/spare/south");
    expect_text(row, "policy", "spare");
    expect_text(row, "type", "shared");
    expect_text(row, "state", "active");
    expect_text(row, "status", "ok");
    expect_int(row, "epoch", 1);
    expect_text(row, "provider.site", "north");
    expect_text(row, "consumer.site", "south");
    expect_int(row, "provider.available", 3 + 3); /* what is used on the host down */
    expect_int(row, "provider.used", 5);
    expect_int(row, "consumer.available", 1);
    expect_int(row, "consumer.used", 1);
    expect_int(row, "reclaim_delay_s", 60);
    expect_text(row, "made_at", "1970-01-01T00:16:40.000Z");
    expect_text(row, "changed_at", "1970-01-01T00:16:40.000Z");
    expect_text(row, "next_rebalance_at", "1970-01-01T00:17:40.000Z");
    expect_text(row, "reason", "the consumer's first job was scheduled onto it");
    const struct value *list = value_find(row, "hosts");
    assert_int_equal(list->count, 2);
    expect_text(at(list, 1), "host", "n2");
    expect_int(at(list, 1), "slots", 4);
    expect_int(at(list, 1), "provider.available", 3);
    expect_int(at(list, 1), "provider.used", 3);
    expect_int(at(list, 0), "consumer.available", 1);
}

static int count_leases(const char *provider, const char *consumer, int states)
{
    struct msg_query query = {.kind = QUERY_LEASES,
                              .name = "",
                              .after = "",
                              .provider = provider,
                              .consumer = consumer,
                              .states = states};
    struct arena arena;
    const char *next;
    arena_init(&arena);
    int count =
        value_find(broker_view(stage.broker, &arena, &query, 0, &next), "leases")
            ->count;
    arena_release(&arena);
    return count;
}

static void leases_are_filtered_by_site_and_state(void **state)
{
    const struct host_split hosts[] = {{"n1", 4, 3, 1, 0, 0, false, {{0}}}};
    say_lease("north/a/south", true, hosts, 1, "");
    say_lease("north/b/south", false, hosts, 1, "");
    assert_int_equal(count_leases("", "", 0), 2);
    assert_int_equal(count_leases("north", "south", 0), 2);
    assert_int_equal(count_leases("south", "", 0), 0);
    assert_int_equal(count_leases("", "north", 0), 0);
    assert_int_equal(count_leases("", "", 1 << LEASE_PENDING), 1);
    assert_int_equal(count_leases("", "", 1 << LEASE_ACTIVE | 1 << LEASE_PENDING), 2);
    assert_int_equal(count_leases("", "", 1 << LEASE_ENDED), 0);
}

static void status_is_lsfs(void **state)
{
    say_lease("north/1/south", false, NULL, 0, "");
    say_lease("north/2/south", true, NULL, 0, "");
    say_lease("north/3/west", true, NULL, 0, "");
    const struct value *rows = rows_of(ask(QUERY_LEASES, "", "", 0, false), "leases");
    expect_text(at(rows, 0), "status", "conn"); /* pending */
    assert_int_equal(value_find(at(rows, 0), "next_rebalance_at")->kind, VALUE_NULL);
    expect_text(at(rows, 1), "status", "ok");
    expect_text(at(rows, 2), "status", "disc"); /* west is away */
    assert_int_equal(value_find(at(rows, 2), "next_rebalance_at")->kind, VALUE_NULL);
}

static void ended_leases_are_shown_when_asked_for(void **state)
{
    struct msg gone = {.kind = MSG_STATE};
    gone.state.lease = "north/1/south";
    gone.state.reason = "";
    say_lease("north/1/south", true, NULL, 0, "");
    stage_say(&stage, "north", 1, &gone);
    assert_int_equal(rows_of(ask(QUERY_LEASES, "", "", 0, false), "leases")->count, 0);
    assert_int_equal(rows_of(ask(QUERY_LEASES, "", "", 0, true), "leases")->count, 1);
    const struct value *rows =
        rows_of(ask(QUERY_LEASES, "north/1/south", "", 0, false), "leases");
    expect_text(at(rows, 0), "state", "ended");
}

static void what_does_not_exist_is_named(void **state)
{
    assert_int_equal(ask(QUERY_LEASES, "north/9/south", "", 0, false)->code,
                     ERR_NOT_FOUND);
    assert_non_null(strstr(ask(QUERY_LEASES, "north/9/south", "", 0, false)->text,
                           "north/9/south"));
    assert_int_equal(ask(QUERY_SITES, "nobody", "", 0, false)->code, ERR_NOT_FOUND);
    assert_int_equal(ask(QUERY_RECLAIM, "nobody", "", 0, false)->code, ERR_NOT_FOUND);
    assert_int_equal(ask(QUERY_JOBS, "", "", 0, false)->code, ERR_NOT_FOUND);
}

/* What the row would take as compact JSON at least. */
static size_t bytes_of(const struct value *value)
{
    char number[32];
    size_t bytes = value->key != NULL ? strlen(value->key) + 4 : 1;
    if (value->kind == VALUE_TEXT) {
        bytes += strlen(value->text) + 2;
    } else if (value->kind == VALUE_INT) {
        bytes +=
            (size_t)snprintf(number, sizeof(number), "%lld", (long long)value->number);
    } else {
        bytes += 5;
    }
    for (const struct value *child = value->first; child != NULL; child = child->next) {
        bytes += bytes_of(child);
    }
    return bytes;
}

/* Reads all pages; returns how many rows, and checks each page's size. */
static int read_pages(enum query_kind kind, const char *name, int limit)
{
    char after[LEASE_ID_SIZE] = "";
    int n_rows = 0;
    for (int page = 0; page < 1000; page++) {
        const struct msg_reply *reply = ask(kind, "", after, limit, false);
        const struct value *rows = rows_of(reply, name);
        n_rows += rows->count;
        assert_true(rows->count <= PAGE_ROWS_MAX &&
                    (limit == 0 || rows->count <= limit));
        assert_in_range(bytes_of(reply->value), 1, FRAME_MAX * 9 / 10);
        if (reply->next[0] == '\0') {
            return n_rows;
        }
        assert_true(rows->count > 0);
        snprintf(after, sizeof(after), "%s", reply->next);
    }
    fail_msg("pages without end");
    return -1;
}

static void pages_are_bounded_and_whole(void **state)
{
    enum { N_LEASES = 700, N_HOSTS = 20 };
    struct host_split hosts[N_HOSTS];
    char names[N_HOSTS][HOST_NAME_SIZE], id[LEASE_ID_SIZE], reason[REASON_SIZE];
    stage.max_leases = N_LEASES;
    stage_reload(&stage, NULL);
    memset(reason, 'r', sizeof(reason));
    reason[REASON_SIZE - 1] = '\0';
    for (int i = 0; i < N_HOSTS; i++) {
        snprintf(names[i], sizeof(names[i]), "%0*d", HOST_NAME_SIZE - 1, i);
        hosts[i] = (struct host_split){names[i],  SLOTS_MAX, SLOTS_MAX, 0,
                                       SLOTS_MAX, 0,         false,     {{0}}};
    }
    for (int i = 0; i < N_LEASES; i++) {
        snprintf(id, sizeof(id), "north/%0*d/south", NAME_SIZE - 1, i);
        say_lease(id, true, hosts, i % 3 == 0 ? N_HOSTS : 0, reason);
    }
    assert_int_equal(read_pages(QUERY_LEASES, "leases", 0), N_LEASES);
    assert_int_equal(read_pages(QUERY_LEASES, "leases", 7), N_LEASES);
    /* for all, for north, for each lease */
    assert_int_equal(read_pages(QUERY_RECLAIM, "reclaim_delay", 0), 2 + N_LEASES);
    assert_int_equal(read_pages(QUERY_RECLAIM, "reclaim_delay", 1), 2 + N_LEASES);
    assert_int_equal(read_pages(QUERY_SITES, "sites", 1), 3);
}

static void a_lease_too_large_for_a_page_shows_its_first_hosts(void **state)
{
    struct host_split *hosts = calloc(HOSTS_MAX, sizeof(*hosts));
    char(*names)[16] = calloc(HOSTS_MAX, sizeof(*names));
    for (int i = 0; i < HOSTS_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        hosts[i] = (struct host_split){names[i], 1, 1, 0, 0, 0, false, {{0}}};
    }
    say_lease("north/1/south", true, hosts, HOSTS_MAX, "");
    say_lease("north/2/south", true, hosts, 1, "");
    assert_int_equal(read_pages(QUERY_LEASES, "leases", 0), 2);
    const struct value *row =
        at(rows_of(ask(QUERY_LEASES, "", "", 0, false), "leases"), 0);
    expect_int(row, "n_hosts", HOSTS_MAX);
    assert_in_range(value_find(row, "hosts")->count, 100, HOSTS_MAX - 1);
    expect_int(row, "provider.available", HOSTS_MAX); /* the sum is of all of them */
    free(names);
    free(hosts);
}

/* 100 resources, each seen from 400 of 600 hosts: the STATE fits a message, and so does
 * the page. */
static void a_lease_with_many_resources_fits_a_page(void **state)
{
    enum { N_HOSTS = 600, N_SEEN = 400, N_RESOURCES = LEASE_RESOURCES_MAX };
    static struct host_split hosts[N_HOSTS];
    static char names[N_HOSTS][8], seen[N_SEEN * 8], resource_names[N_RESOURCES][8];
    static struct lease_resource resources[N_RESOURCES];
    seen[0] = '\0';
    for (int i = 0; i < N_HOSTS; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        hosts[i] = (struct host_split){.host = names[i], .n_slots = 1, .provider = 1};
        if (i < N_SEEN) {
            snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s%s",
                     i > 0 ? " " : "", names[i]);
        }
    }
    for (int i = 0; i < N_RESOURCES; i++) {
        snprintf(resource_names[i], sizeof(resource_names[i]), "lic%d", i);
        resources[i] = (struct lease_resource){
            .name = resource_names[i], .n_instances = 1, .hosts = seen};
    }
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = "north/1/south",
                                   .epoch = 1,
                                   .hosts = hosts,
                                   .n_hosts = N_HOSTS,
                                   .resources = resources,
                                   .n_resources = N_RESOURCES,
                                   .reason = ""};
    stage_say(&stage, "north", 1, &msg);
    assert_int_equal(stage_count_sent(&stage, "north", MSG_ERROR), 0);
    const struct value *row =
        at(rows_of(ask(QUERY_LEASES, "", "", 0, false), "leases"), 0);
    char *json = json_render(row);
    assert_in_range(strlen(json), FRAME_MAX / 4, FRAME_MAX - 4096);
    free(json);
    const struct value *shown = value_find(row, "resources");
    assert_int_equal(shown->count, N_RESOURCES);
    expect_int(at(shown, 0), "n_hosts", N_SEEN);
    assert_int_equal(value_find(at(shown, 0), "hosts")->count, N_SEEN);
    expect_int(at(shown, 99), "n_hosts", N_SEEN);
    assert_in_range(value_find(at(shown, 99), "hosts")->count, 0, N_SEEN - 1);
    expect_int(row, "n_hosts", N_HOSTS);
}

static void sites_tell_what_they_last_said(void **state)
{
    struct msg usage = {.kind = MSG_USAGE};
    usage.usage = (struct msg_usage){.seq = 1,
                                     .n_own = 8,
                                     .n_own_used = 5,
                                     .n_lent = 2,
                                     .n_borrowed = 1,
                                     .n_waiting = 3};
    stage_say(&stage, "north", 1, &usage);
    const struct value *rows = rows_of(ask(QUERY_SITES, "", "", 0, false), "sites");
    assert_int_equal(rows->count, 3); /* ops administrates only */
    expect_text(at(rows, 0), "site", "north");
    expect_text(at(rows, 0), "status", "ok");
    assert_string_equal(at(value_find(at(rows, 0), "roles"), 0)->text, "provider");
    expect_int(at(rows, 0), "slots.own", 8);
    expect_int(at(rows, 0), "slots.used", 5);
    expect_int(at(rows, 0), "slots.lent", 2);
    expect_int(at(rows, 0), "slots.borrowed", 1);
    expect_int(at(rows, 0), "pending", 3);
    expect_text(at(rows, 0), "since", "1970-01-01T00:16:40.000Z");
    expect_text(at(rows, 2), "status", "disc");
    assert_int_equal(value_find(at(rows, 2), "slots.own")->kind, VALUE_NULL);
}

static void delays_tell_where_they_come_from(void **state)
{
    struct msg set = {.kind = MSG_SET_RECLAIM, .site = ""};
    struct peer admin = anyone;
    admin.roles = ROLE_ADMIN;
    set.set_reclaim = (struct msg_set_reclaim){
        .scope = RECLAIM_LEASE, .name = "north/1/south", .delay_ms = 1500};
    say_lease("north/1/south", false, NULL, 0, "");
    stage_say_as(&stage, &admin, &set);
    const struct value *rows =
        rows_of(ask(QUERY_RECLAIM, "", "", 0, false), "reclaim_delay");
    assert_int_equal(rows->count, 3);
    expect_text(at(rows, 0), "scope", "all");
    expect_int(at(rows, 0), "delay_s", 600);
    expect_text(at(rows, 0), "source", "default");
    expect_text(at(rows, 1), "name", "north");
    expect_int(at(rows, 1), "delay_s", 60);
    expect_text(at(rows, 1), "source", "site");
    expect_text(at(rows, 2), "scope", "lease");
    expect_text(at(rows, 2), "source", "lease");
    assert_true(value_find(at(rows, 2), "delay_s")->real == 1.5);
    rows = rows_of(ask(QUERY_RECLAIM, "north/1/south", "", 0, false), "reclaim_delay");
    assert_int_equal(rows->count, 1);
}

static void history_is_the_stores_to_answer(void **state)
{
    struct msg msg = {.kind = MSG_QUERY, .session = 4, .site = ""};
    msg.query = (struct msg_query){.request = 8,
                                   .kind = QUERY_LEASE_HISTORY,
                                   .name = "north/1/south",
                                   .user = "",
                                   .queue = "",
                                   .host = "",
                                   .after = "17",
                                   .limit = 3};
    stage_say_as(&stage, &anyone, &msg);
    assert_null(stage_sent(&stage, "ops", MSG_REPLY, 0));
    assert_int_equal(stage.effects.items[0].kind, EFFECT_HISTORY);
    assert_int_equal(stage.effects.items[0].history.to.link, 9);
    assert_int_equal(stage.effects.items[0].history.session, 4);
    assert_string_equal(stage.effects.items[0].history.query.name, "north/1/south");
    assert_string_equal(stage.effects.items[0].history.query.after, "17");
    assert_int_equal(stage.effects.items[0].history.query.request, 8);
}

static void the_version_is_told(void **state)
{
    const struct msg_reply *reply = ask(QUERY_VERSION, "", "", 0, false);
    expect_text(reply->value, "version", BROKER_VERSION);
    expect_int(reply->value, "schema_version", 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lease_has_the_fields_of_the_interface),
        TEST(leases_are_filtered_by_site_and_state),
        TEST(status_is_lsfs),
        TEST(ended_leases_are_shown_when_asked_for),
        TEST(what_does_not_exist_is_named),
        TEST(pages_are_bounded_and_whole),
        TEST(a_lease_too_large_for_a_page_shows_its_first_hosts),
        TEST(a_lease_with_many_resources_fits_a_page),
        TEST(sites_tell_what_they_last_said),
        TEST(delays_tell_where_they_come_from),
        TEST(history_is_the_stores_to_answer),
        TEST(the_version_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
