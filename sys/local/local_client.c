/* SPDX-License-Identifier: Apache-2.0 */
/* local_client.c: the command line's side: blocking; see local.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "proto/codec.h"
#include "sys/local/local.h"
#include "sys/local/local_buffer.h"
#include "sys/local/local_listen.h"
#include "sys/msg_encode.h"

enum { READ_SIZE = 65536 };

struct local_client {
    int fd;
    struct local_buffer in;
};

int local_client_new(const char *path, struct local_client **client, struct err *err)
{
    *client = NULL;
    struct unix_path opened;
    int status = unix_path_open(path, &opened, err);
    if (status != ERR_NONE) {
        return status;
    }
    int fd;
    status = local_listen_connect(&opened, &fd, err);
    unix_path_close(&opened);
    if (status != ERR_NONE) {
        return status;
    }
    *client = mem_alloc(1, sizeof(**client));
    (*client)->fd = fd;
    return ERR_NONE;
}

void local_client_free(struct local_client *client)
{
    if (client != NULL) {
        close(client->fd);
        local_buffer_free(&client->in);
        free(client);
    }
}

/* A daemon that turns a client away says why before it closes the connection, and does
 * not wait for the request. */
static int explain_end(struct local_client *client, struct err *err)
{
    struct arena arena;
    struct msg msg;
    struct err ignored;
    bool is_refused = false;
    arena_init(&arena);
    while (!is_refused &&
           local_client_receive(client, &arena, 0, &msg, &ignored) == 0) {
        is_refused = msg.kind == MSG_ERROR;
    }
    int status = is_refused
                     ? err_set(err, msg.error.code < 0 ? msg.error.code : ERR_PARSE,
                               "%s", msg.error.text)
                     : err_set(err, ERR_AWAY, "the daemon has closed the connection");
    arena_release(&arena);
    return status;
}

int local_client_send(struct local_client *client, const struct msg *msg,
                      struct err *err)
{
    uint8_t *bytes;
    size_t length;
    int status = msg_encode(msg, &bytes, &length, err);
    if (status != ERR_NONE) {
        return status;
    }
    struct local_buffer out = {0};
    local_buffer_append(&out, bytes, length);
    free(bytes);
    while (local_buffer_size(&out) > 0 && status == ERR_NONE) {
        ssize_t put = send(client->fd, local_buffer_data(&out), local_buffer_size(&out),
                           MSG_NOSIGNAL);
        if (put >= 0) {
            local_buffer_take(&out, (size_t)put);
        } else if (errno != EINTR) {
            status = explain_end(client, err);
        }
    }
    local_buffer_free(&out);
    return status;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for input until the deadline (-1: for ever) and reads some. */
static int read_some(struct local_client *client, int64_t deadline_ms, struct err *err)
{
    struct pollfd item = {.fd = client->fd, .events = POLLIN};
    int64_t left_ms = -1;
    if (deadline_ms >= 0) {
        left_ms = deadline_ms - now_ms();
        left_ms = left_ms > 0 ? left_ms : 0;
    }
    int ready = poll(&item, 1, (int)left_ms);
    if (ready < 0) {
        return errno == EINTR ? ERR_NONE
                              : err_set(err, ERR_IO, "poll: %s", strerror(errno));
    }
    if (ready == 0) {
        return err_set(err, ERR_AWAY, "daemon does not answer");
    }
    uint8_t *room = local_buffer_room(&client->in, READ_SIZE);
    ssize_t got = recv(client->fd, room, READ_SIZE, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) {
        return err_set(err, ERR_AWAY, "the daemon has closed the connection");
    }
    local_buffer_grow(&client->in, got > 0 ? (size_t)got : 0);
    return ERR_NONE;
}

/* The message at the start of what has come, if it is whole. */
static int take_whole(struct local_client *client, struct arena *arena, struct msg *msg,
                      bool *has_one, struct err *err)
{
    const uint8_t *bytes;
    size_t size;
    enum local_message_state state = local_buffer_message(&client->in, &bytes, &size);
    *has_one = state == LOCAL_WHOLE;
    if (state == LOCAL_TOO_LONG) {
        return err_set(err, ERR_BOUNDS, "daemon's answer is too long");
    }
    if (state == LOCAL_PARTIAL) {
        return ERR_NONE;
    }
    int status = codec_decode(arena, bytes, size, msg, err);
    local_buffer_take(&client->in, LOCAL_HEADER + size);
    return status;
}

int local_client_receive(struct local_client *client, struct arena *arena,
                         int timeout_ms, struct msg *msg, struct err *err)
{
    int64_t deadline_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
    bool has_one;
    int status = take_whole(client, arena, msg, &has_one, err);
    while (status == ERR_NONE && !has_one) {
        status = read_some(client, deadline_ms, err);
        if (status == ERR_NONE) {
            status = take_whole(client, arena, msg, &has_one, err);
        }
    }
    return status;
}

int local_client_fd(const struct local_client *client)
{
    return client->fd;
}

int local_client_take(struct local_client *client, struct arena *arena, struct msg *msg,
                      bool *has_one, struct err *err)
{
    int status = take_whole(client, arena, msg, has_one, err);
    struct pollfd item = {.fd = client->fd, .events = POLLIN};
    if (status == ERR_NONE && !*has_one && poll(&item, 1, 0) > 0) {
        status = read_some(client, 0, err);
        if (status == ERR_NONE) {
            status = take_whole(client, arena, msg, has_one, err);
        }
    }
    return status;
}
