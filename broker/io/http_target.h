/* SPDX-License-Identifier: Apache-2.0 */
/* http_target.h: what a request's target asks for: one table of paths, one of
 * parameters, and what is wrong with the rest.
 *
 * Parts of the path and values of parameters are decoded (%41) one by one, so that a
 * slash in a name stays in the name. A parameter that the path does not know, that is
 * there twice or is out of bounds is refused; an empty value counts as none.
 *
 * Errors: ERR_PARSE, ERR_BOUNDS (the parameter, and what was expected); ERR_NOT_FOUND
 * no such path; ERR_UNBUILT a path that will be one.
 * Ownership: texts live in the arena. Source: INTERFACES 5.
 * Layer: broker/io, without any input or output. */
#ifndef SUBLET_BROKER_IO_HTTP_TARGET_H
#define SUBLET_BROKER_IO_HTTP_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/msg.h"

enum http_target_page {
    HTTP_TARGET_LEASES,
    HTTP_TARGET_LEASE, /* query.name: its id */
    HTTP_TARGET_HISTORY,
    HTTP_TARGET_SITES,
    HTTP_TARGET_EVENTS,
    HTTP_TARGET_HEALTH,
    HTTP_TARGET_METRICS,
};

struct http_target {
    enum http_target_page page;
    struct msg_query query; /* no text is NULL */
};

/* `uri`: as it came, "/path?name=value". */
int http_target_parse(const char *uri, struct arena *arena, struct http_target *target,
                      struct err *err) MUST_CHECK;

#endif
