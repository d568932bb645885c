/* SPDX-License-Identifier: Apache-2.0 */
/* usage_gather.h: the ledgers of the sites, read by the broker for its API.
 *
 * Each site has its own ledger (docs/usage.md); the broker keeps no copy. A request
 * asks the sites one after another, in the order of their names, until its page is
 * full. A site that is away, that does not answer within USAGE_GATHER_SITE_MS, or that
 * refuses is named in `missing`. After USAGE_GATHER_MS the page ends, and the next one
 * begins with the site that was not asked yet.
 *
 * Rows are those of the sites with `site`, the site whose ledger they are from. `after`
 * of a page is "SITE:ROW", or "SITE:" if that site is done.
 *
 * Ownership: broker and server are borrowed and outlive it. An answer that nobody takes
 * is forgotten. Errors: ERR_PARSE a wrong `after`; ERR_NOT_FOUND no such site; ERR_FULL
 * too many requests. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_USAGE_GATHER_H
#define SUBLET_BROKER_IO_USAGE_GATHER_H

#include <czmq.h>

#include "broker/broker.h"
#include "sys/http/http.h"
#include "sys/wire/wire.h"

enum {
    USAGE_GATHER_SITE_MS = 3000,
    USAGE_GATHER_MS = 9000,
    USAGE_GATHERS_MAX = 16, /* requests at a time */
};

struct usage_gather;
struct usage_gather *usage_gather_new(zloop_t *loop, struct broker *broker,
                                      struct wire_server *server);
void usage_gather_free(struct usage_gather *gather); /* NULL is fine */
/* Resumes the requests of this server when there is an answer. */
void usage_gather_serve(struct usage_gather *gather, struct http *http);

/* Begins a request: its ticket. */
int usage_gather_begin(struct usage_gather *gather, const struct msg_query *query,
                       uint64_t *ticket, struct err *err) MUST_CHECK;
/* The answer as JSON, which the caller frees; then the ticket is used up. NULL: there
 * is none yet. */
char *usage_gather_take(struct usage_gather *gather, uint64_t ticket);

/* A message of a site: true if it is an answer to this, and nobody else's. */
bool usage_gather_hear(struct usage_gather *gather, const struct peer *from,
                       const struct msg *msg);

#endif
