/* SPDX-License-Identifier: Apache-2.0 */
/* wire_frames.h: what server and client share of their sockets: the options, one
 * message in, and what came of it. Part of wire.h.
 *
 * A message is one frame, before it the routing id on a ROUTER. Any more frames are
 * read, dropped and the whole refused.
 * Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_FRAMES_H
#define SUBLET_SYS_WIRE_WIRE_FRAMES_H

#include <czmq.h>
#include <stdbool.h>

#include "sys/wire/wire.h"

/* Bounds, before bind or connect. */
void wire_frames_prepare(zsock_t *socket);
/* Liveness. A client asks its one server often. A server has thousands of clients, who
 * say more than that by themselves, and libzmq (4.3.4) goes through the timers of all
 * its connections when an answer ends one: it asks seldom, so that connections to
 * machines that are gone go too. */
void wire_frames_ask_often(zsock_t *socket);
void wire_frames_ask_seldom(zsock_t *socket);

/* Reads one message's frames: the first `wanted` into `frames` (initialised by this,
 * closed by the caller), the rest away. Returns how many there were; 0: none waits. */
int wire_frames_receive(zsock_t *socket, zmq_msg_t *frames, int wanted);

/* Decodes the body, and hands it over or has it refused. The arena is cleared. */
void wire_frames_deliver(struct arena *arena, struct wire_counters *counters,
                         const struct peer *from, zmq_msg_t *body,
                         wire_message_fn on_message, wire_refused_fn on_refused,
                         void *arg);
void wire_frames_refuse(struct wire_counters *counters, const struct peer *from,
                        const struct err *err, wire_refused_fn on_refused, void *arg);

/* Encodes into a frame, which the caller sends or closes. */
int wire_frames_encode(const struct msg *msg, zmq_msg_t *body, struct err *err);

/* An endpoint as libzmq takes it: a long ipc path goes by `path`, which must live as
 * long as the socket. */
struct wire_endpoint;
int wire_frames_endpoint_new(const char *endpoint, bool has_key,
                             struct wire_endpoint **made, struct err *err) MUST_CHECK;
void wire_frames_endpoint_free(struct wire_endpoint *endpoint);
const char *wire_frames_endpoint_text(const struct wire_endpoint *endpoint);

#endif
