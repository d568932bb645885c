/* SPDX-License-Identifier: Apache-2.0 */
/* wire_trouble.h: why a client is not connected: its name, its port, no answer, or the
 * handshake. Part of wire.h.
 *
 * libzmq reports what becomes of the handshake, and not why there is no connection to
 * shake hands on: then the name is resolved and the port is tried here, without
 * waiting for either. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_TROUBLE_H
#define SUBLET_SYS_WIRE_WIRE_TROUBLE_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/wire/wire.h"
#include "sys/wire/wire_name.h"

struct wire_trouble;

/* Everything is borrowed. The keys are public ones. */
struct wire_trouble *wire_trouble_new(const char *endpoint,
                                      const struct wire_words *words,
                                      const char *own_z85, const char *server_z85);
void wire_trouble_free(struct wire_trouble *trouble); /* NULL is fine */

/* A socket that is not connected yet is watched; the one before is not any more. */
int wire_trouble_watch(struct wire_trouble *trouble, zsock_t *socket,
                       struct err *err) MUST_CHECK;
/* Before a watched socket is closed. */
void wire_trouble_end(struct wire_trouble *trouble);

/* Of the endpoint. */
struct wire_name *wire_trouble_name(struct wire_trouble *trouble);

bool wire_trouble_is_up(const struct wire_trouble *trouble);
/* The connection was closed, or refused, since the socket is watched. */
bool wire_trouble_has_failed(struct wire_trouble *trouble, int64_t now_ms);
/* See wire_client_look. */
bool wire_trouble_look(struct wire_trouble *trouble, int64_t now_ms, struct err *why);

#endif
