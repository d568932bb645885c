/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: the broker's HTTP port, driven from its one loop.
 *
 * Requests are answered between batches, from what is committed; nothing is changed by
 * one. GET and HEAD only. Bounds: HTTP_CONNECTIONS_MAX connections, more are closed at
 * once; HTTP_TIMEOUT_S for a request to come whole, or a connection to stay idle; 32
 * KiB for its line and headers.
 *
 * Ownership: what the source names is borrowed and outlives it.
 * Errors: ERR_IO the port cannot be bound.
 * Source: INTERFACES 5, PITFALLS 8. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_H
#define SUBLET_BROKER_IO_HTTP_H

#include <czmq.h>

#include "broker/io/http_page.h"

enum { HTTP_CONNECTIONS_MAX = 256, HTTP_TIMEOUT_S = 10 };

struct http;
/* `host` "*": every address. */
int http_new(zloop_t *loop, const char *host, const char *port,
             const struct http_page_source *source, struct http **http,
             struct err *err) MUST_CHECK;
void http_free(struct http *http); /* NULL is fine */

#endif
