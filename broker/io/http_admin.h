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
 *
 * Errors: ERR_PARSE the body is none of these; and what the broker says.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_ADMIN_H
#define SUBLET_BROKER_IO_HTTP_ADMIN_H

#include "base/arena.h"
#include "base/err.h"
#include "broker/io/hub.h"

/* `who` gave the order. `answer`: a sentence about what was done, in the arena. */
int http_admin_set_reclaim(struct hub *hub, const char *who, const char *body,
                           size_t n_body, struct arena *arena, const char **answer,
                           struct err *err) MUST_CHECK;
/* `is_drained` false resumes the lease. */
int http_admin_drain(struct hub *hub, const char *who, const char *lease,
                     bool is_drained, const char *body, size_t n_body,
                     struct arena *arena, const char **answer,
                     struct err *err) MUST_CHECK;
int http_admin_rebalance(struct hub *hub, const char *who, const char *lease,
                         const char *body, size_t n_body, struct arena *arena,
                         const char **answer, struct err *err) MUST_CHECK;

/* Reads the whole configuration again, as `reconfig` does. */
int http_admin_reload(struct hub *hub, const char *who, const char *body, size_t n_body,
                      struct arena *arena, const char **answer,
                      struct err *err) MUST_CHECK;

#endif
