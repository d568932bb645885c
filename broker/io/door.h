/* SPDX-License-Identifier: Apache-2.0 */
/* door.h: the socket where members connect, and the keys that it accepts.
 *
 * A broker that does not lead refuses what comes: a HELLO by a WELCOME that names the
 * leader's endpoint, anything else by an ERROR. From door_take on the hub reads the
 * socket.
 *
 * Ownership: the loop is borrowed and outlives it; the setup until the call returns.
 * Errors: ERR_IO the socket cannot be bound; ERR_PARSE, ERR_DENIED, ERR_EXISTS a key
 * file is bad, readable by others, or two members' at once. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_DOOR_H
#define SUBLET_BROKER_IO_DOOR_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "sys/wire/wire.h"

struct door;
int door_new(zloop_t *loop, const struct broker_setup *setup, struct door **door,
             struct err *err) MUST_CHECK;
void door_free(struct door *door); /* NULL is fine */

/* Accepts the keys of these members, and no others any more. If a key file is bad
 * nothing changes. */
int door_allow(struct door *door, const struct broker_setup *setup,
               struct err *err) MUST_CHECK;

/* Refuses whatever comes while the loop runs. `leader` is an endpoint, or "". */
void door_refuse(struct door *door, const char *leader);
/* The socket is the caller's from now on. */
struct wire_server *door_take(struct door *door);

#endif
