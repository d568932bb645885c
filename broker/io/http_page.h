/* SPDX-License-Identifier: Apache-2.0 */
/* http_page.h: what is answered to a request: status, type and text.
 *
 * Listings are the objects of the command line, with `next` beside the array: what the
 * next page asks for as `after`, null at the end. Errors are
 * {"error":{"code","message"}}.
 *
 * Ownership: the text is heap memory of whoever asked.
 * Source: INTERFACES 3 and 5. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_PAGE_H
#define SUBLET_BROKER_IO_HTTP_PAGE_H

#include <stddef.h>

#include "broker/broker.h"
#include "broker/io/metrics.h"
#include "broker/io/store.h"

struct http_page_source {
    const struct broker *broker;
    struct store *store;
    const struct metrics *metrics;
};

struct http_page {
    int status;
    const char *type; /* a literal */
    char *text;
    size_t length;
};

/* A GET of `uri`. */
void http_page_read(const struct http_page_source *source, const char *uri,
                    int64_t now_ms, struct http_page *page);
/* An error of the request itself: 400 bad_request, 405 method_not_allowed. */
void http_page_refuse(int status, const char *message, struct http_page *page);

#endif
