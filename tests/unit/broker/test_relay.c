/* SPDX-License-Identifier: Apache-2.0 */
/* test_relay.c: what is passed on between a lease's sites, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "base/err.h"
#include "tests/unit/broker/stage.h"

static struct stage stage;
static struct host_slots slots[] = {{"n1", 2}};

/* north lends to south; west borrows nothing. */
static int open_stage(void **state)
{
    struct host_split host = {.host = "n1", .n_slots = 4, .provider = 3, .consumer = 1};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = "north/1/south",
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .reason = ""};
    stage_open(&stage);
    stage_hello(&stage, "north", 1);
    stage_hello(&stage, "south", 2);
    stage_hello(&stage, "west", 3);
    stage_say(&stage, "north", 1, &msg);
    return 0;
}

static int close_stage(void **state)
{
    stage_close(&stage);
    return 0;
}

static struct msg about_run(enum msg_kind kind, const char *to, const char *run_site)
{
    struct msg msg = {.kind = kind, .site = to};
    msg.attempt.run = (struct run_id){.site = run_site, .attempt = 12};
    if (kind == MSG_START || kind == MSG_ATTEMPT_FOUND) {
        msg.start.lease = "north/1/south";
        msg.start.job = "7";
        msg.start.hosts = slots;
        msg.start.n_hosts = 1;
        msg.start.spec = (struct job_spec){.name = "a",
                                           .user = "ana",
                                           .queue = "q",
                                           .command = "true",
                                           .cwd = "",
                                           .in_file = "",
                                           .out_file = "",
                                           .err_file = "",
                                           .n_slots = 1};
    }
    if (kind == MSG_STREAM_UP) {
        msg.stream_up.job = msg.stream_up.note = "";
        msg.stream_up.bytes = (const uint8_t *)"";
    } else if (kind == MSG_STREAM_DOWN) {
        msg.stream_down.job = "";
        msg.stream_down.bytes = (const uint8_t *)"";
    }
    return msg;
}

static void each_kind_goes_one_way(void **state)
{
    static const struct {
        enum msg_kind kind;
        bool is_from_consumer;
    } rows[] = {
        {MSG_START, true},       {MSG_ATTEMPT_ASK, true},
        {MSG_ATTEMPT_ACK, true}, {MSG_ATTEMPT_CONTROL, true},
        {MSG_OUTPUT_ASK, true},  {MSG_ATTEMPT_STATE, false},
        {MSG_OUTPUT, false},     {MSG_STREAM_DOWN, true},
        {MSG_STREAM_UP, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *from = rows[i].is_from_consumer ? "south" : "north";
        const char *to = rows[i].is_from_consumer ? "north" : "south";
        uint64_t session = rows[i].is_from_consumer ? 2 : 1;
        struct msg msg = about_run(rows[i].kind, to, "south");
        stage_say(&stage, from, session, &msg);
        const struct msg *passed = stage_sent(&stage, to, rows[i].kind, 0);
        if (passed == NULL) {
            fail_msg("%s was not passed on", msg_kind_name(rows[i].kind));
        }
        assert_string_equal(passed->site, from);
        assert_int_equal(passed->session, 3 - session);
        assert_int_equal(passed->attempt.run.attempt, 12);
        /* The other way round it makes no sense. */
        msg.site = from;
        stage_say(&stage, to, 3 - session, &msg);
        assert_null(stage_sent(&stage, from, rows[i].kind, 0));
    }
}

static void what_is_not_the_pairs_own_is_refused(void **state)
{
    static const struct {
        const char *from;
        uint64_t session;
        enum msg_kind kind;
        const char *to, *run_site;
        int code;
        const char *why;
    } rows[] = {
        {"south", 2, MSG_START, "north", "west", ERR_DENIED, "another site's job"},
        {"west", 3, MSG_START, "north", "west", ERR_DENIED,
         "a lease that is not west's"},
        {"west", 3, MSG_ATTEMPT_ACK, "north", "south", ERR_DENIED, "in south's name"},
        {"north", 1, MSG_ATTEMPT_FOUND, "west", "west", ERR_DENIED,
         "lends west nothing"},
        {"north", 1, MSG_OUTPUT, "south", "west", ERR_DENIED, "not of south's job"},
        {"west", 3, MSG_STREAM_DOWN, "north", "south", ERR_DENIED, "south's terminal"},
        {"west", 3, MSG_STREAM_DOWN, "north", "west", ERR_DENIED, "nothing borrowed"},
        {"north", 1, MSG_STREAM_UP, "west", "west", ERR_DENIED, "nothing lent"},
        {"south", 2, MSG_START, "nobody", "south", ERR_NOT_FOUND, "no member"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct msg msg = about_run(rows[i].kind, rows[i].to, rows[i].run_site);
        stage_say(&stage, rows[i].from, rows[i].session, &msg);
        const struct msg *error = stage_sent(&stage, rows[i].from, MSG_ERROR, 0);
        if (error == NULL || error->error.code != rows[i].code ||
            stage_sent(&stage, rows[i].to, rows[i].kind, 0) != NULL) {
            fail_msg("%s", rows[i].why);
        }
        assert_int_equal(error->error.about, rows[i].kind);
    }
}

/* The broker's store may have been replaced by an older copy, which has no lease of the
 * two: what is under way comes to its end, and nothing new begins. */
static void attempts_are_settled_without_a_lease(void **state)
{
    static const struct {
        enum msg_kind kind;
        bool is_from_consumer, is_passed;
    } rows[] = {
        {MSG_ATTEMPT_ASK, true, true},  {MSG_ATTEMPT_STATE, false, true},
        {MSG_ATTEMPT_ACK, true, true},  {MSG_ATTEMPT_CONTROL, true, true},
        {MSG_OUTPUT_ASK, true, true},   {MSG_OUTPUT, false, true},
        {MSG_START, true, false},       {MSG_ATTEMPT_FOUND, false, false},
        {MSG_STREAM_DOWN, true, false}, {MSG_STREAM_UP, false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *from = rows[i].is_from_consumer ? "west" : "north";
        const char *to = rows[i].is_from_consumer ? "north" : "west";
        struct msg msg = about_run(rows[i].kind, to, "west");
        stage_say(&stage, from, rows[i].is_from_consumer ? 3 : 1, &msg);
        bool is_passed = stage_sent(&stage, to, rows[i].kind, 0) != NULL;
        if (is_passed != rows[i].is_passed) {
            fail_msg("%s: %d", msg_kind_name(rows[i].kind), is_passed);
        }
        assert_int_equal(stage_sent(&stage, from, MSG_ERROR, 0) == NULL, is_passed);
    }
}

/* The load of a lease's hosts goes between its two sites, and to nobody else. */
static void load_goes_by_the_lease(void **state)
{
    char name[] = "mem", value[] = "4000", host[] = "n1";
    struct load_value values[] = {{name, value, true}};
    char bound[] = "500/100";
    struct load_value thresholds[] = {{name, bound, false}};
    struct lease_load_host hosts[] = {{.host = host,
                                       .values = values,
                                       .n_values = 1,
                                       .thresholds = thresholds,
                                       .n_thresholds = 1}};
    struct msg msg = {.kind = MSG_LEASE_LOAD, .site = "south"};
    msg.lease_load = (struct msg_lease_load){"north/1/south", hosts, 1};
    stage_say(&stage, "north", 1, &msg);
    const struct msg *passed = stage_sent(&stage, "south", MSG_LEASE_LOAD, 0);
    assert_string_equal(passed->site, "north");
    assert_string_equal(passed->lease_load.lease, "north/1/south");
    assert_string_equal(passed->lease_load.hosts[0].host, "n1");
    assert_string_equal(passed->lease_load.hosts[0].values[0].name, "mem");
    assert_string_equal(passed->lease_load.hosts[0].values[0].value, "4000");
    assert_true(passed->lease_load.hosts[0].values[0].is_exclusive);
    assert_int_equal(passed->lease_load.hosts[0].n_thresholds, 1);
    assert_string_equal(passed->lease_load.hosts[0].thresholds[0].name, "mem");
    assert_string_equal(passed->lease_load.hosts[0].thresholds[0].value, "500/100");

    struct msg ask = {.kind = MSG_LEASE_LOAD_ASK, .site = "north"};
    ask.lease_load_ask.lease = "north/1/south";
    stage_say(&stage, "south", 2, &ask);
    passed = stage_sent(&stage, "north", MSG_LEASE_LOAD_ASK, 0);
    assert_string_equal(passed->site, "south");
    assert_string_equal(passed->lease_load_ask.lease, "north/1/south");

    stage_say(&stage, "west", 3, &ask); /* about another's lease */
    assert_null(stage_sent(&stage, "north", MSG_LEASE_LOAD_ASK, 0));
    assert_int_equal(stage_sent(&stage, "west", MSG_ERROR, 0)->error.code, ERR_DENIED);
    msg.site = "west";
    stage_say(&stage, "north", 1, &msg);
    assert_null(stage_sent(&stage, "west", MSG_LEASE_LOAD, 0));
    msg.site = "north"; /* a consumer tells nothing */
    stage_say(&stage, "south", 2, &msg);
    assert_null(stage_sent(&stage, "north", MSG_LEASE_LOAD, 0));
}

/* Either site of a lease may ask the other one for its books of it, and nobody else. */
static void books_go_either_way(void **state)
{
    (void)state;
    const struct ledger_hour hour = {.start_ms = 3600000, .held_ms = 7};
    struct msg ask = {.kind = MSG_LEDGER_ASK, .site = "north"};
    struct msg books = {.kind = MSG_LEDGER, .site = "south"};
    ask.ledger_ask = (struct msg_ledger_ask){.request = 5, .lease = "north/1/south"};
    books.ledger = (struct msg_ledger){
        .request = 5, .lease = "north/1/south", .hours = &hour, .n_hours = 1};
    stage_say(&stage, "south", 2, &ask);
    assert_string_equal(stage_sent(&stage, "north", MSG_LEDGER_ASK, 0)->site, "south");
    stage_say(&stage, "north", 1, &books);
    const struct msg *passed = stage_sent(&stage, "south", MSG_LEDGER, 0);
    assert_string_equal(passed->site, "north");
    assert_int_equal(passed->ledger.request, 5);
    assert_int_equal(passed->ledger.hours[0].held_ms, 7);
    ask.site = "south";
    stage_say(&stage, "north", 1, &ask);
    assert_string_equal(stage_sent(&stage, "south", MSG_LEDGER_ASK, 0)->site, "north");

    ask.site = books.site = "north";
    stage_say(&stage, "west", 3, &ask);
    assert_null(stage_sent(&stage, "north", MSG_LEDGER_ASK, 0));
    assert_int_equal(stage_sent(&stage, "west", MSG_ERROR, 0)->error.code, ERR_DENIED);
    ask.ledger_ask.lease = "north/9/west"; /* there is none */
    stage_say(&stage, "west", 3, &ask);
    assert_null(stage_sent(&stage, "north", MSG_LEDGER_ASK, 0));
}

static void an_unknown_lease_starts_nothing(void **state)
{
    struct msg msg = about_run(MSG_START, "north", "south");
    msg.start.lease = "north/2/south";
    stage_say(&stage, "south", 2, &msg);
    assert_int_equal(stage_sent(&stage, "south", MSG_ERROR, 0)->error.code, ERR_DENIED);
}

/* Both ends send again until answered; nobody needs to be told each time. */
static void for_who_is_away_it_is_dropped(void **state)
{
    static const char *const south_only[] = {"south", NULL};
    stage_wait_with(&stage, STAGE_LOST_AFTER_MS + 1000, south_only, 2);
    struct msg msg = about_run(MSG_ATTEMPT_ASK, "north", "south");
    stage_say(&stage, "south", 2, &msg);
    assert_null(stage_sent(&stage, "north", MSG_ATTEMPT_ASK, 0));
    assert_null(stage_sent(&stage, "south", MSG_ERROR, 0));
}

/* All of the body, and nothing of it is changed. */
static void the_body_is_passed_on_as_it_came(void **state)
{
    char command[] = "A=b", host[] = "n1", text[] = "gone";
    const char *env[] = {command};
    uint8_t bytes[] = {1, 2, 3};
    struct msg start = about_run(MSG_START, "north", "south");
    slots[0].host = host;
    start.start.spec.command = command;
    start.start.spec.env = env;
    start.start.spec.n_env = 1;
    stage_say(&stage, "south", 2, &start);
    const struct msg *passed = stage_sent(&stage, "north", MSG_START, 0);
    assert_string_equal(passed->start.spec.command, "A=b");
    assert_string_equal(passed->start.spec.env[0], "A=b");
    assert_string_equal(passed->start.hosts[0].host, "n1");
    slots[0].host = "n1";

    struct msg state_msg = about_run(MSG_ATTEMPT_STATE, "south", "south");
    state_msg.attempt_state.reason = state_msg.attempt_state.exit.text = text;
    stage_say(&stage, "north", 1, &state_msg);
    passed = stage_sent(&stage, "south", MSG_ATTEMPT_STATE, 0);
    assert_string_equal(passed->attempt_state.reason, "gone");
    assert_string_equal(passed->attempt_state.exit.text, "gone");

    struct msg output = about_run(MSG_OUTPUT, "south", "south");
    output.output.bytes = bytes;
    output.output.n_bytes = 3;
    stage_say(&stage, "north", 1, &output);
    passed = stage_sent(&stage, "south", MSG_OUTPUT, 0);
    assert_int_equal(passed->output.bytes[0], 1);

    uint8_t keys[] = {1, 2, 3};
    struct msg down = about_run(MSG_STREAM_DOWN, "north", "south");
    down.stream_down.bytes = keys;
    down.stream_down.n_bytes = 3;
    stage_say(&stage, "south", 2, &down);
    struct msg up = about_run(MSG_STREAM_UP, "south", "south");
    up.stream_up.bytes = keys;
    up.stream_up.n_bytes = 3;
    passed = stage_sent(&stage, "north", MSG_STREAM_DOWN, 0);
    assert_int_equal(passed->stream_down.bytes[1], 2);
    stage_say(&stage, "north", 1, &up);
    passed = stage_sent(&stage, "south", MSG_STREAM_UP, 0);
    assert_int_equal(passed->stream_up.bytes[1], 2);
}

/* Of a flood so much and no more, without a word; all else passes. */
static void a_flood_is_bounded(void **state)
{
    static const uint8_t text[STREAM_CHUNK_MAX];
    struct msg up = about_run(MSG_STREAM_UP, "south", "south");
    struct msg started = about_run(MSG_ATTEMPT_STATE, "south", "south");
    uint64_t n_bytes, n_dropped;
    int n_passed = 0;
    started.attempt_state.reason = started.attempt_state.exit.text = "";
    up.stream_up.bytes = text;
    up.stream_up.n_bytes = STREAM_CHUNK_MAX;
    for (int i = 0; i < 1000; i++) {
        stage_say(&stage, "north", 1, &up);
        n_passed += stage_sent(&stage, "south", MSG_STREAM_UP, 0) != NULL;
        assert_null(stage_sent(&stage, "north", MSG_ERROR, 0));
    }
    assert_in_range(n_passed, 1, 500);
    broker_site_streams(stage.broker, "north", &n_bytes, &n_dropped);
    assert_int_equal(n_bytes, n_passed * STREAM_CHUNK_MAX);
    assert_int_equal(n_dropped, 1000 - n_passed);
    stage_say(&stage, "north", 1, &started);
    assert_non_null(stage_sent(&stage, "south", MSG_ATTEMPT_STATE, 0));
    up.stream_up.n_bytes = 1;
    stage_say(&stage, "north", 1, &up);
    assert_non_null(stage_sent(&stage, "south", MSG_STREAM_UP, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_goes_one_way),
        TEST(what_is_not_the_pairs_own_is_refused),
        TEST(attempts_are_settled_without_a_lease),
        TEST(load_goes_by_the_lease),
        TEST(books_go_either_way),
        TEST(an_unknown_lease_starts_nothing),
        TEST(for_who_is_away_it_is_dropped),
        TEST(the_body_is_passed_on_as_it_came),
        TEST(a_flood_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
