/* SPDX-License-Identifier: Apache-2.0 */
/* local.h: messages over a unix stream socket, whose peers the kernel identifies.
 *
 * Each message is a length (4 bytes, big endian, at most FRAME_MAX) and the codec's
 * bytes. A server knows each connection's uid and gid by SO_PEERCRED at accept, which
 * ZeroMQ's ipc cannot provide safely (docs/design/architecture.md "Network"). Paths
 * longer than sun_path are reached through their directory's descriptor. A peer that
 * sends an invalid message gets an ERROR and is closed. A peer that does not read is
 * closed when 4 MiB wait for it. At most 1000 connections; those of one user, and what
 * a user asks for, are bounded (local_users.h).
 *
 * Ownership, errors: as wire.h. Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_H
#define SUBLET_SYS_LOCAL_LOCAL_H

#include <czmq.h>

#include "sys/wire/wire.h"

/* Called for each connection's input: a batch is everything between begin and end. */
struct local_handler {
    void (*begin)(void *arg);
    wire_message_fn message; /* from: PEER_CLIENT, name by uid, uid, gid, link */
    void (*gone)(void *arg, const struct peer *from);
    void (*end)(void *arg);
    void *arg;
    /* The reserved connections are for the user too; NULL: for root and the user of the
     * daemon alone. */
    bool (*is_privileged)(void *judge, const struct peer *from);
    void *judge;
};

struct local_server;
/* Listens at `path` with that mode (a dead socket file there is replaced, a live one
 * is ERR_EXISTS) and adds itself to the loop. */
int local_server_new(zloop_t *loop, const char *path, int mode,
                     const struct local_handler *handler, struct local_server **server,
                     struct err *err) MUST_CHECK;
void local_server_free(struct local_server *server);
int local_server_send(struct local_server *server, const struct peer *to,
                      const struct msg *msg, struct err *err);

/* The client's side: blocking, one request at a time; or, for event loops, a descriptor
 * to poll and non-blocking receiving. */
struct local_client;
int local_client_new(const char *path, struct local_client **client,
                     struct err *err) MUST_CHECK;
void local_client_free(struct local_client *client);
/* If the daemon has closed the connection: the error that it sent before, else
 * ERR_AWAY.
 */
int local_client_send(struct local_client *client, const struct msg *msg,
                      struct err *err) MUST_CHECK;
/* The next message, in the arena. ERR_AWAY when the daemon has gone or `timeout_ms`
 * (-1: for ever) has passed. */
int local_client_receive(struct local_client *client, struct arena *arena,
                         int timeout_ms, struct msg *msg, struct err *err) MUST_CHECK;
int local_client_fd(const struct local_client *client);
/* Does not block: `has_one` is false if no message is complete. */
int local_client_take(struct local_client *client, struct arena *arena, struct msg *msg,
                      bool *has_one, struct err *err) MUST_CHECK;

#endif
