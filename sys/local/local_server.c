/* SPDX-License-Identifier: Apache-2.0 */
/* local_server.c: the daemon's side; see local.h.
 *
 * The loop polls one epoll descriptor for all connections. A callback may send to any
 * connection, and so close it. Closed connections are only marked, and freed at the end
 * of the iteration. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "proto/codec.h"
#include "sys/daemon.h"
#include "sys/local/local.h"
#include "sys/local/local_buffer.h"
#include "sys/local/local_listen.h"
#include "sys/local/local_users.h"
#include "sys/msg_encode.h"
#include "sys/wake.h"

enum {
    CONNECTIONS_MAX = LOCAL_CONNECTIONS_MAX,
    EVENTS_PER_TURN = 64,
    ACCEPTS_PER_TURN =
        16, /* fewer than may end, so that closed connections make room first */
    READ_SIZE =
        65536, /* of one connection per iteration, so that others are served too */
    WAITING_MAX = 4 << 20,
};

struct connection {
    int fd;
    int place; /* in the server's table */
    struct peer peer;
    char name[NAME_SIZE];
    struct local_buffer in, out;
    bool wants_write; /* epoll waits until it is writable */
    bool is_ended;
    bool has_joined; /* it is counted for its user */
    bool is_privileged;
    bool is_held; /* its user has asked for too much: it is not read until later */
};

struct local_server {
    zloop_t *loop;
    struct local_handler handler;
    struct unix_path path;
    int listen_fd, epoll_fd;
    int spare_fd; /* closed to refuse a client if descriptors have run out; -1: closed
                   */
    struct connection *places[CONNECTIONS_MAX];
    int n_connections;
    uint64_t n_links; /* ever made */
    bool has_ended;   /* some connection is marked */
    struct local_users *users;
    struct wake wake; /* when held connections are read again */
    struct arena arena;
};

/* ---------------------------------------------------------------- connections */

/* A link has the index of the connection and a number that is never reused. */
static struct connection *find(const struct local_server *server, uint64_t link)
{
    struct connection *connection = server->places[link % CONNECTIONS_MAX];
    return connection != NULL && connection->peer.link == link && !connection->is_ended
               ? connection
               : NULL;
}

static int watch(struct local_server *server, struct connection *connection, int op)
{
    struct epoll_event event = {.events = connection->is_held ? 0 : EPOLLIN};
    if (connection->wants_write) {
        event.events |= EPOLLOUT;
    }
    event.data.u64 = connection->peer.link;
    return epoll_ctl(server->epoll_fd, op, connection->fd, &event);
}

/* Marks it as closed. The shutdown makes it readable, so that the loop frees it; the
 * peer can still read what was sent. */
static void end(struct local_server *server, struct connection *connection)
{
    connection->is_ended = true;
    shutdown(connection->fd, SHUT_RDWR);
    server->has_ended = true;
}

static void free_connection(struct local_server *server, struct connection *connection)
{
    if (connection->has_joined) {
        local_users_leave(server->users, &connection->peer, connection->is_privileged);
    }
    server->places[connection->place] = NULL;
    server->n_connections--;
    close(connection->fd);
    local_buffer_free(&connection->in);
    local_buffer_free(&connection->out);
    free(connection);
}

static void sweep(struct local_server *server)
{
    for (int i = 0; i < CONNECTIONS_MAX && server->has_ended; i++) {
        struct connection *connection = server->places[i];
        if (connection != NULL && connection->is_ended) {
            if (server->handler.gone != NULL) {
                server->handler.gone(server->handler.arg, &connection->peer);
            }
            free_connection(server, connection);
        }
    }
    server->has_ended = false;
}

static void refuse(struct local_server *server, struct connection *connection,
                   const struct err *why);

static void add_connection(struct local_server *server, int fd)
{
    int place = 0;
    while (place < CONNECTIONS_MAX && server->places[place] != NULL) {
        place++;
    }
    struct connection *connection = mem_alloc(1, sizeof(*connection));
    connection->fd = fd;
    connection->place = place;
    if (place == CONNECTIONS_MAX ||
        local_listen_identify(fd, &connection->peer, connection->name) != ERR_NONE) {
        close(fd);
        free(connection);
        return;
    }
    connection->peer.link =
        ++server->n_links * CONNECTIONS_MAX + (uint64_t)place; /* never 0 */
    server->places[place] = connection;
    server->n_connections++;
    struct err err;
    const struct local_handler *handler = &server->handler;
    connection->is_privileged =
        handler->is_privileged != NULL &&
        handler->is_privileged(handler->judge, &connection->peer);
    connection->has_joined =
        local_users_join(server->users, &connection->peer, connection->is_privileged,
                         &err) == ERR_NONE;
    if (watch(server, connection, EPOLL_CTL_ADD) != 0) {
        free_connection(server, connection);
    } else if (!connection->has_joined) {
        refuse(server, connection, &err);
    }
}

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Without a free descriptor a waiting client could not even be refused, and would make
 * the listener readable for ever: the spare descriptor accepts and closes it. */
static bool turn_away(struct local_server *server)
{
    if (server->spare_fd < 0) {
        server->spare_fd = open_spare();
    }
    if (server->spare_fd < 0) {
        return false;
    }
    close(server->spare_fd);
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        close(fd);
    }
    server->spare_fd = open_spare();
    return fd >= 0;
}

static void accept_some(struct local_server *server)
{
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            if (!turn_away(server)) {
                return;
            }
            continue;
        }
        if (fd < 0) {
            return;
        }
        add_connection(server, fd);
    }
}

/* ---------------------------------------------------------------- writing */

/* Writes what the socket accepts; closes a broken connection. */
static void flush(struct local_server *server, struct connection *connection)
{
    while (local_buffer_size(&connection->out) > 0) {
        ssize_t put = send(connection->fd, local_buffer_data(&connection->out),
                           local_buffer_size(&connection->out), MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                end(server, connection);
                return;
            }
            break;
        }
        local_buffer_take(&connection->out, (size_t)put);
    }
    bool wants_write = local_buffer_size(&connection->out) > 0;
    if (wants_write != connection->wants_write) {
        connection->wants_write = wants_write;
        if (watch(server, connection, EPOLL_CTL_MOD) != 0) {
            end(server, connection);
        }
    }
}

int local_server_send(struct local_server *server, const struct peer *to,
                      const struct msg *msg, struct err *err)
{
    struct connection *connection = find(server, to->link);
    if (connection == NULL) {
        return err_set(err, ERR_AWAY, "%s not sent: the client has disconnected",
                       msg_kind_name(msg->kind));
    }
    uint8_t *bytes;
    size_t length;
    int status = msg_encode(msg, &bytes, &length, err);
    if (status != ERR_NONE) {
        return status;
    }
    local_buffer_append(&connection->out, bytes, length);
    free(bytes);
    flush(server, connection);
    if (!connection->is_ended && local_buffer_size(&connection->out) > WAITING_MAX) {
        end(server, connection);
    }
    if (connection->is_ended) {
        status = err_set(err, ERR_AWAY, "%s not sent: the client does not read",
                         msg_kind_name(msg->kind));
    }
    return status;
}

/* ---------------------------------------------------------------- reading */

static void refuse(struct local_server *server, struct connection *connection,
                   const struct err *why)
{
    struct msg msg = {.kind = MSG_ERROR, .site = ""};
    msg.error.code = why->code;
    msg.error.text = why->text;
    struct err ignored;
    if (local_server_send(server, &connection->peer, &msg, &ignored) == ERR_NONE) {
        end(server,
            connection); /* after the part of the answer that the socket accepted */
    }
}

/* The connection is not read until its user may ask again. */
static void hold(struct local_server *server, struct connection *connection,
                 int64_t ready_ms)
{
    connection->is_held = true;
    if (watch(server, connection, EPOLL_CTL_MOD) != 0) {
        end(server, connection);
    }
    if (ready_ms < server->wake.armed_ms) {
        wake_set(&server->wake, ready_ms);
    }
}

/* Of this thread. */
static int64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Delivers one message; returns false if there is none, or its turn comes later. */
static bool deliver(struct local_server *server, struct connection *connection)
{
    const uint8_t *bytes;
    size_t size;
    struct err err = {0};
    enum local_message_state state =
        local_buffer_message(&connection->in, &bytes, &size);
    int64_t ready_ms, before_us = cpu_us();
    if (state == LOCAL_PARTIAL || connection->is_ended) {
        return false;
    }
    if (!local_users_may_ask(server->users, &connection->peer, daemon_now_ms(),
                             &ready_ms)) {
        hold(server, connection, ready_ms);
        return false;
    }
    if (state == LOCAL_TOO_LONG) {
        err_set(&err, ERR_BOUNDS, "message too long, expected at most %d bytes",
                (int)FRAME_MAX);
        refuse(server, connection, &err);
        return false;
    }
    struct msg msg;
    if (codec_decode(&server->arena, bytes, size, &msg, &err) != ERR_NONE) {
        refuse(server, connection, &err);
        return false;
    }
    server->handler.message(server->handler.arg, &connection->peer, &msg);
    local_users_charge(server->users, &connection->peer, cpu_us() - before_us);
    arena_clear(&server->arena);
    local_buffer_take(&connection->in, LOCAL_HEADER + size);
    return true;
}

static void read_input(struct local_server *server, struct connection *connection)
{
    uint8_t *room = local_buffer_room(&connection->in, READ_SIZE);
    ssize_t got = recv(connection->fd, room, READ_SIZE, 0);
    if (got > 0) {
        local_buffer_grow(&connection->in, (size_t)got);
        while (deliver(server, connection)) {
        }
    } else if (got == 0 ||
               (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        end(server, connection);
    }
}

static void serve(struct local_server *server, const struct epoll_event *event)
{
    if (event->data.u64 == 0) {
        accept_some(server);
        return;
    }
    struct connection *connection = find(server, event->data.u64);
    if (connection != NULL && (event->events & EPOLLOUT) != 0) {
        flush(server, connection);
    }
    if (connection != NULL && !connection->is_ended &&
        (event->events & ~(uint32_t)EPOLLOUT) != 0) {
        read_input(server, connection);
    }
}

/* What held connections have sent already, and then what they send. */
static void on_wake(void *arg)
{
    struct local_server *server = arg;
    if (server->handler.begin != NULL) {
        server->handler.begin(server->handler.arg);
    }
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = server->places[i];
        if (connection == NULL || !connection->is_held || connection->is_ended) {
            continue;
        }
        connection->is_held = false;
        if (watch(server, connection, EPOLL_CTL_MOD) != 0) {
            end(server, connection);
        }
        while (deliver(server, connection)) {
        }
    }
    sweep(server);
    if (server->handler.end != NULL) {
        server->handler.end(server->handler.arg);
    }
}

static int on_ready(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)item;
    struct local_server *server = arg;
    struct epoll_event events[EVENTS_PER_TURN];
    int count = epoll_wait(server->epoll_fd, events, EVENTS_PER_TURN, 0);
    if (server->handler.begin != NULL) {
        server->handler.begin(server->handler.arg);
    }
    for (int i = 0; i < count; i++) {
        serve(server, &events[i]);
    }
    sweep(server);
    if (server->handler.end != NULL) {
        server->handler.end(server->handler.arg);
    }
    return 0;
}

/* ---------------------------------------------------------------- lifetime */

/* The listening socket is link 0. */
static int poll_server(struct local_server *server, struct err *err)
{
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (server->epoll_fd < 0 ||
        epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, server->listen_fd, &event) != 0) {
        return err_set(err, ERR_IO, "epoll: %s", strerror(errno));
    }
    zmq_pollitem_t item = {.fd = server->epoll_fd, .events = ZMQ_POLLIN};
    if (zloop_poller(server->loop, &item, on_ready, server) != 0) {
        return err_set(err, ERR_IO, "clients cannot be polled");
    }
    return ERR_NONE;
}

int local_server_new(zloop_t *loop, const char *path, int mode,
                     const struct local_handler *handler, struct local_server **server,
                     struct err *err)
{
    *server = NULL;
    struct local_server *built = mem_alloc(1, sizeof(*built));
    built->loop = loop;
    built->handler = *handler;
    built->listen_fd = -1;
    built->epoll_fd = -1;
    built->spare_fd = open_spare();
    built->users = local_users_new();
    wake_init(&built->wake, loop, on_wake, built);
    arena_init(&built->arena);
    int status = unix_path_open(path, &built->path, err);
    if (status == ERR_NONE) {
        status = local_listen_open(&built->path, mode, &built->listen_fd, err);
    }
    if (status == ERR_NONE) {
        status = poll_server(built, err);
    }
    if (status != ERR_NONE) {
        local_server_free(built);
        return status;
    }
    *server = built;
    return ERR_NONE;
}

void local_server_free(struct local_server *server)
{
    if (server == NULL) {
        return;
    }
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->places[i] != NULL) {
            free_connection(server, server->places[i]);
        }
    }
    if (server->epoll_fd >= 0) {
        zmq_pollitem_t item = {.fd = server->epoll_fd, .events = ZMQ_POLLIN};
        zloop_poller_end(server->loop, &item);
        close(server->epoll_fd);
    }
    if (server->listen_fd >= 0) {
        unlink(server->path.text);
        close(server->listen_fd);
    }
    if (server->spare_fd >= 0) {
        close(server->spare_fd);
    }
    unix_path_close(&server->path);
    wake_release(&server->wake);
    local_users_free(server->users);
    arena_release(&server->arena);
    free(server);
}
