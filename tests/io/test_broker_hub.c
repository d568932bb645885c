/* SPDX-License-Identifier: Apache-2.0 */
/* test_broker_hub.c: the broker's reactor on real sockets and a real file: questions
 * are answered, what was promised survives, and rubbish is refused without harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/hub.h"
#include "sys/wire/wire.h"

enum { ANSWER_MS = 60000 }; /* a test that waits so long has failed */

/* What a member's side sees of the broker, in the same loop. */
struct talker {
    struct wire_client *client;
    struct msg answer; /* in the arena */
    struct arena arena;
    bool has_answer, is_late;
};

struct fixture {
    char directory[64], store_path[96], endpoint[64];
    char key_files[3][96]; /* secret: broker; public: north, ops */
    struct broker_setup setup;
    zloop_t *loop;
    struct store *store;
    struct broker *broker;
    struct door *door;
    struct hub *hub;
};

static const struct broker_member members[] = {
    {.name = "north", .roles = ROLE_PROVIDER},
    {.name = "ops", .roles = ROLE_ADMIN},
};

static void file_path(const struct fixture *fixture, const char *name, char *path,
                      size_t size)
{
    snprintf(path, size, "%s/%s", fixture->directory, name);
}

/* ---------------------------------------------------------------- the broker */

static void load_row(void *arg, const struct row *row)
{
    broker_load(arg, row);
}

static void start_broker(struct fixture *fixture)
{
    struct err err = {0};
    fixture->loop = zloop_new();
    int rc = store_open(fixture->store_path, false, &fixture->store, &err);
    if (rc == 0) {
        fixture->broker = broker_new(&fixture->setup.config);
        rc = store_load(fixture->store, load_row, fixture->broker, &err);
    }
    if (rc == 0) {
        /* libzmq gives an old port back some time after it is closed */
        for (int i = 0; i < 500; i++) {
            rc = door_new(fixture->loop, &fixture->setup, &fixture->door, &err);
            if (rc == 0) {
                break;
            }
            usleep(10000);
        }
    }
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
    fixture->hub =
        hub_new(fixture->loop, fixture->door, fixture->broker, fixture->store);
    hub_start(fixture->hub);
}

static void stop_broker(struct fixture *fixture)
{
    hub_free(fixture->hub);
    door_free(fixture->door);
    broker_free(fixture->broker);
    store_close(fixture->store);
    zloop_destroy(&fixture->loop);
    fixture->hub = NULL;
    fixture->door = NULL;
    fixture->broker = NULL;
    fixture->store = NULL;
}

/* A port that nobody has, as far as one can know. */
static int free_port(void)
{
    zsock_t *socket = zsock_new(ZMQ_ROUTER);
    int port = zsock_bind(socket, "tcp://127.0.0.1:!");
    zsock_destroy(&socket);
    return port;
}

static int setup(void **state)
{
    static const char *const names[] = {"broker", "north", "ops"};
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    struct err err = {0};
    snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/sublet-hub-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    file_path(fixture, "broker.db", fixture->store_path, sizeof(fixture->store_path));
    for (int i = 0; i < 3; i++) {
        char path[96];
        file_path(fixture, names[i], path, sizeof(path));
        if (wire_key_make(path, &err) < 0) {
            fail_msg("%s", err.text);
        }
        snprintf(fixture->key_files[i], sizeof(fixture->key_files[i]), "%.80s.key%s",
                 path, i == 0 ? "_secret" : "");
    }
    snprintf(fixture->endpoint, sizeof(fixture->endpoint), "tcp://127.0.0.1:%d",
             free_port());
    const char **key_files = mem_alloc(2, sizeof(*key_files));
    key_files[0] = fixture->key_files[1];
    key_files[1] = fixture->key_files[2];
    fixture->setup = (struct broker_setup){
        .config = {.members = members, .n_members = 2, .lost_after_ms = 15000},
        .listen = fixture->endpoint,
        .state = fixture->store_path,
        .key = fixture->key_files[0],
        .key_files = key_files,
    };
    start_broker(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = {
        "broker.db", "broker.db-wal", "broker.key",     "broker.key_secret",
        "north.key", "ops.key",       "ops.key_secret", "north.key_secret",
    };
    struct fixture *fixture = *state;
    stop_broker(fixture);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[96];
        file_path(fixture, files[i], path, sizeof(path));
        unlink(path);
    }
    rmdir(fixture->directory);
    free(fixture->setup.key_files);
    free(fixture);
    return 0;
}

/* ---------------------------------------------------------------- its members */

static struct talker *talker_new(struct fixture *fixture, const char *name)
{
    struct talker *talker = mem_alloc(1, sizeof(*talker));
    struct wire_key own, broker;
    struct err err = {0};
    char file[32], path[96];
    snprintf(file, sizeof(file), "%s.key_secret", name);
    file_path(fixture, file, path, sizeof(path));
    int rc = wire_key_load(path, &own, &err);
    if (rc == 0) {
        rc = wire_key_load(fixture->key_files[0], &broker, &err);
    }
    if (rc == 0) {
        rc = wire_client_new(fixture->endpoint, &own, broker.public_z85,
                             &talker->client, &err);
    }
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
    arena_init(&talker->arena);
    return talker;
}

static void talker_free(struct talker *talker)
{
    wire_client_free(talker->client);
    arena_release(&talker->arena);
    free(talker);
}

static void keep_answer(void *arg, const struct peer *from, const struct msg *msg)
{
    (void)from;
    struct talker *talker = arg;
    talker->has_answer = true;
    talker->answer = *msg;
    if (msg->kind == MSG_REPLY) {
        talker->answer.reply.text = arena_str(&talker->arena, msg->reply.text);
        talker->answer.reply.json = arena_str(&talker->arena, msg->reply.json);
    } else if (msg->kind == MSG_WELCOME) {
        talker->answer.welcome.text = arena_str(&talker->arena, msg->welcome.text);
    } else if (msg->kind == MSG_ERROR) {
        talker->answer.error.text = arena_str(&talker->arena, msg->error.text);
    }
}

static void refuse_answer(void *arg, const struct peer *from, const struct err *err)
{
    (void)arg;
    (void)from;
    fail_msg("the broker's answer: %s", err->text);
}

static int on_answer(zloop_t *loop, zsock_t *socket, void *arg)
{
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    (void)loop;
    (void)socket;
    struct talker *talker = arg;
    wire_client_drain(talker->client, 1, &broker, keep_answer, refuse_answer, talker);
    return talker->has_answer ? -1 : 0;
}

static int on_late(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct talker *talker = arg;
    talker->is_late = true;
    return -1;
}

/* One more try to send, until the connection stands. */
struct attempt {
    struct talker *talker;
    const struct msg *msg; /* NULL: `bytes` */
    const char *bytes;
    bool is_sent;
};

static int on_try(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct attempt *attempt = arg;
    struct err err;
    if (attempt->is_sent) {
        return 0;
    }
    if (attempt->msg != NULL) {
        attempt->is_sent =
            wire_client_send(attempt->talker->client, attempt->msg, &err) == 0;
    } else {
        void *raw = zsock_resolve(wire_client_socket(attempt->talker->client));
        attempt->is_sent =
            zmq_send(raw, attempt->bytes, strlen(attempt->bytes), ZMQ_DONTWAIT) >= 0;
    }
    return 0;
}

/* Sends, and runs broker and member until the answer is there. */
static const struct msg *talk(struct fixture *fixture, struct talker *talker,
                              const struct msg *msg, const char *bytes)
{
    struct attempt attempt = {.talker = talker, .msg = msg, .bytes = bytes};
    talker->has_answer = false;
    arena_clear(&talker->arena);
    zloop_reader(fixture->loop, wire_client_socket(talker->client), on_answer, talker);
    int late = zloop_timer(fixture->loop, ANSWER_MS, 1, on_late, talker);
    int tries = zloop_timer(fixture->loop, 10, 0, on_try, &attempt);
    while (!talker->has_answer && !talker->is_late) {
        zloop_start(fixture->loop);
    }
    zloop_timer_end(fixture->loop, tries);
    zloop_timer_end(fixture->loop, late);
    zloop_reader_end(fixture->loop, wire_client_socket(talker->client));
    assert_true(talker->has_answer);
    return &talker->answer;
}

static const struct msg_reply *ask(struct fixture *fixture, struct talker *talker,
                                   const struct msg *msg)
{
    const struct msg *answer = talk(fixture, talker, msg, NULL);
    assert_int_equal(answer->kind, MSG_REPLY);
    return &answer->reply;
}

static struct msg query(enum query_kind kind, const char *name)
{
    struct msg msg = {.kind = MSG_QUERY, .site = ""};
    msg.query = (struct msg_query){.request = 7,
                                   .kind = kind,
                                   .name = name,
                                   .user = "",
                                   .queue = "",
                                   .host = "",
                                   .after = ""};
    return msg;
}

/* ---------------------------------------------------------------- tests */

static void test_a_question_is_answered(void **state)
{
    struct fixture *fixture = *state;
    struct talker *ops = talker_new(fixture, "ops");
    struct msg sites = query(QUERY_SITES, "");
    const struct msg_reply *reply = ask(fixture, ops, &sites);
    assert_int_equal(reply->code, 0);
    assert_int_equal(reply->request, 7);
    assert_non_null(reply->json);
    assert_non_null(strstr(reply->json, "\"schema_version\":1"));
    assert_non_null(strstr(reply->json, "\"north\""));
    talker_free(ops);
}

static void test_rubbish_is_answered_and_does_no_harm(void **state)
{
    struct fixture *fixture = *state;
    struct talker *ops = talker_new(fixture, "ops");
    const struct msg *answer = talk(fixture, ops, NULL, "GET / HTTP/1.1\r\n\r\n");
    assert_int_equal(answer->kind, MSG_ERROR);
    assert_true(answer->error.code < 0);
    assert_true(strlen(answer->error.text) > 0);
    struct msg sites = query(QUERY_SITES, "");
    assert_int_equal(ask(fixture, ops, &sites)->code, 0);
    talker_free(ops);
}

static void test_history_is_read_from_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct talker *ops = talker_new(fixture, "ops");
    struct row row = {.kind = ROW_HISTORY};
    struct err err;
    row.history = (struct row_history){.at_ms = 1,
                                       .lease = "north/1/south",
                                       .event = HISTORY_REGISTERED,
                                       .state = "pending",
                                       .epoch = 1,
                                       .reason = "registered"};
    assert_int_equal(store_begin(fixture->store, &err), 0);
    assert_int_equal(store_write(fixture->store, &row, &err), 0);
    assert_int_equal(store_commit(fixture->store, &err), 0);
    struct msg history = query(QUERY_LEASE_HISTORY, "north/1/south");
    const struct msg_reply *reply = ask(fixture, ops, &history);
    assert_int_equal(reply->code, 0);
    assert_int_equal(reply->request, 7);
    assert_non_null(strstr(reply->json, "\"event\":\"registered\""));
    history.query.after = "rubbish";
    assert_int_equal(ask(fixture, ops, &history)->code, ERR_PARSE);
    talker_free(ops);
}

static void test_what_was_promised_is_there_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    struct talker *ops = talker_new(fixture, "ops");
    struct msg set = {.kind = MSG_SET_RECLAIM, .site = ""};
    set.set_reclaim = (struct msg_set_reclaim){
        .request = 8, .scope = RECLAIM_ALL, .name = "", .delay_ms = 42000};
    const struct msg_reply *reply = ask(fixture, ops, &set);
    if (reply->code != 0) {
        fail_msg("%s", reply->text);
    }
    talker_free(ops);
    stop_broker(fixture);
    start_broker(fixture);
    ops = talker_new(fixture, "ops");
    struct msg delays = query(QUERY_RECLAIM, "");
    reply = ask(fixture, ops, &delays);
    assert_int_equal(reply->code, 0);
    assert_non_null(strstr(reply->json, "42"));
    talker_free(ops);
}

/* A broker that does not lead: a site hears where the leader is, and a client that it
 * has asked a standby. */
static void test_a_standby_names_the_leader(void **state)
{
    struct fixture *fixture = *state;
    struct msg hello = {.kind = MSG_HELLO, .session = 7, .site = ""};
    hello.hello = (struct msg_hello){.name = "north", .roles = ROLE_PROVIDER};
    hub_free(fixture->hub);
    fixture->hub = NULL;
    door_refuse(fixture->door, "tcp://other:5570");
    struct talker *north = talker_new(fixture, "north");
    const struct msg *answer = talk(fixture, north, &hello, NULL);
    assert_int_equal(answer->kind, MSG_WELCOME);
    assert_false(answer->welcome.is_accepted);
    assert_true(answer->welcome.is_standby);
    assert_string_equal(answer->welcome.text, "tcp://other:5570");
    assert_int_equal(answer->session, 7);
    struct talker *ops = talker_new(fixture, "ops");
    struct msg sites = query(QUERY_SITES, "");
    answer = talk(fixture, ops, &sites, NULL);
    assert_int_equal(answer->kind, MSG_ERROR);
    assert_int_equal(answer->error.code, ERR_AWAY);
    assert_non_null(strstr(answer->error.text, "tcp://other:5570 leads"));
    talker_free(north);
    talker_free(ops);
}

static void test_one_key_for_two_members_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct door *door = NULL;
    stop_broker(fixture);
    fixture->setup.key_files[1] = fixture->setup.key_files[0];
    fixture->setup.listen = "tcp://127.0.0.1:!"; /* the old port may not be free yet */
    fixture->loop = zloop_new();
    int rc = door_new(fixture->loop, &fixture->setup, &door, &err);
    assert_int_equal(rc, ERR_EXISTS);
    assert_non_null(strstr(err.text, "north"));
    assert_non_null(strstr(err.text, "ops"));
    zloop_destroy(&fixture->loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_a_question_is_answered),
        TEST(test_rubbish_is_answered_and_does_no_harm),
        TEST(test_history_is_read_from_the_store),
        TEST(test_what_was_promised_is_there_after_a_restart),
        TEST(test_a_standby_names_the_leader),
        TEST(test_one_key_for_two_members_is_refused),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
