/* SPDX-License-Identifier: Apache-2.0 */
/* hostile.c: see hostile.h. */
#include "tests/io/hostile.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/codec.h"
#include "sys/wire/wire.h"

enum { HEAR_MS = 60000, RECONNECT_MS = 100 };

static const char *const members[][2] = {
    {"north", "(provider consumer)"},
    {"east", "(provider consumer)"},
    {"south", "(consumer)"},
    {"ops", "(admin)"},
};
enum { N_MEMBERS = sizeof(members) / sizeof(members[0]) };

static void key_path(const struct hostile *hostile, const char *name, const char *end,
                     char *path, size_t size)
{
    snprintf(path, size, "%s/%s.key%s", hostile->fixture.dir, name, end);
}

static struct wire_key load_key(const struct hostile *hostile, const char *name)
{
    struct wire_key key;
    struct err err;
    char path[RUN_FIXTURE_PATH + 64];
    key_path(hostile, name, "_secret", path, sizeof(path));
    if (wire_key_load(path, &key, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return key;
}

/* ---------------------------------------------------------------- the broker */

/* Below those that the kernel gives to clients: a voice that connects before the broker
 * listens could be given the port itself, and would talk to itself. */
static int choose_port(void)
{
    enum { FIRST = 12000, N_PORTS = 20000 };
    static int n_chosen; /* never one twice: a voice that was left open comes back */
    for (int i = 0; i < N_PORTS; i++) {
        int port = FIRST + ((int)getpid() * 16 + n_chosen + i) % N_PORTS;
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int bound = bind(fd, (struct sockaddr *)&address, sizeof(address));
        close(fd);
        if (bound == 0) {
            n_chosen += i + 1;
            return port;
        }
    }
    fail_msg("no port is free");
    return -1;
}

void hostile_init(struct hostile *hostile)
{
    static const char *const names[] = {"broker", "north", "east",
                                        "south",  "ops",   "stranger"};
    memset(hostile, 0, sizeof(*hostile));
    run_fixture_init(&hostile->fixture);
    arena_init(&hostile->arena);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[RUN_FIXTURE_PATH + 64];
        struct err err;
        snprintf(path, sizeof(path), "%s/%s", hostile->fixture.dir, names[i]);
        if (wire_key_make(path, &err) != 0) {
            fail_msg("%s", err.text);
        }
    }
    hostile->port = choose_port();
    snprintf(hostile->endpoint, sizeof(hostile->endpoint), "tcp://127.0.0.1:%d",
             hostile->port);
}

void hostile_release(struct hostile *hostile)
{
    hostile_kill(hostile);
    arena_release(&hostile->arena);
    run_fixture_release(&hostile->fixture);
}

void hostile_clear(struct hostile *hostile)
{
    arena_clear(&hostile->arena);
}

static void write_conf(const struct hostile *hostile, const char *without)
{
    const char *dir = hostile->fixture.dir;
    char path[RUN_FIXTURE_PATH + 64];
    snprintf(path, sizeof(path), "%s/broker.conf", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "Begin Broker\nLISTEN = %s\nSTATE = %s/broker.db\n"
            "KEY = %s/broker.key_secret\nLOST_AFTER = 60s\nEnd Broker\n"
            "Begin Member\nNAME KEY_FILE ROLES MAX_LEASES\n",
            hostile->endpoint, dir, dir);
    for (int i = 0; i < N_MEMBERS; i++) {
        if (strcmp(members[i][0], without) != 0) {
            fprintf(file, "%s %s/%s.key %s 10000\n", members[i][0], dir, members[i][0],
                    members[i][1]);
        }
    }
    fprintf(file, "End Member\n");
    fclose(file);
}

void hostile_start(struct hostile *hostile, const char *without)
{
    char program[RUN_FIXTURE_PATH], conf[RUN_FIXTURE_PATH + 64];
    write_conf(hostile, without);
    run_fixture_program("sublet-broker", program, sizeof(program));
    snprintf(conf, sizeof(conf), "%s/broker.conf", hostile->fixture.dir);
    hostile->broker = fork();
    assert_true(hostile->broker >= 0);
    if (hostile->broker == 0) {
        int log = open("/dev/null", O_WRONLY);
        if (getenv("HOSTILE_LOG") == NULL) {
            dup2(log, 2);
        }
        execl(program, program, conf, (char *)NULL);
        _exit(127);
    }
    assert_true(hostile_is_served(hostile));
}

void hostile_kill(struct hostile *hostile)
{
    if (hostile->broker > 0) {
        kill(hostile->broker, SIGKILL);
        waitpid(hostile->broker, NULL, 0);
        hostile->broker = 0;
    }
}

/* ---------------------------------------------------------------- voices */

static zsock_t *open_voice(const struct hostile *hostile, const char *name,
                           const char *identity, int rcvhwm, int reconnect_ms)
{
    zsock_t *voice = zsock_new(ZMQ_DEALER);
    assert_non_null(voice);
    zsock_set_rcvhwm(voice, rcvhwm);
    zsock_set_reconnect_ivl(voice, reconnect_ms);
    zsock_set_linger(voice, 0);
    zsock_set_sndtimeo(voice, HEAR_MS);
    if (identity != NULL) {
        zsock_set_identity(voice, identity);
    }
    if (name[0] != '\0') {
        struct wire_key key = load_key(hostile, name);
        struct wire_key broker = load_key(hostile, "broker");
        zsock_set_curve_publickey(voice, key.public_z85);
        zsock_set_curve_secretkey(voice, key.secret_z85);
        zsock_set_curve_serverkey(voice, broker.public_z85);
    }
    assert_int_equal(zsock_connect(voice, "%s", hostile->endpoint), 0);
    return voice;
}

zsock_t *hostile_voice(const struct hostile *hostile, const char *name,
                       const char *identity)
{
    return open_voice(hostile, name, identity, 1000, RECONNECT_MS);
}

zsock_t *hostile_deaf_voice(const struct hostile *hostile, const char *name)
{
    return open_voice(hostile, name, NULL, 2, RECONNECT_MS);
}

zsock_t *hostile_brief_voice(const struct hostile *hostile, const char *name)
{
    return open_voice(hostile, name, NULL, 1000, -1);
}

void hostile_say_bytes(zsock_t *voice, const void *bytes, size_t size)
{
    (void)zmq_send(zsock_resolve(voice), bytes, size, 0);
}

void hostile_say(zsock_t *voice, const struct msg *msg)
{
    uint8_t *bytes;
    size_t size;
    struct err err;
    struct msg copy = *msg;
    copy.site = msg->site != NULL ? msg->site : "";
    if (codec_encode(&copy, &bytes, &size, &err) != 0) {
        fail_msg("%s", err.text);
    }
    hostile_say_bytes(voice, bytes, size);
    free(bytes);
}

void hostile_skip_answers(zsock_t *voice)
{
    char byte;
    while (zmq_recv(zsock_resolve(voice), &byte, 1, ZMQ_DONTWAIT) >= 0) {
    }
}

/* In a child: the library's context of its parent is not to be used there, so that it
 * has one of its own. */
static int flood(const struct hostile *hostile, const struct wire_key *key,
                 const struct wire_key *broker, int n_messages, int n_frames,
                 size_t size, int patience_ms)
{
    static char bytes[65536]; /* which is not copied: a message may be of half a GiB */
    void *socket = zmq_socket(zmq_ctx_new(), ZMQ_DEALER);
    zmq_setsockopt(socket, ZMQ_SNDTIMEO, &patience_ms, sizeof(patience_ms));
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
    zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, key->public_z85, 41);
    zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, key->secret_z85, 41);
    zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, broker->public_z85, 41);
    if (size > sizeof(bytes) || zmq_connect(socket, hostile->endpoint) != 0) {
        return -1;
    }
    for (int i = 0; i < n_messages * n_frames; i++) {
        zmq_msg_t frame;
        zmq_msg_init_data(&frame, bytes, size, NULL, NULL);
        int flags = (i + 1) % n_frames == 0 ? 0 : ZMQ_SNDMORE;
        if (zmq_msg_send(&frame, socket, flags) < 0) {
            zmq_msg_close(&frame);
        }
    }
    return zmq_recv(socket, bytes, sizeof(bytes), 0) >= 0;
}

int hostile_flood(const struct hostile *hostile, const char *name, int n_messages,
                  int n_frames, size_t size, int patience_ms)
{
    struct wire_key key = load_key(hostile, name);
    struct wire_key broker = load_key(hostile, "broker");
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka would take it for the test's */
        _exit(flood(hostile, &key, &broker, n_messages, n_frames, size, patience_ms) +
              1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) - 1 : -1;
}

bool hostile_hear(struct hostile *hostile, zsock_t *voice, struct msg *msg,
                  int timeout_ms)
{
    struct err err;
    zmq_msg_t frame;
    zsock_set_rcvtimeo(voice, timeout_ms);
    zmq_msg_init(&frame);
    bool is_heard = zmq_msg_recv(&frame, zsock_resolve(voice), 0) >= 0;
    if (is_heard && codec_decode(&hostile->arena, zmq_msg_data(&frame),
                                 zmq_msg_size(&frame), msg, &err) != 0) {
        fail_msg("the broker's answer: %s", err.text);
    }
    zmq_msg_close(&frame);
    return is_heard;
}

bool hostile_hear_kind(struct hostile *hostile, zsock_t *voice, enum msg_kind kind,
                       struct msg *msg)
{
    while (hostile_hear(hostile, voice, msg, HEAR_MS)) {
        if (msg->kind == kind) {
            return true;
        }
    }
    return false;
}

void hostile_hello(struct hostile *hostile, zsock_t *voice, const char *name,
                   uint64_t session)
{
    struct msg msg = {.kind = MSG_HELLO, .session = session}, answer;
    msg.hello.name = name;
    msg.hello.roles = ROLE_CONSUMER | (strcmp(name, "south") ? ROLE_PROVIDER : 0);
    hostile_say(voice, &msg);
    if (!hostile_hear_kind(hostile, voice, MSG_WELCOME, &answer) ||
        !answer.welcome.is_accepted) {
        fail_msg("%s is not welcome", name);
    }
}

bool hostile_is_served(struct hostile *hostile)
{
    struct msg msg = {.kind = MSG_QUERY}, answer;
    msg.query.request = 7;
    msg.query.kind = QUERY_SITES;
    msg.query.name = msg.query.user = msg.query.queue = msg.query.host = "";
    msg.query.after = "";
    zsock_t *voice = hostile_voice(hostile, "ops", NULL);
    hostile_say(voice, &msg);
    bool is_answered = hostile_hear_kind(hostile, voice, MSG_REPLY, &answer) &&
                       answer.reply.request == 7 && answer.reply.code == 0;
    zsock_destroy(&voice);
    hostile_clear(hostile);
    return is_answered;
}

/* ---------------------------------------------------------------- memory */

int hostile_memory_mib(const struct hostile *hostile, const char *field)
{
    char path[64], line[256];
    long kib = -1;
    size_t length = strlen(field);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)hostile->broker);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, field, length) == 0 && line[length] == ':') {
            kib = strtol(line + length + 1, NULL, 10);
        }
    }
    fclose(file);
    assert_true(kib >= 0);
    return (int)(kib / 1024);
}

int hostile_count_descriptors(const struct hostile *hostile)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)hostile->broker);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}
