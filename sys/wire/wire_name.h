/* SPDX-License-Identifier: Apache-2.0 */
/* wire_name.h: the host of an endpoint, and its addresses, which are asked for without
 * waiting. Part of wire.h.
 *
 * Addresses of IPv4 come first, as libzmq takes the first of these by itself.
 * Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_NAME_H
#define SUBLET_SYS_WIRE_WIRE_NAME_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>

struct wire_name {
    char host[256], port[8];
    bool is_asked; /* by the library's thread, which may still write */
    struct gaicb asked;
    struct addrinfo hints;
    struct addrinfo *found; /* what was found last */
};

/* tcp://HOST:PORT, where HOST may be [IPv6]. */
void wire_name_init(struct wire_name *name, const char *endpoint);
/* Waits for the library's thread. */
void wire_name_release(struct wire_name *name);

/* Asks anew, unless an answer is due. */
void wire_name_ask(struct wire_name *name);
/* 0: it was found, EAI_INPROGRESS, or the library's error of the last answer. */
int wire_name_look(struct wire_name *name);
/* Of what was found last; NULL behind the last one. */
const struct addrinfo *wire_name_address(const struct wire_name *name, int index);
/* Writes tcp://ADDRESS:PORT, or tcp://[ADDRESS]:PORT. False behind the last address. */
bool wire_name_endpoint(const struct wire_name *name, int index, char *text,
                        size_t size);

#endif
