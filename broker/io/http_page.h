/* SPDX-License-Identifier: Apache-2.0 */
/* http_page.h: answers to HTTP requests: status, type and text.
 *
 * Listings are the objects of the command line, and have `next`: the `after` of the
 * next page, null at the end. Errors are {"error":{"code","message"}}. A request that
 * changes something needs a user who may do that (http_access.h). A standby refuses it,
 * and the stream, with 503.
 *
 * Ownership: what the source names is borrowed.
 * Source: docs/design/interfaces.md "JSON", "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_PAGE_H
#define SUBLET_BROKER_IO_HTTP_PAGE_H

#include <stddef.h>

#include "broker/broker.h"
#include "broker/io/http_access.h"
#include "broker/io/http_feed.h"
#include "broker/io/hub.h"
#include "broker/io/metrics_thread.h"
#include "broker/io/store/store.h"
#include "sys/http/http.h"

struct http_page_source {
    struct broker *broker;
    struct store *store;
    struct hub *hub;   /* NULL: this broker is a standby */
    const char *state; /* path of the store */
    struct http_feed *feed;
    struct metrics_thread *metrics; /* NULL: of a standby */
    const char *leader; /* of a standby: the leader's endpoint; "": not known */
    struct http_access *const *access; /* the current one */
    int64_t started_ms, sample_interval_ms;
};

/* The page and what belongs to it: files of broker/io/page and Chart.js, put into the
 * program by tools/embed-files, plain and compressed. */
struct http_file {
    const char *name; /* NULL ends the table */
    const char *type;
    const char *etag;
    const unsigned char *bytes, *gzip;
    size_t n_bytes, n_gzip;
};
extern const struct http_file http_page_files[];

/* The functions of a struct http_handler whose arg is a source. */
bool http_page_refuse(void *arg, const struct http_request *request,
                      struct http_answer *answer);
void http_page_answer(void *arg, const struct http_request *request,
                      struct http_answer *answer);
void http_page_complain(void *arg, int status, const char *message,
                        struct http_answer *answer);
char *http_page_stream(void *arg, struct http_stream *stream, size_t *length);

#endif
