/* SPDX-License-Identifier: Apache-2.0 */
/* overviews.h: what sites tell of their hosts, queues and jobs, for the broker's API.
 *
 * The broker keeps no such state of its own: it asks the site, and keeps the answer for
 * OVERVIEWS_KEEP_MS, so that many readers cause one question. A site that does not
 * answer within OVERVIEWS_WAIT_MS is not asked again for as long.
 *
 * Ownership: broker and server are borrowed and outlive it. Errors: ERR_NOT_FOUND no
 * such site; ERR_AWAY it is not connected or does not answer; ERR_FULL too many sites
 * are asked at a time; what the site said (ERR_DENIED: OVERVIEW is none).
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_OVERVIEWS_H
#define SUBLET_BROKER_IO_OVERVIEWS_H

#include <czmq.h>

#include "broker/broker.h"
#include "sys/http/http.h"
#include "sys/wire/wire.h"

enum {
    OVERVIEWS_MAX = 32, /* sites that were asked within OVERVIEWS_KEEP_MS */
    OVERVIEWS_KEEP_MS = 3000,
    OVERVIEWS_WAIT_MS = 3000,
};

struct overviews;
struct overviews *overviews_new(zloop_t *loop, struct broker *broker,
                                struct wire_server *server);
void overviews_free(struct overviews *overviews); /* NULL is fine */
/* Resumes the requests of this server when there is an answer. */
void overviews_serve(struct overviews *overviews, struct http *http);

/* `json`: the site's answer, on the heap; NULL: it is asked, and there will be an
 * answer, or an error, when requests are resumed. */
int overviews_get(struct overviews *overviews, const char *site, char **json,
                  struct err *err) MUST_CHECK;

/* A message of a site: true if it is an answer to this, and nobody else's. */
bool overviews_hear(struct overviews *overviews, const struct peer *from,
                    const struct msg *msg);

#endif
