/* SPDX-License-Identifier: Apache-2.0 */
/* http_links.h: the connections of an HTTP port: how long a request may take as a
 * whole, and how many streams an address has.
 *
 * libmicrohttpd closes a connection on which nothing moves. A client that sends or
 * reads a byte now and then would hold its connection for ever: here it has
 * HTTP_REQUEST_MS for a whole request and HTTP_ANSWER_MS for a whole answer, unless
 * that is a stream.
 *
 * Units: milliseconds of daemon_now_ms. Part of http.h. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_HTTP_LINKS_H
#define SUBLET_SYS_HTTP_HTTP_LINKS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HTTP_REQUEST_MS = 20000, /* after the connection, or the request before: the time
                                that it may be idle, and as much again */
    HTTP_ANSWER_MS = 60000,
};

struct http_links; /* NULL: no connection */

/* For MHD_OPTION_NOTIFY_CONNECTION; `links` is a struct http_links **. */
void http_links_note(void *links, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code);

enum http_links_phase { HTTP_LINKS_REQUEST, HTTP_LINKS_ANSWER, HTTP_LINKS_STREAM };
/* What the connection does from now on. */
void http_links_begin(struct MHD_Connection *connection, enum http_links_phase phase,
                      int64_t now_ms);

/* Shuts down the connections that take too long; the library closes them. */
void http_links_end_late(struct http_links *links, int64_t now_ms);

/* All streams are taken. Picks the newest one of the address that has most, if it has
 * more than that of `connection` would have, and shuts its connection down: the caller
 * resumes it. NULL: there is none, and the new one is refused. */
struct MHD_Connection *http_links_give_stream(struct http_links *links,
                                              struct MHD_Connection *connection);

#endif
