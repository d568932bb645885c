/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c: real sockets on loopback: members are heard and answered, nobody else
 * gets a byte in, and what a hostile member sends is counted and harms nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/value.h"
#include "proto/codec.h"
#include "sys/wire/wire.h"
#include "sys/wire/wire_name.h"

enum { DEADLINE_MS = 60000, TURN_MS = 20 };

static char directory[64];
static struct wire_key server_key, north_key, ops_key, stranger_key;
static struct wire_server *server;
static char endpoint[256];

/* What arrived last at either side, and how much. */
static struct {
    int n_messages, n_refused, n_answers;
    enum msg_kind kind;
    uint64_t session;
    struct peer from;
    char name[NAME_SIZE];
    int refused_code;
    int answer_code;
    char json[128];
    struct msg_clock clock;
} seen;

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    seen.n_messages++;
    seen.kind = msg->kind;
    seen.session = msg->session;
    seen.from = *from;
    snprintf(seen.name, sizeof(seen.name), "%s", from->name);
    seen.from.name = seen.name;
}

static void on_refused(void *arg, const struct peer *from, const struct err *err)
{
    seen.n_refused++;
    seen.refused_code = err->code;
}

static void on_answer(void *arg, const struct peer *from, const struct msg *msg)
{
    seen.n_answers++;
    seen.kind = msg->kind;
    if (msg->kind == MSG_CLOCK) {
        seen.clock = msg->clock;
    } else if (msg->kind == MSG_REPLY) {
        seen.answer_code = msg->reply.code;
        snprintf(seen.json, sizeof(seen.json), "%s",
                 msg->reply.json != NULL ? msg->reply.json : "");
    }
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One turn of the server's loop: waits a little for input, then takes all. */
static void turn(struct wire_client *client)
{
    zmq_pollitem_t items[3] = {
        {.socket = zsock_resolve(wire_server_socket(server)), .events = ZMQ_POLLIN},
    };
    int n_items = 1;
    if (wire_server_zap_socket(server) != NULL) {
        items[n_items].socket = zsock_resolve(wire_server_zap_socket(server));
        items[n_items++].events = ZMQ_POLLIN;
    }
    if (client != NULL) {
        items[n_items].socket = zsock_resolve(wire_client_socket(client));
        items[n_items++].events = ZMQ_POLLIN;
    }
    zmq_poll(items, n_items, TURN_MS);
    wire_server_zap(server);
    wire_server_drain(server, 100, on_message, on_refused, NULL);
    if (client != NULL) {
        struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
        wire_client_drain(client, 100, &broker, on_answer, on_refused, NULL);
    }
}

#define TURN_UNTIL(client, condition)                                                  \
    for (int64_t until_ms = now_ms() + DEADLINE_MS; !(condition);) {                   \
        turn(client);                                                                  \
        if (now_ms() > until_ms) {                                                     \
            fail_msg("not within %d ms: %s", DEADLINE_MS, #condition);                 \
        }                                                                              \
    }

static void make_key(struct wire_key *key)
{
    memset(key, 0, sizeof(*key));
    assert_int_equal(zmq_curve_keypair(key->public_z85, key->secret_z85), 0);
}

static void open_server(const char *where)
{
    struct err err = {0};
    int rc = wire_server_new(where, &server_key, PEER_SITE, &server, &err);
    for (int i = 0; i < 500 && rc != ERR_NONE; i++) {
        usleep(10000); /* libzmq gives an old port back some time after it is closed */
        rc = wire_server_new(where, &server_key, PEER_SITE, &server, &err);
    }
    if (rc != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    char *bound = zsock_last_endpoint(wire_server_socket(server));
    snprintf(endpoint, sizeof(endpoint), "%s", bound);
    zstr_free(&bound);
    wire_server_allow(server, north_key.public_z85, "north",
                      ROLE_PROVIDER | ROLE_CONSUMER);
    wire_server_allow(server, ops_key.public_z85, "ops", ROLE_ADMIN);
}

static struct wire_client *connect_as(const struct wire_key *key)
{
    struct wire_client *client;
    struct err err = {0};
    if (wire_client_new(endpoint, key, server_key.public_z85, &client, &err) !=
        ERR_NONE) {
        fail_msg("%s", err.text);
    }
    return client;
}

static int start(void **state)
{
    memset(&seen, 0, sizeof(seen));
    snprintf(directory, sizeof(directory), "/tmp/test_wire.XXXXXX");
    assert_non_null(mkdtemp(directory));
    make_key(&server_key);
    make_key(&north_key);
    make_key(&ops_key);
    make_key(&stranger_key);
    open_server("tcp://127.0.0.1:!");
    return 0;
}

static int stop(void **state)
{
    wire_server_free(server);
    server = NULL;
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static const struct msg hello = {.kind = MSG_HELLO,
                                 .session = 7,
                                 .site = "",
                                 .hello = {.name = "north", .roles = 3}};

/* Says hello until it is heard. */
static void greet(struct wire_client *client)
{
    int before = seen.n_messages;
    struct err err;
    TURN_UNTIL(client, wire_client_send(client, &hello, &err) == ERR_NONE);
    TURN_UNTIL(client, seen.n_messages > before);
}

/* ---------------------------------------------------------------- members */

static void test_members_are_heard_and_answered(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    greet(north);
    assert_int_equal(seen.kind, MSG_HELLO);
    assert_int_equal(seen.session, 7);
    assert_int_equal(seen.from.kind, PEER_SITE);
    assert_string_equal(seen.name, "north");
    assert_int_equal(seen.from.roles, ROLE_PROVIDER | ROLE_CONSUMER);
    assert_true(seen.from.link != 0);

    struct msg welcome = {.kind = MSG_WELCOME, .welcome = {.is_accepted = true}};
    struct err err;
    assert_int_equal(wire_server_send(server, &seen.from, &welcome, &err), ERR_NONE);
    TURN_UNTIL(north, seen.n_answers == 1);
    assert_int_equal(seen.kind, MSG_WELCOME);
    assert_int_equal(wire_client_counters(north)->received, 1);
    assert_true(wire_server_counters(server)->sent >= 1);
    wire_client_free(north);
}

/* The server answers by itself: what it serves hears nothing. */
static void test_a_server_tells_its_clock(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    greet(north);
    int n_messages = seen.n_messages;
    struct msg ask = {.kind = MSG_CLOCK, .site = "", .clock = {.asked_ms = 12345}};
    struct err err;
    int64_t before_ms = zclock_time();
    assert_int_equal(wire_client_send(north, &ask, &err), ERR_NONE);
    TURN_UNTIL(north, seen.n_answers == 1);
    assert_int_equal(seen.kind, MSG_CLOCK);
    assert_int_equal(seen.clock.asked_ms, 12345);
    assert_true(seen.clock.now_ms >= before_ms && seen.clock.now_ms <= zclock_time());
    assert_int_equal(seen.n_messages, n_messages);
    wire_client_free(north);
}

/* ---------------------------------------------------------------- other sites */

enum { FLOOD = 300 };

static struct {
    int n_flood, n_before; /* of the flood, and of it before the other one came */
    bool is_there;
} relayed;

static void on_relayed(void *arg, const struct peer *from, const struct msg *msg)
{
    relayed.n_flood += strcmp(msg->site, "flood") == 0;
    if (strcmp(msg->site, "other") == 0) {
        relayed.n_before = relayed.n_flood;
        relayed.is_there = true;
    }
}

static void relay(const char *site)
{
    struct msg msg = {.kind = MSG_PONG, .site = site};
    struct err err;
    TURN_UNTIL(NULL, wire_server_send(server, &seen.from, &msg, &err) == ERR_NONE);
}

/* How many messages of a flood come before the one that was sent behind them. */
static int count_before(struct wire_client *client)
{
    struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    int64_t until_ms = now_ms() + DEADLINE_MS;
    memset(&relayed, 0, sizeof(relayed));
    for (int i = 0; i < FLOOD; i++) {
        relay("flood");
    }
    relay("other");
    while (relayed.n_flood < FLOOD || !relayed.is_there) {
        wire_client_drain(client, 1, &broker, on_relayed, on_refused, NULL);
        assert_true(now_ms() < until_ms);
    }
    return relayed.n_before;
}

/* One site that floods does not delay what the broker relays from the others. On a busy
 * machine the last message may arrive late. */
static void test_a_client_hears_other_sites_in_turn(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    int64_t until_ms = now_ms() + DEADLINE_MS;
    wire_client_use_rate_limits(north);
    greet(north);
    while (count_before(north) == FLOOD) {
        assert_true(now_ms() < until_ms);
    }
    wire_client_free(north);
}

/* What the time of the question and the answer leave open is no difference. */
static void test_clocks_that_differ(void **state)
{
    static const struct {
        struct wire_clock clock;
        const char *says; /* NULL: it is well */
    } cases[] = {
        {{0, 0}, NULL},
        {{1000, 0}, NULL},
        {{-1000, 0}, NULL},
        {{1500, 500}, NULL},
        {{1501, 500}, "1.5 s ahead of that of the broker"},
        {{-61250, 30}, "61.2 s behind that of the broker"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err;
        int rc = wire_clock_check(&cases[i].clock, "the broker", &err);
        assert_int_equal(rc, cases[i].says == NULL ? 0 : ERR_STATE);
        if (cases[i].says != NULL) {
            assert_non_null(strstr(err.text, cases[i].says));
            assert_non_null(strstr(err.text, "timedatectl set-ntp true"));
        }
    }
}

static void test_an_admin_is_a_client(void **state)
{
    struct wire_client *ops = connect_as(&ops_key);
    greet(ops);
    assert_int_equal(seen.from.kind, PEER_CLIENT);
    assert_string_equal(seen.name, "ops");
    assert_int_equal(seen.from.roles, ROLE_ADMIN);
    wire_client_free(ops);
}

static void test_links_tell_connections_apart(void **state)
{
    struct wire_client *one = connect_as(&north_key);
    struct wire_client *two = connect_as(&north_key);
    greet(one);
    uint64_t link = seen.from.link;
    greet(two);
    assert_true(seen.from.link != link);
    greet(one);
    assert_true(seen.from.link == link);
    wire_client_free(one);
    wire_client_free(two);
}

static void test_a_value_goes_out_as_json(void **state)
{
    struct wire_client *ops = connect_as(&ops_key);
    greet(ops);
    struct arena arena;
    arena_init(&arena);
    struct value *value = value_object(&arena);
    value_add_int(&arena, value, "schema_version", 1);
    struct msg reply = {.kind = MSG_REPLY, .reply = {.request = 1, .value = value}};
    struct err err;
    assert_int_equal(wire_server_send(server, &seen.from, &reply, &err), ERR_NONE);
    TURN_UNTIL(ops, seen.n_answers == 1);
    assert_string_equal(seen.json, "{\"schema_version\":1}");

    char *text = arena_alloc(&arena, FRAME_MAX + 2, 1);
    memset(text, 'x', FRAME_MAX + 1);
    value_add_text(&arena, value, "long", text);
    assert_int_equal(wire_server_send(server, &seen.from, &reply, &err), ERR_NONE);
    TURN_UNTIL(ops, seen.n_answers == 2); /* the waiting client is told */
    assert_int_equal(seen.answer_code, ERR_BOUNDS);
    arena_release(&arena);
    wire_client_free(ops);
}

static void test_a_send_to_who_is_gone_is_dropped(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    greet(north);
    wire_client_free(north);
    struct peer gone = seen.from;
    struct msg pong = {.kind = MSG_PONG};
    struct err err;
    TURN_UNTIL(NULL, wire_server_send(server, &gone, &pong, &err) == ERR_AWAY);
    assert_true(wire_server_counters(server)->dropped >= 1);
    gone.link = 999;
    assert_int_equal(wire_server_send(server, &gone, &pong, &err), ERR_AWAY);
}

static void test_a_client_comes_back_after_a_restart(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    greet(north);
    wire_server_free(server);
    struct err err;
    struct peer nobody = {0};
    for (int64_t until_ms = now_ms() + DEADLINE_MS;
         wire_client_send(north, &hello, &err) !=
         ERR_AWAY;) { /* sees that it is alone */
        assert_true(now_ms() < until_ms);
        wire_client_drain(north, 1, &nobody, on_answer, NULL, NULL);
        zclock_sleep(TURN_MS);
    }
    char where[sizeof(endpoint)];
    memcpy(where, endpoint, sizeof(where));
    open_server(where);
    greet(north);
    assert_int_equal(wire_client_reopen(north, &err), ERR_NONE);
    greet(north);
    wire_client_free(north);
}

/* ---------------------------------------------------------------- everyone else */

/* A socket of libzmq's own, with nothing of wire.c around it. */
/* A client that explains itself connects again and again, also while a handshake is
 * under way. Afterwards its connection works, and so does any other of the process. */
static void test_a_client_that_is_watched_connects_many_times(void **state)
{
    static const struct wire_words words = {.peer = "the broker",
                                            .endpoint = "BROKER",
                                            .peer_key = "BROKER_KEY",
                                            .list = "Member"};
    struct wire_client *north = connect_as(&north_key);
    struct err err;
    assert_int_equal(wire_client_explain(north, &words, &err), ERR_NONE);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(wire_client_reopen(north, &err), ERR_NONE);
        for (int turns = i % 3; turns > 0; turns--) {
            turn(NULL); /* the handshake is at another point each time */
        }
    }
    greet(north);
    wire_client_free(north);
    struct wire_client *ops = connect_as(&ops_key);
    greet(ops);
    wire_client_free(ops);
}

/* Of two servers the first one is not there: the client is told that it was refused,
 * and moves to the other one; a third of that name is not on its list. */
static void test_a_client_moves_to_another_server(void **state)
{
    static const struct wire_words words = {.peer = "the broker",
                                            .endpoint = "BROKER",
                                            .peer_key = "BROKER_KEY",
                                            .list = "Member"};
    struct wire_client *north;
    struct err err;
    (void)state;
    assert_int_equal(wire_client_new("tcp://127.0.0.1:1", &north_key,
                                     server_key.public_z85, &north, &err),
                     ERR_NONE);
    assert_int_equal(
        wire_client_add(north, "tcp://127.0.0.1:3", server_key.public_z85, &err),
        ERR_NONE);
    assert_int_equal(wire_client_add(north, endpoint, server_key.public_z85, &err),
                     ERR_NONE);
    assert_int_equal(wire_client_explain(north, &words, &err), ERR_NONE);
    assert_int_equal(wire_client_count_choices(north), 3);
    assert_string_equal(wire_client_endpoint(north), "tcp://127.0.0.1:1");
    TURN_UNTIL(north, wire_client_has_failed(north, now_ms()));
    assert_int_equal(wire_client_move(north, "tcp://127.0.0.1:2", &err), ERR_NONE);
    assert_string_equal(wire_client_endpoint(north), "tcp://127.0.0.1:3");
    assert_int_equal(wire_client_move(north, "", &err), ERR_NONE);
    assert_string_equal(wire_client_endpoint(north), endpoint);
    greet(north);
    assert_false(wire_client_has_failed(north, now_ms()));
    assert_int_equal(wire_client_move(north, "", &err), ERR_NONE); /* around */
    assert_string_equal(wire_client_endpoint(north), "tcp://127.0.0.1:1");
    assert_int_equal(wire_client_move(north, endpoint, &err), ERR_NONE);
    assert_string_equal(wire_client_endpoint(north), endpoint);
    greet(north);
    wire_client_free(north);
}

static void test_addresses_of_a_name(void **state)
{
    struct wire_name name;
    char text[96];
    (void)state;
    wire_name_init(&name, "tcp://127.0.0.7:5570");
    assert_string_equal(name.host, "127.0.0.7");
    assert_string_equal(name.port, "5570");
    assert_null(wire_name_address(&name, 0)); /* it was not asked for */
    wire_name_ask(&name);
    TURN_UNTIL(NULL, wire_name_look(&name) != EAI_INPROGRESS);
    assert_int_equal(wire_name_look(&name), 0);
    assert_true(wire_name_endpoint(&name, 0, text, sizeof(text)));
    assert_string_equal(text, "tcp://127.0.0.7:5570");
    assert_false(wire_name_endpoint(&name, 1, text, sizeof(text)));
    wire_name_release(&name);
    wire_name_init(&name, "tcp://[::1]:5570");
    assert_string_equal(name.host, "::1");
    wire_name_ask(&name);
    wire_name_release(&name); /* while it is asked for */
    wire_name_ask(&name);
    TURN_UNTIL(NULL, wire_name_look(&name) != EAI_INPROGRESS);
    assert_true(wire_name_endpoint(&name, 0, text, sizeof(text)));
    assert_string_equal(text, "tcp://[::1]:5570");
    wire_name_release(&name);
}

static void *raw_socket(void)
{
    void *raw = zmq_socket(zsys_init(), ZMQ_DEALER);
    int linger = 0;
    zmq_setsockopt(raw, ZMQ_LINGER, &linger, sizeof(linger));
    return raw;
}

static void set_curve(void *raw, const struct wire_key *key, const char *server_public)
{
    zmq_setsockopt(raw, ZMQ_CURVE_SERVERKEY, server_public, 40);
    zmq_setsockopt(raw, ZMQ_CURVE_PUBLICKEY, key->public_z85, 40);
    zmq_setsockopt(raw, ZMQ_CURVE_SECRETKEY, key->secret_z85, 40);
}

/* Connects, sends a good message, and waits until the server has hung up. */
static void assert_shut_out(void *raw)
{
    /* A thread of libzmq frees the name of a closed monitor late. */
    static int n_monitors;
    char name[64];
    snprintf(name, sizeof(name), "inproc://test_wire-%d", n_monitors++);
    assert_int_equal(zmq_socket_monitor(raw, name, ZMQ_EVENT_ALL), 0);
    void *monitor = zmq_socket(zsys_init(), ZMQ_PAIR);
    assert_int_equal(zmq_connect(monitor, name), 0);
    assert_int_equal(zmq_connect(raw, endpoint), 0);
    uint8_t *bytes;
    size_t length;
    struct err err;
    assert_int_equal(codec_encode(&hello, &bytes, &length, &err), ERR_NONE);
    zmq_send(raw, bytes, length, ZMQ_DONTWAIT);
    free(bytes);
    bool is_out = false;
    for (int64_t until_ms = now_ms() + DEADLINE_MS; !is_out;) {
        assert_true(now_ms() < until_ms);
        turn(NULL);
        uint8_t event[6];
        char address[256];
        while (zmq_recv(monitor, event, sizeof(event), ZMQ_DONTWAIT) > 0) {
            int id = event[0] | event[1] << 8;
            zmq_recv(monitor, address, sizeof(address), 0);
            assert_int_not_equal(id, ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
            is_out |= id == ZMQ_EVENT_DISCONNECTED ||
                      id == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ||
                      id == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ||
                      id == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
        }
    }
    for (int i = 0; i < 10; i++) {
        turn(NULL);
    }
    assert_int_equal(seen.n_messages, 0);
    assert_int_equal(seen.n_refused, 0);
    zmq_socket_monitor(raw, NULL, 0);
    zmq_close(monitor);
    zmq_close(raw);
}

static void test_a_key_that_is_on_no_list(void **state)
{
    void *raw = raw_socket();
    set_curve(raw, &stranger_key, server_key.public_z85);
    assert_shut_out(raw);
}

static void test_no_key_at_all(void **state)
{
    assert_shut_out(raw_socket()); /* the NULL mechanism */
}

static void test_a_password_instead(void **state)
{
    void *raw = raw_socket();
    zmq_setsockopt(raw, ZMQ_PLAIN_USERNAME, "north", 5);
    zmq_setsockopt(raw, ZMQ_PLAIN_PASSWORD, "north", 5);
    assert_shut_out(raw);
}

static void test_a_member_who_was_taken_off_the_list(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    greet(north);
    struct peer peer = seen.from;
    peer.name = "north";
    wire_server_revoke(server, north_key.public_z85);
    struct err err;
    struct msg pong = {.kind = MSG_PONG};
    assert_int_equal(wire_server_send(server, &peer, &pong, &err), ERR_AWAY);
    int before = seen.n_messages;
    TURN_UNTIL(north, wire_client_send(north, &hello, &err) == ERR_NONE);
    TURN_UNTIL(north, seen.n_refused > 0); /* over the connection that it still has */
    assert_int_equal(seen.refused_code, ERR_DENIED);
    assert_int_equal(seen.n_messages, before);
    assert_true(wire_server_counters(server)->refused[-ERR_DENIED] > 0);
    wire_client_free(north);
}

/* ---------------------------------------------------------------- bad members */

static void *raw_member(void)
{
    void *raw = raw_socket();
    set_curve(raw, &north_key, server_key.public_z85);
    assert_int_equal(zmq_connect(raw, endpoint), 0);
    return raw;
}

static void test_rubbish_is_counted(void **state)
{
    void *raw = raw_member();
    zmq_send(raw, "\xff\xff\xff", 3, 0);
    TURN_UNTIL(NULL, seen.n_refused == 1);
    assert_int_equal(seen.refused_code, ERR_PARSE);
    zmq_send(raw, "\x08\x63", 2, 0); /* version 99 */
    TURN_UNTIL(NULL, seen.n_refused == 2);
    assert_int_equal(seen.refused_code, ERR_VERSION);
    zmq_send(raw, "", 0, 0);
    TURN_UNTIL(NULL, seen.n_refused == 3);
    assert_int_equal(wire_server_counters(server)->refused[-ERR_PARSE], 1);
    assert_int_equal(wire_server_counters(server)->refused[-ERR_VERSION], 2);
    zmq_close(raw);
}

static void test_many_frames_are_dropped(void **state)
{
    void *raw = raw_member();
    for (int i = 0; i < 5000; i++) {
        zmq_send(raw, "x", 1, ZMQ_SNDMORE);
    }
    zmq_send(raw, "x", 1, 0);
    TURN_UNTIL(NULL, seen.n_refused == 1);
    assert_int_equal(seen.refused_code, ERR_PARSE);
    zmq_close(raw);
    struct wire_client *north = connect_as(&north_key);
    greet(north); /* nothing of it is in the way */
    assert_int_equal(seen.n_refused, 1);
    wire_client_free(north);
}

static void test_a_huge_frame_ends_its_connection_only(void **state)
{
    struct wire_client *ops = connect_as(&ops_key);
    greet(ops);
    void *raw = raw_member();
    char *huge = calloc(1, FRAME_MAX * 2);
    zmq_send(raw, huge, FRAME_MAX * 2, 0);
    free(huge);
    greet(ops);
    greet(ops);
    assert_int_equal(seen.n_refused, 0);
    assert_string_equal(seen.name, "ops");
    zmq_close(raw);
    wire_client_free(ops);
}

/* ---------------------------------------------------------------- endpoints */

static void test_endpoints(void **state)
{
    struct wire_server *other;
    struct wire_client *client;
    struct err err;
    assert_int_equal(
        wire_server_new("tcp://127.0.0.1:!", NULL, PEER_SITE, &other, &err),
        ERR_DENIED);
    assert_int_equal(
        wire_server_new("tcp://127.0.0.1:!", &server_key, PEER_SITE, &other, &err),
        ERR_EXISTS); /* the process has its server with a key */
    assert_int_equal(wire_client_new(endpoint, NULL, NULL, &client, &err), ERR_DENIED);
    assert_int_equal(
        wire_client_new("pgm://x", &north_key, server_key.public_z85, &client, &err),
        ERR_PARSE);
    assert_int_equal(wire_client_new(endpoint, &north_key, NULL, &client, &err),
                     ERR_PARSE);
}

static void test_ipc_with_a_long_path(void **state)
{
    wire_server_free(server);
    char path[400];
    snprintf(path, sizeof(path), "%s/%0120d", directory, 1);
    assert_int_equal(mkdir(path, 0700), 0);
    char where[500];
    snprintf(where, sizeof(where), "ipc://%s/hosts.sock", path);
    struct err err = {0};
    if (wire_server_new(where, NULL, PEER_HOST, &server, &err) != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    struct wire_client *host;
    assert_int_equal(wire_client_new(where, NULL, NULL, &host, &err), ERR_NONE);
    greet(host);
    assert_int_equal(seen.from.kind, PEER_HOST);
    assert_string_equal(seen.name, "");
    struct msg pong = {.kind = MSG_HOST_PONG};
    assert_int_equal(wire_server_send(server, &seen.from, &pong, &err), ERR_NONE);
    TURN_UNTIL(host, seen.n_answers == 1);
    wire_client_free(host);
}

/* ---------------------------------------------------------------- keys */

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_keys_on_disk(void **state)
{
    char name[128], public_path[160], secret_path[160];
    snprintf(name, sizeof(name), "%s/north", directory);
    snprintf(public_path, sizeof(public_path), "%s.key", name);
    snprintf(secret_path, sizeof(secret_path), "%s.key_secret", name);
    struct err err = {0};
    assert_int_equal(wire_key_make(name, &err), ERR_NONE);
    assert_int_equal(wire_key_make(name, &err), ERR_EXISTS);
    struct stat status;
    assert_int_equal(stat(secret_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(stat(public_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);

    struct wire_key whole, half;
    assert_int_equal(wire_key_load(secret_path, &whole, &err), ERR_NONE);
    assert_int_equal(wire_key_load(public_path, &half, &err), ERR_NONE);
    assert_string_equal(whole.public_z85, half.public_z85);
    assert_int_equal(strlen(whole.secret_z85), 40);
    assert_string_equal(half.secret_z85, "");

    zcert_t *cert = zcert_load(public_path); /* CZMQ reads it too */
    assert_non_null(cert);
    assert_string_equal(zcert_public_txt(cert), whole.public_z85);
    zcert_destroy(&cert);

    assert_int_equal(chmod(secret_path, 0640), 0);
    assert_int_equal(wire_key_load(secret_path, &whole, &err), ERR_DENIED);
    assert_string_equal(whole.secret_z85, "");
}

static void test_keys_that_are_none(void **state)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/x.key", directory);
    struct wire_key key;
    struct err err;
    assert_int_equal(wire_key_load(path, &key, &err), ERR_NOT_FOUND);
    assert_int_equal(wire_key_load(directory, &key, &err), ERR_IO);
    write_file(path, "hello", 0600);
    assert_int_equal(wire_key_load(path, &key, &err), ERR_PARSE);
    write_file(path, "curve\n    public-key = \"short\"\n", 0600);
    assert_int_equal(wire_key_load(path, &key, &err), ERR_PARSE);
    char text[256];
    snprintf(text, sizeof(text),
             "curve\n    public-key = \"%s\"\n    secret-key = \"%s\"\n",
             north_key.public_z85, ops_key.secret_z85);
    write_file(path, text, 0600);
    assert_int_equal(wire_key_load(path, &key, &err), ERR_PARSE);
    assert_non_null(strstr(err.text, "do not fit"));
}

/* Its connections end, its key is turned away, and its own messages are not heard until
 * its time is over. Others do not notice. */
static void test_who_is_refused_too_often_is_disconnected(void **state)
{
    struct wire_client *north = connect_as(&north_key);
    struct wire_client *ops = connect_as(&ops_key);
    struct err err;
    greet(north);
    struct peer from = seen.from;
    from.name = "north";
    for (int i = 0; i < 2000 && wire_server_use(server, "north").n_out == 0; i++) {
        wire_server_refuse(server, &from);
    }
    assert_int_equal(wire_server_use(server, "north").n_out, 1);
    uint64_t n_shut = wire_server_count_shut(server);
    turn(north);
    assert_int_equal(wire_server_count_shut(server), n_shut + 1);
    greet(ops);
    assert_string_equal(seen.name, "ops");
    int before = seen.n_messages;
    TURN_UNTIL(north, wire_client_send(north, &hello, &err) == ERR_NONE &&
                          seen.n_messages > before);
    assert_string_equal(seen.name, "north"); /* it is back */
    assert_int_equal(wire_server_use(server, "north").n_out, 1);
    wire_client_free(north);
    wire_client_free(ops);
}

int main(void)
{
    zsys_handler_set(NULL);
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_members_are_heard_and_answered),
        TEST(test_a_server_tells_its_clock),
        TEST(test_a_client_hears_other_sites_in_turn),
        TEST(test_clocks_that_differ),
        TEST(test_an_admin_is_a_client),
        TEST(test_links_tell_connections_apart),
        TEST(test_a_value_goes_out_as_json),
        TEST(test_a_send_to_who_is_gone_is_dropped),
        TEST(test_a_client_comes_back_after_a_restart),
        TEST(test_a_client_that_is_watched_connects_many_times),
        TEST(test_a_client_moves_to_another_server),
        TEST(test_addresses_of_a_name),
        TEST(test_a_key_that_is_on_no_list),
        TEST(test_no_key_at_all),
        TEST(test_a_password_instead),
        TEST(test_a_member_who_was_taken_off_the_list),
        TEST(test_rubbish_is_counted),
        TEST(test_many_frames_are_dropped),
        TEST(test_a_huge_frame_ends_its_connection_only),
        TEST(test_who_is_refused_too_often_is_disconnected),
        TEST(test_endpoints),
        TEST(test_ipc_with_a_long_path),
        TEST(test_keys_on_disk),
        TEST(test_keys_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
