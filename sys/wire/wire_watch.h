/* SPDX-License-Identifier: Apache-2.0 */
/* wire_watch.h: enforces bounds on a server's TCP connections that libzmq does not:
 * their number, in total and per key; connections without messages; messages with
 * endless frames; unread bytes. Part of wire.h.
 *
 * libzmq bounds a frame (ZMQ_MAXMSGSIZE) and counts messages (HWM): a message of
 * endless frames uses up memory, and up to a thousand large messages wait for a peer
 * that does not read (docs/adr/0001). Therefore bytes that were received but not
 * delivered are counted by the kernel's TCP counters. A connection that exceeds a bound
 * is shut down, and libzmq then frees all its data.
 *
 * Units: bytes, milliseconds. A connection is named by its descriptor; the kernel's
 * cookie distinguishes reused descriptors. Layer: sys. */
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

/* Whether `size` bytes may be queued for it, and counts them as queued. Messages that
 * may be lost (`is_stream`) have a lower limit, so that they do not delay others. */
bool wire_watch_queue(struct wire_watch *watch, int fd, size_t size, bool is_stream);

/* Shuts down connections that exceed a bound. Each call checks only some connections.
 */
void wire_watch_look(struct wire_watch *watch, int64_t now_ms);

/* Shuts down one connection, or all of a key. */
void wire_watch_shut(struct wire_watch *watch, int fd);
void wire_watch_shut_key(struct wire_watch *watch, const char *key_z85);

/* The address of the next connection whose handshake was sealed for another key; false
 * if there is none. */
bool wire_watch_take_unsealed(struct wire_watch *watch, char *address, size_t size);

/* Connections that it shut down since the start. */
uint64_t wire_watch_count_shut(const struct wire_watch *watch);

#endif
