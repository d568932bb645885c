/* SPDX-License-Identifier: Apache-2.0 */
/* site_dispatch.h: every message that a site takes: from whom, in which session, and
 * who deals with it. Layer: site. */
#ifndef SUBLET_SITE_SITE_DISPATCH_H
#define SUBLET_SITE_SITE_DISPATCH_H

#include "model/effect.h"
#include "site/view/site_view.h"

struct site;

/* EVENT_MESSAGE. What is not for its sender to say, or of another session, changes
 * nothing; a client and a host are told so. */
void site_dispatch_message(struct site *site, const struct event *event,
                           struct effects *effects);

/* What the listings show of the site, for a query at that instant. */
struct site_view site_dispatch_view(const struct site *site, int64_t now_ms);

#endif
