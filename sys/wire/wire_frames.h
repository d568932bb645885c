/* SPDX-License-Identifier: Apache-2.0 */
/* wire_frames.h: what server and client share: socket options, endpoints, receiving and
 * encoding one message.
 *
 * A message is one frame, preceded by the routing id on a ROUTER. A message with more
 * frames is read and refused as a whole. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_FRAMES_H
#define SUBLET_SYS_WIRE_WIRE_FRAMES_H

#include <czmq.h>
#include <stdbool.h>

#include "sys/wire/wire.h"

/* Bounds and heartbeats, before bind or connect. A heartbeat of libzmq closes a
 * connection to a machine that is gone. It is sent seldom: a peer that is silent is
 * noticed earlier by what sites and hosts send and get, each heartbeat wakes a thread
 * at both ends, and libzmq (4.3.4) walks the timers of all connections for each answer.
 */
void wire_frames_prepare(zsock_t *socket);
/* Call it before a socket is bound or connected: one for an address of IPv6 in brackets
 * takes IPv6. */
void wire_frames_set_family(zsock_t *socket, const char *endpoint);

/* Reads one message: the first `wanted` frames into `frames` (initialised here, closed
 * by the caller); further frames are dropped. Returns the number of frames; 0 if there
 * is no message. */
int wire_frames_receive(zsock_t *socket, zmq_msg_t *frames, int wanted);

/* Decodes the body and delivers it, or refuses it. The arena is cleared. */
void wire_frames_deliver(struct arena *arena, struct wire_counters *counters,
                         codec_relay_fn relays, const struct peer *from,
                         const void *body, size_t n_bytes, wire_message_fn on_message,
                         wire_refused_fn on_refused, void *arg);
void wire_frames_refuse(struct wire_counters *counters, const struct peer *from,
                        const struct err *err, wire_refused_fn on_refused, void *arg);

/* Encodes into a frame, which the caller sends or closes. */
int wire_frames_encode(const struct msg *msg, zmq_msg_t *body, struct err *err);

/* An endpoint for libzmq: a long ipc path is replaced by a unix_path, which must live
 * as long as the socket. */
struct wire_endpoint;
int wire_frames_endpoint_new(const char *endpoint, bool has_key,
                             struct wire_endpoint **made, struct err *err) MUST_CHECK;
void wire_frames_endpoint_free(struct wire_endpoint *endpoint);
const char *wire_frames_endpoint_text(const struct wire_endpoint *endpoint);

#endif
