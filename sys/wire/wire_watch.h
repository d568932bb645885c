/* SPDX-License-Identifier: Apache-2.0 */
/* wire_watch.h: what libzmq does not bound of a server's TCP connections, watched at
 * the kernel's sockets: how many there are, of all and of one key; those that never say
 * a message; a message whose frames never end; bytes that a peer does not read. Part of
 * wire.h.
 *
 * libzmq bounds a frame (ZMQ_MAXMSGSIZE) and counts messages (HWM): a message of ever
 * more frames is kept until memory ends, and a thousand large ones wait for a peer that
 * does not read (docs/adr). So bytes that came and were not handed over are counted, by
 * what TCP says of the connection, and a connection that breaks a bound is shut down:
 * libzmq then gives up all that it holds of it.
 *
 * Units: bytes, milliseconds. A connection is named by its descriptor; one that is used
 * again for another connection is told apart by the kernel's cookie. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_WATCH_H
#define SUBLET_SYS_WIRE_WIRE_WATCH_H

#include <czmq.h>
#include <stdbool.h>

#include "base/err.h"

struct wire_watch;

/* Before the socket is bound. Free it before the socket. */
int wire_watch_new(zsock_t *socket, struct wire_watch **watch,
                   struct err *err) MUST_CHECK;
void wire_watch_free(struct wire_watch *watch); /* NULL is fine */

/* A complete message of `size` bytes arrived on it, from this key. If the key has too
 * many connections, the one that was silent longest is shut down. */
void wire_watch_hear(struct wire_watch *watch, int fd, const char *key_z85,
                     size_t size);

/* Whether `size` bytes may be queued for it, and counts them as queued. What may be
 * lost (`is_stream`) has less room: it must not keep the rest waiting. */
bool wire_watch_queue(struct wire_watch *watch, int fd, size_t size, bool is_stream);

/* Shuts down what breaks a bound. Some of them each time; call it often. */
void wire_watch_look(struct wire_watch *watch, int64_t now_ms);

/* Connections that it shut down since the start. */
uint64_t wire_watch_count_shut(const struct wire_watch *watch);

#endif
