/* SPDX-License-Identifier: Apache-2.0 */
/* test_local.c: the unix socket of a daemon: the kernel says which user asks, answers
 * go back the way they came, and a client that misbehaves loses its connection and no
 * more.
 *
 * The daemon's loop runs in a child process, and echoes: a QUERY is answered by a REPLY
 * whose text is what it saw; JOB_PEEK by 5 MiB; WAIT by an answer and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "proto/codec.h"
#include "sys/daemon.h"
#include "sys/local/local.h"
#include "sys/local/local_buffer.h"

enum { TIMEOUT_MS = 60000 };

static char directory[64];
static char path[400];
static pid_t daemon_pid;

/* ---------------------------------------------------------------- the daemon */

static struct local_server *server;
static int n_begun, n_gone;

static void on_begin(void *arg)
{
    n_begun++;
}

static void on_gone(void *arg, const struct peer *from)
{
    n_gone++;
}

static void flood(const struct peer *from)
{
    static uint8_t bytes[OUTPUT_CHUNK_MAX];
    struct msg piece = {.kind = MSG_REPLY};
    piece.reply.bytes = bytes;
    piece.reply.n_bytes = sizeof(bytes);
    struct err err;
    for (int i = 0; i < 100; i++) { /* more than may wait, and the socket takes */
        if (local_server_send(server, from, &piece, &err) != ERR_NONE) {
            return;
        }
    }
}

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    char text[256];
    snprintf(text, sizeof(text),
             "%s by %s kind %d uid %d gid %d roles %d begun %d gone %d",
             msg_kind_name(msg->kind), from->name, (int)from->kind, (int)from->uid,
             (int)from->gid, from->roles, n_begun > 0, n_gone);
    struct msg reply = {.kind = MSG_REPLY};
    reply.reply.text = text;
    struct err err;
    if (msg->kind == MSG_JOB_PEEK) {
        flood(from);
        return;
    }
    local_server_send(server, from, &reply, &err);
}

static int on_signal(int number, void *arg)
{
    return number == SIGTERM ? -1 : 0;
}

static void run_daemon(int ready_fd)
{
    daemon_block_signals();
    const struct local_handler handler = {
        .begin = on_begin, .message = on_message, .gone = on_gone};
    struct err err = {0};
    zloop_t *loop = zloop_new();
    if (daemon_watch_signals(loop, on_signal, NULL, &err) != ERR_NONE ||
        local_server_new(loop, path, 0666, &handler, &server, &err) != ERR_NONE) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    if (write(ready_fd, "x", 1) != 1) {
        _exit(1);
    }
    zloop_start(loop);
    local_server_free(server);
    zloop_destroy(&loop);
    zsys_shutdown();
    exit(0);
}

static void start_daemon(void)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    daemon_pid = fork();
    if (daemon_pid == 0) {
        run_daemon(ready[1]);
    }
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static int start(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_local.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/sock", directory);
    start_daemon();
    return 0;
}

static int stop_daemon(void)
{
    int status = 0;
    kill(daemon_pid, SIGTERM);
    waitpid(daemon_pid, &status, 0);
    return status;
}

static int stop(void **state)
{
    int status = stop_daemon(); /* the sanitizer has its say at the end */
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command) == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---------------------------------------------------------------- clients */

static struct local_client *connect_client(void)
{
    struct local_client *client;
    struct err err = {0};
    if (local_client_new(path, &client, &err) != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    return client;
}

static void ask(struct local_client *client, char *answer, size_t size)
{
    struct msg query = {.kind = MSG_QUERY, .query = {.kind = QUERY_JOBS}};
    struct err err = {0};
    struct arena arena;
    arena_init(&arena);
    struct msg reply;
    if (local_client_send(client, &query, &err) != ERR_NONE ||
        local_client_receive(client, &arena, TIMEOUT_MS, &reply, &err) != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(reply.kind, MSG_REPLY);
    snprintf(answer, size, "%s", reply.reply.text);
    arena_release(&arena);
}

static void assert_served(void)
{
    struct local_client *client = connect_client();
    char answer[256];
    ask(client, answer, sizeof(answer));
    local_client_free(client);
}

/* The daemon hears of connections that were closed only when it looks. */
static void wait_until_served(void)
{
    struct msg query = {.kind = MSG_QUERY, .query = {.kind = QUERY_JOBS}};
    struct arena arena;
    bool is_served = false;
    arena_init(&arena);
    for (int i = 0; i < TIMEOUT_MS && !is_served; i++) {
        struct local_client *client = connect_client();
        struct msg reply;
        struct err err;
        is_served =
            local_client_send(client, &query, &err) == ERR_NONE &&
            local_client_receive(client, &arena, TIMEOUT_MS, &reply, &err) == ERR_NONE;
        local_client_free(client);
        if (!is_served) {
            usleep(1000);
        }
    }
    arena_release(&arena);
    assert_true(is_served);
}

static void test_the_kernel_says_who_asks(void **state)
{
    struct local_client *client = connect_client();
    char answer[256], expected[64];
    ask(client, answer, sizeof(answer));
    snprintf(expected, sizeof(expected), "kind %d uid %d gid %d roles %d begun 1",
             (int)PEER_CLIENT, (int)getuid(), (int)getgid(), (int)ROLE_ADMIN);
    assert_non_null(strstr(answer, expected));
    assert_ptr_equal(strstr(answer, "QUERY by "), answer);
    ask(client, answer, sizeof(answer)); /* and again over the same connection */
    local_client_free(client);
}

static void test_mode_and_end(void **state)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0666);
    assert_int_equal(stop_daemon(), 0);
    assert_int_equal(stat(path, &status), -1); /* took its socket along */
    struct local_client *client;
    struct err err;
    assert_int_equal(local_client_new(path, &client, &err), ERR_AWAY);
    start_daemon();
}

static void test_a_dead_socket_is_replaced_a_live_one_is_not(void **state)
{
    struct local_server *other;
    struct err err;
    const struct local_handler handler = {.message = on_message};
    zloop_t *loop = zloop_new();
    assert_int_equal(local_server_new(loop, path, 0600, &handler, &other, &err),
                     ERR_EXISTS);
    kill(daemon_pid, SIGKILL);
    waitpid(daemon_pid, NULL, 0);
    start_daemon();
    assert_served();

    char file[128];
    snprintf(file, sizeof(file), "%s/file", directory);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(local_server_new(loop, file, 0600, &handler, &other, &err),
                     ERR_EXISTS);
    assert_int_equal(access(file, F_OK), 0);
    zloop_destroy(&loop);
}

static void test_a_path_longer_than_the_kernels(void **state)
{
    stop_daemon();
    snprintf(path, sizeof(path), "%s/%0120d", directory, 1);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/%0120d/sock", directory, 1);
    start_daemon();
    assert_served();
}

/* ---------------------------------------------------------------- bad clients */

static int connect_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    struct timeval timeout = {.tv_sec = TIMEOUT_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    return fd;
}

/* All that comes until the daemon hangs up; its length, -1 where it does not. */
static ssize_t read_to_end(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while ((got = recv(fd, text + used, size - used, 0)) > 0) {
        used += (size_t)got;
        if (used == size) {
            used = 0; /* a flood: only its end matters */
        }
    }
    return got == 0 || errno == ECONNRESET ? (ssize_t)used : -1;
}

static void test_rubbish_is_answered_and_closed(void **state)
{
    static const struct {
        const char *why;
        const char *bytes;
        size_t size;
        const char *says;
    } rows[] = {
        {"no message", "\0\0\0\2\xff\xff", 6, "not a message"},
        {"a version to come", "\0\0\0\2\x08\x09", 6, "protocol version 9"},
        {"too long", "\xff\xff\xff\xff", 4, "too long"},
        {"not our protocol", "GET / HTTP/1.1\r\n\r\n", 18, "too long"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int fd = connect_raw();
        assert_int_equal(send(fd, rows[i].bytes, rows[i].size, 0), rows[i].size);
        char text[4096];
        ssize_t got = read_to_end(fd, text, sizeof(text) - 1);
        if (got <= 0 ||
            memmem(text, (size_t)got, rows[i].says, strlen(rows[i].says)) == NULL) {
            fail_msg("%s: not answered \"%s\"", rows[i].why, rows[i].says);
        }
        close(fd);
    }
    assert_served();
}

static void test_a_message_in_pieces(void **state)
{
    /* PONG is two bytes of body; the daemon answers whatever it is. */
    const char bytes[] = "\0\0\0\4\x08\x01\x6a\0";
    int fd = connect_raw();
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(send(fd, bytes + i, 1, 0), 1);
        assert_served(); /* others are not held up by half a message */
    }
    char text[256];
    ssize_t got = recv(fd, text, sizeof(text), 0);
    assert_true(got > 4);
    assert_non_null(memmem(text, (size_t)got, "PONG by", 7));
    close(fd);
}

static void test_who_does_not_read_is_closed(void **state)
{
    struct local_client *client = connect_client();
    struct msg peek = {.kind = MSG_JOB_PEEK, .peek = {.job = "1"}};
    struct err err;
    assert_int_equal(local_client_send(client, &peek, &err), ERR_NONE);
    char answer[256];
    for (int gone = 0; gone == 0;) {
        struct local_client *other = connect_client();
        ask(other, answer, sizeof(answer));
        local_client_free(other);
        const char *at = strstr(answer, "gone ");
        assert_non_null(at);
        gone = at[5] != '0';
    }
    local_client_free(client);
}

static void test_who_hangs_up_is_forgotten(void **state)
{
    for (int i = 0; i < 1500; i++) { /* more than there may be at one time */
        close(connect_raw());
    }
    assert_served();
}

static void test_too_many_are_turned_away(void **state)
{
    enum { MANY = 1000 };
    static int fds[MANY];
    for (int i = 0; i < MANY; i++) {
        fds[i] = connect_raw();
    }
    int fd = connect_raw();
    char text[16];
    assert_int_equal(read_to_end(fd, text, sizeof(text)), 0);
    close(fd);
    for (int i = 0; i < MANY; i++) {
        close(fds[i]);
    }
    wait_until_served();
}

/* A daemon that says this much and hangs up, before the client has asked. */
static struct local_client *connect_and_be_left(const struct msg *said)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/other", directory);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(address.sun_path);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    struct local_client *client;
    struct err err;
    assert_int_equal(local_client_new(address.sun_path, &client, &err), 0);
    int fd = accept(listener, NULL, NULL);
    if (said != NULL) {
        uint8_t *bytes;
        size_t size;
        assert_int_equal(codec_encode(said, &bytes, &size, &err), 0);
        const uint8_t header[LOCAL_HEADER] = {0, 0, (uint8_t)(size >> 8),
                                              (uint8_t)size};
        assert_int_equal(send(fd, header, sizeof(header), 0), sizeof(header));
        assert_int_equal(send(fd, bytes, size, 0), size);
        free(bytes);
    }
    close(fd);
    close(listener);
    return client;
}

/* What is heard is the refusal, not that the pipe is broken. */
static void test_a_refusal_that_comes_before_the_request(void **state)
{
    struct msg query = {.kind = MSG_QUERY, .query = {.kind = QUERY_JOBS}};
    struct msg error = {.kind = MSG_ERROR, .site = ""};
    struct err err;
    error.error.code = ERR_FULL;
    error.error.text = "too many connections";
    struct local_client *client = connect_and_be_left(&error);
    assert_int_equal(local_client_send(client, &query, &err), ERR_FULL);
    assert_string_equal(err.text, "too many connections");
    local_client_free(client);
    client = connect_and_be_left(NULL);
    assert_int_equal(local_client_send(client, &query, &err), ERR_AWAY);
    assert_string_equal(err.text, "the daemon has closed the connection");
    local_client_free(client);
}

static void test_a_daemon_that_does_not_answer(void **state)
{
    struct local_client *client = connect_client();
    struct arena arena;
    arena_init(&arena);
    struct msg msg;
    struct err err;
    assert_int_equal(local_client_receive(client, &arena, 20, &msg, &err), ERR_AWAY);
    assert_string_equal(err.text, "daemon does not answer");
    kill(daemon_pid, SIGKILL);
    waitpid(daemon_pid, NULL, 0);
    assert_int_equal(local_client_receive(client, &arena, TIMEOUT_MS, &msg, &err),
                     ERR_AWAY);
    assert_string_equal(err.text, "the daemon has closed the connection");
    local_client_free(client);
    arena_release(&arena);
    start_daemon();
}

int main(void)
{
    zsys_handler_set(NULL);
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_the_kernel_says_who_asks),
        TEST(test_mode_and_end),
        TEST(test_a_dead_socket_is_replaced_a_live_one_is_not),
        TEST(test_a_path_longer_than_the_kernels),
        TEST(test_rubbish_is_answered_and_closed),
        TEST(test_a_message_in_pieces),
        TEST(test_who_does_not_read_is_closed),
        TEST(test_who_hangs_up_is_forgotten),
        TEST(test_too_many_are_turned_away),
        TEST(test_a_daemon_that_does_not_answer),
        TEST(test_a_refusal_that_comes_before_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
