/* SPDX-License-Identifier: Apache-2.0 */
/* site_dispatch.h: all messages that a site accepts: from which peers, in which
 * session, and their handlers. Layer: site. */
#ifndef SUBLET_SITE_SITE_DISPATCH_H
#define SUBLET_SITE_SITE_DISPATCH_H

#include "model/effect.h"
#include "site/view/site_view.h"

struct site;

/* EVENT_MESSAGE. A message that its sender may not send, or that belongs to another
 * session, changes nothing; clients and hosts get an error. */
void site_dispatch_message(struct site *site, const struct event *event,
                           struct effects *effects);

/* What the listings show of the site, for a query at that instant. */
/* Hosts, runs and the consumer hear how far the journal is, and which attempts it has
 * lost. */
void site_dispatch_sync_mark(struct site *site, int64_t now_ms);
/* Runs may be started on all hosts, or on none (host_table_is_awaiting). */
void site_dispatch_sync_hosts(struct site *site);
struct site_view site_dispatch_view(struct site *site, int64_t now_ms);

#endif
