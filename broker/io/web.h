/* SPDX-License-Identifier: Apache-2.0 */
/* web.h: the broker's HTTP port, with what its answers are made from.
 *
 * The broker that leads answers from its memory, and has a stream. A standby answers
 * from a copy of the store, which it replaces (web_follow): it changes nothing and has
 * no stream, and of the sites it knows what the store has.
 *
 * Ownership: all is borrowed, and outlives it. Errors: those of http.h and
 * http_access.h. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_WEB_H
#define SUBLET_BROKER_IO_WEB_H

#include <czmq.h>

#include "broker/broker_config.h"
#include "broker/io/http_access.h"
#include "broker/io/hub.h"
#include "broker/io/store/store.h"

struct web;
/* `hub` NULL: of a standby. Without HTTP in the setup no port is opened. */
int web_new(zloop_t *loop, const struct broker_setup *setup, struct broker *broker,
            struct store *store, struct hub *hub, struct web **web,
            struct err *err) MUST_CHECK;
void web_free(struct web *web); /* NULL is fine */

/* Who may make changes; a reload replaces it. */
struct http_access **web_access(struct web *web);

/* Of a standby: what it answers from, and the leader's endpoint ("": none is known, or
 * the store cannot be reached). */
void web_follow(struct web *web, struct broker *copy, const char *leader);

#endif
