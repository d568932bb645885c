/* SPDX-License-Identifier: Apache-2.0 */
/* http_admin.h: what an administrator changes over HTTP: the same requests that
 * `sublet` makes, answered when they are committed.
 *
 *     PUT /api/v1/reclaim-delay   {"delay":"5m"}, "default" removes an override;
 *                                 or {"delay_s":300}, null removes; with "lease" or
 *                                 "provider" for one only
 *
 *     POST /api/v1/leases/P/N/C/drain       nothing in the body, or {}
 *     POST /api/v1/leases/P/N/C/resume      likewise: ends what drain began
 *     POST /api/v1/leases/P/N/C/rebalance   likewise
 *     POST /api/v1/reload                   likewise: reads the configuration again
 *
 * Errors: ERR_PARSE the body is none of these; and what the broker says.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_ADMIN_H
#define SUBLET_BROKER_IO_HTTP_ADMIN_H

#include "base/arena.h"
#include "base/err.h"
#include "broker/io/hub.h"
#include "broker/view/broker_view.h"

struct http_admin_order {
    struct hub *hub;
    const char *who;                  /* gave the order, for its event */
    const struct http_target *target; /* of one of the requests above */
    const char *body;
    size_t n_body;
};
/* `answer`: a sentence about what was done, in the arena. */
int http_admin_change(const struct http_admin_order *order, struct arena *arena,
                      const char **answer, struct err *err) MUST_CHECK;

#endif
