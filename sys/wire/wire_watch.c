/* SPDX-License-Identifier: Apache-2.0 */
/* wire_watch.c: see wire_watch.h.
 *
 * Of one connection, in bytes:
 *
 *     pending = received by TCP - still in the kernel - handed over
 *     waiting = queued for it - acknowledged by its TCP
 *
 * pending includes overhead of libzmq (heartbeats, frame headers). So it is reset to 0
 * whenever a message was delivered and no complete message remains. If nothing is
 * readable, pending belongs to one incomplete message. */
#include "sys/wire/wire_watch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "sys/wire/wire_monitor.h"
#include "sys/wire/wire_tcp.h"

enum {
    CONNECTIONS_MAX = 20000, /* and at most half of the allowed descriptors */
    CONNECTIONS_PER_KEY_MAX = 32,
    LOOKS_PER_TURN = 1024, /* about a millisecond of work */
    FD_MAX = 1 << 20,
    SILENT_MS_MAX = 10000,       /* until its first message, including the handshake */
    MESSAGE_MAX = 4 * FRAME_MAX, /* of an incomplete message */
    PENDING_MAX = 64 << 20,      /* of complete messages that are not delivered yet */
    WAITING_MAX = 4 << 20,       /* as for clients (local.h) */
    STREAMS_WAITING_MAX = 1 << 20, /* before packets for terminals are dropped */
    FRAME_OVERHEAD = 42,           /* of CURVE and ZMTP, at most */
    SENDS_UNASKED_MAX = 64 << 10,  /* bytes between two queries of the kernel */
};

struct connection {
    uint64_t cookie; /* 0: no connection here */
    struct in6_addr address;
    char key_z85[41];
    bool has_spoken, was_heard;
    int64_t opened_ms; /* 0: set by the next check */
    uint64_t heard;    /* the number of its latest message */
    uint64_t handed;   /* bytes delivered, or counted as overhead */
    uint64_t looked;   /* bytes received by TCP at the last look ... */
    bool is_calm;      /* ... which found nothing that could become too much */
    uint64_t queued;   /* bytes sent to it */
    size_t n_unasked;  /* of them since the last query of the kernel */
    uint64_t waiting;  /* at the last query, plus bytes queued since */
};

struct wire_watch {
    zsock_t *socket;
    zsock_t *monitor;               /* reports accepted connections */
    struct connection *connections; /* by descriptor */
    int n_places;
    int n_open, n_max;
    int next; /* to check */
    uint64_t n_heard, n_shut;
    int n_unsealed; /* handshakes that were not sealed for our key, not taken yet */
};

/* ---------------------------------------------------------------- connections */

static struct connection *find(struct wire_watch *watch, int fd)
{
    bool is_place = fd >= 0 && fd < watch->n_places;
    struct connection *connection = is_place ? &watch->connections[fd] : NULL;
    return connection != NULL && connection->cookie != 0 ? connection : NULL;
}

static void forget(struct wire_watch *watch, struct connection *connection)
{
    connection->cookie = 0;
    watch->n_open--;
}

/* libzmq notices the shutdown and frees its data; libzmq closes the descriptor. */
static void shut(struct wire_watch *watch, int fd)
{
    struct connection *connection = &watch->connections[fd];
    if (wire_tcp_cookie(fd) == connection->cookie) {
        shutdown(fd, SHUT_RDWR);
        watch->n_shut++;
    }
    forget(watch, connection);
}

static void make_place(struct wire_watch *watch, int fd)
{
    if (fd < watch->n_places) {
        return;
    }
    int n_places = fd + 64;
    watch->connections =
        mem_grow(watch->connections, (size_t)n_places, sizeof(*watch->connections));
    memset(&watch->connections[watch->n_places], 0,
           (size_t)(n_places - watch->n_places) * sizeof(*watch->connections));
    watch->n_places = n_places;
}

/* IPv4 as its mapped address; all 0: unknown. */
static struct in6_addr address_of(int fd)
{
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof(peer);
    struct in6_addr address = IN6ADDR_ANY_INIT;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0) {
        return address;
    }
    if (peer.ss_family == AF_INET6) {
        address = ((const struct sockaddr_in6 *)&peer)->sin6_addr;
    } else if (peer.ss_family == AF_INET) {
        address.s6_addr[10] = address.s6_addr[11] = 0xff;
        memcpy(&address.s6_addr[12], &((const struct sockaddr_in *)&peer)->sin_addr, 4);
    }
    return address;
}

static void add(struct wire_watch *watch, int fd)
{
    uint64_t cookie = wire_tcp_cookie(fd);
    if (cookie == 0 || fd >= FD_MAX) {
        return; /* closed already */
    }
    make_place(watch, fd);
    struct connection *connection = &watch->connections[fd];
    if (connection->cookie == 0) {
        watch->n_open++;
    }
    *connection = (struct connection){.cookie = cookie, .address = address_of(fd)};
    if (watch->n_open > watch->n_max) {
        shut(watch, fd);
    }
}

static void take_events(struct wire_watch *watch)
{
    struct wire_event event;
    while (wire_monitor_next(watch->monitor, &event)) {
        if (event.event == ZMQ_EVENT_ACCEPTED) {
            add(watch, event.value < FD_MAX ? (int)event.value : -1);
        } else if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC) {
            watch->n_unsealed++;
        }
    }
}

/* ---------------------------------------------------------------- lifetime */

int wire_watch_new(zsock_t *socket, struct wire_watch **watch, struct err *err)
{
    struct wire_watch *made = mem_alloc(1, sizeof(*made));
    struct rlimit files = {.rlim_cur = 1024};
    *watch = NULL;
    made->socket = socket;
    (void)getrlimit(RLIMIT_NOFILE, &files);
    made->n_max = files.rlim_cur / 2 < CONNECTIONS_MAX ? (int)(files.rlim_cur / 2)
                                                       : CONNECTIONS_MAX;
    int status = wire_monitor_open(
        socket, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
        &made->monitor, err);
    if (status != ERR_NONE) {
        wire_watch_free(made);
        return status;
    }
    *watch = made;
    return ERR_NONE;
}

void wire_watch_free(struct wire_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    wire_monitor_close(watch->socket, &watch->monitor);
    free(watch->connections);
    free(watch);
}

void wire_watch_shut(struct wire_watch *watch, int fd)
{
    if (find(watch, fd) != NULL) {
        shut(watch, fd);
    }
}

void wire_watch_shut_key(struct wire_watch *watch, const char *key_z85)
{
    for (int fd = 0; fd < watch->n_places; fd++) {
        const struct connection *at = &watch->connections[fd];
        if (at->cookie != 0 && strcmp(at->key_z85, key_z85) == 0) {
            shut(watch, fd);
        }
    }
}

uint64_t wire_watch_count_shut(const struct wire_watch *watch)
{
    return watch->n_shut;
}

/* ---------------------------------------------------------------- messages */

/* If a key has too many connections, shuts down the one silent for longest. */
static void bound_key(struct wire_watch *watch, const char *key_z85)
{
    int count = 0, oldest = -1;
    for (int fd = 0; fd < watch->n_places; fd++) {
        const struct connection *at = &watch->connections[fd];
        if (at->cookie != 0 && strcmp(at->key_z85, key_z85) == 0) {
            count++;
            bool is_older = oldest < 0 || at->heard < watch->connections[oldest].heard;
            oldest = is_older ? fd : oldest;
        }
    }
    if (count > CONNECTIONS_PER_KEY_MAX) {
        shut(watch, oldest);
    }
}

void wire_watch_hear(struct wire_watch *watch, int fd, const char *key_z85, size_t size)
{
    struct connection *connection = find(watch, fd);
    if (connection == NULL) {
        take_events(watch);
        connection = find(watch, fd);
    }
    if (connection == NULL) {
        return; /* closed since */
    }
    connection->was_heard = true;
    connection->heard = ++watch->n_heard;
    connection->handed += size + FRAME_OVERHEAD;
    if (!connection->has_spoken) {
        connection->has_spoken = true;
        memcpy(connection->key_z85, key_z85,
               strnlen(key_z85, sizeof(connection->key_z85) - 1));
        bound_key(watch, key_z85);
    }
}

bool wire_watch_queue(struct wire_watch *watch, int fd, size_t size, bool is_stream)
{
    struct connection *connection = find(watch, fd);
    if (connection == NULL) {
        return true; /* libzmq reports that it is gone */
    }
    size_t most = is_stream ? STREAMS_WAITING_MAX : WAITING_MAX;
    if (connection->waiting + size > most ||
        connection->n_unasked + size > SENDS_UNASKED_MAX) {
        struct wire_tcp tcp;
        if (!wire_tcp_ask(fd, &tcp)) {
            return true;
        }
        if (connection->queued < tcp.acked) {
            connection->queued = tcp.acked; /* overhead of libzmq */
        }
        connection->n_unasked = 0;
        connection->waiting = connection->queued - tcp.acked;
    }
    if (connection->waiting + size > most) {
        return false;
    }
    connection->n_unasked += size;
    connection->waiting += size;
    connection->queued += size;
    return true;
}

/* ---------------------------------------------------------------- looking */

/* Bytes that libzmq has received and not delivered. */
static uint64_t count_pending(struct connection *connection, int fd,
                              const struct wire_tcp *tcp)
{
    uint64_t unread = wire_tcp_unread(fd);
    uint64_t taken = tcp->received > unread ? tcp->received - unread : 0;
    if (connection->handed > taken) {
        connection->handed = taken;
    }
    return taken - connection->handed;
}

static void look_at(struct wire_watch *watch, int fd, int64_t now_ms)
{
    struct connection *connection = &watch->connections[fd];
    struct wire_tcp tcp = {0};
    bool is_open = wire_tcp_ask(fd, &tcp);
    if (is_open && connection->is_calm && !connection->was_heard &&
        tcp.received == connection->looked) {
        return;
    }
    if (wire_tcp_cookie(fd) != connection->cookie) {
        forget(watch, connection);
        return;
    }
    if (connection->opened_ms == 0) {
        connection->opened_ms = now_ms;
    }
    uint64_t pending = count_pending(connection, fd, &tcp);
    /* Checked after the kernel's counters: a message complete by then is readable or
     * delivered. */
    bool is_readable = (zsock_events(watch->socket) & ZMQ_POLLIN) != 0;
    bool is_whole = connection->was_heard && !is_readable;
    bool is_silent =
        !connection->has_spoken && now_ms - connection->opened_ms > SILENT_MS_MAX;
    if (is_whole) {
        connection->handed += pending;
    } else if (is_silent || pending > PENDING_MAX ||
               (pending > MESSAGE_MAX && !is_readable)) {
        shut(watch, fd);
    }
    connection->looked = tcp.received;
    connection->is_calm =
        connection->has_spoken && tcp.received - connection->handed <= MESSAGE_MAX;
    connection->was_heard = false;
}

void wire_watch_look(struct wire_watch *watch, int64_t now_ms)
{
    take_events(watch);
    for (int n = 0, looked = 0; n < watch->n_places && looked < LOOKS_PER_TURN; n++) {
        watch->next = watch->next + 1 < watch->n_places ? watch->next + 1 : 0;
        if (watch->connections[watch->next].cookie != 0) {
            look_at(watch, watch->next, now_ms);
            looked++;
        }
    }
}

/* libzmq has closed its connection, which said nothing. */
bool wire_watch_take_unsealed(struct wire_watch *watch, char *address, size_t size)
{
    if (watch->n_unsealed == 0) {
        return false;
    }
    watch->n_unsealed--;
    struct connection *found = NULL;
    for (int fd = 0; fd < watch->n_places && found == NULL; fd++) {
        struct connection *at = &watch->connections[fd];
        bool is_gone = at->cookie != 0 && !at->has_spoken &&
                       !IN6_IS_ADDR_UNSPECIFIED(&at->address) &&
                       wire_tcp_cookie(fd) != at->cookie;
        found = is_gone ? at : NULL;
    }
    snprintf(address, size, "an unknown address");
    if (found == NULL) {
        return true;
    }
    if (IN6_IS_ADDR_V4MAPPED(&found->address)) {
        inet_ntop(AF_INET, &found->address.s6_addr[12], address, (socklen_t)size);
    } else {
        inet_ntop(AF_INET6, &found->address, address, (socklen_t)size);
    }
    forget(watch, found);
    return true;
}
