/* SPDX-License-Identifier: Apache-2.0 */
/* http_feed.h: what the readers of /api/v1/stream are told, as server-sent events.
 *
 *     event: hello   the object of /api/v1/about; first
 *     event: event   a row of /api/v1/events; its id is the stream's, and a reader that
 *                    comes back with it (Last-Event-ID) misses none
 *     event: lease   a row of /api/v1/leases that has changed, also an ended one
 *     event: site    likewise of /api/v1/sites
 *
 * Leases and sites are looked at every HTTP_FEED_MS while somebody reads; in between
 * only their last state counts. A reader who was away reads the listings again: hello
 * tells him when. What a reader has not been told is not kept but read when he takes
 * it, so that a slow one costs nothing.
 *
 * Ownership: what the source names is borrowed. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_FEED_H
#define SUBLET_BROKER_IO_HTTP_FEED_H

#include <czmq.h>

#include "broker/broker.h"
#include "broker/io/store.h"
#include "sys/http/http.h"

enum { HTTP_FEED_MS = 500 };

struct http_feed;
struct http_feed *http_feed_new(zloop_t *loop, struct broker *broker,
                                struct store *store);
void http_feed_free(struct http_feed *feed); /* NULL is fine */
/* Whose readers are woken; from now on. */
void http_feed_serve(struct http_feed *feed, struct http *http);

/* A reader that has heard of the event `after` (-1: begins now). */
int http_feed_begin(struct http_feed *feed, int64_t after, struct http_stream *stream,
                    struct err *err) MUST_CHECK;
/* Its next piece is hello. */
bool http_feed_is_new(const struct http_stream *stream);
/* The next piece; NULL: nothing to say now. `hello` is the JSON of the first one. */
char *http_feed_next(struct http_feed *feed, struct http_stream *stream,
                     const char *hello, size_t *length);

#endif
