/* SPDX-License-Identifier: Apache-2.0 */
/* http_feed.h: the server-sent events of /api/v1/stream.
 *
 *     event: hello   the object of /api/v1/about; first
 *     event: event   a row of /api/v1/events; its id is the stream's, and a reader that
 *                    reconnects with it (Last-Event-ID) misses none
 *     event: lease   a row of /api/v1/leases that has changed, also an ended one
 *     event: site    likewise of /api/v1/sites
 *
 * While there are readers, leases and sites are compared every HTTP_FEED_MS; states in
 * between are not sent. A reader reads the listings again after each hello. What a
 * reader has not received yet is read from the store when it takes it, so that a slow
 * reader costs no memory.
 *
 * Ownership: what the source names is borrowed. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_FEED_H
#define SUBLET_BROKER_IO_HTTP_FEED_H

#include <czmq.h>

#include "broker/broker.h"
#include "broker/io/store/store.h"
#include "sys/http/http.h"

enum { HTTP_FEED_MS = 500 };

struct http_feed;
struct http_feed *http_feed_new(zloop_t *loop, struct broker *broker,
                                struct store *store);
void http_feed_free(struct http_feed *feed); /* NULL is fine */
/* Wakes the readers of this server from now on. */
void http_feed_serve(struct http_feed *feed, struct http *http);

/* Adds a reader that has received events up to `after` (-1: none, it begins now). */
int http_feed_begin(struct http_feed *feed, int64_t after, struct http_stream *stream,
                    struct err *err) MUST_CHECK;
/* Its next piece is hello. */
bool http_feed_is_new(const struct http_stream *stream);
/* The next piece; NULL: there is none now. `hello` is the JSON of the first one. */
char *http_feed_next(struct http_feed *feed, struct http_stream *stream,
                     const char *hello, size_t *length);

#endif
