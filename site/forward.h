/* SPDX-License-Identifier: Apache-2.0 */
/* forward.h: what only the broker can answer is passed on to it, and its answer back.
 * Bounded in number and time. Layer: site. */
#ifndef SUBLET_SITE_FORWARD_H
#define SUBLET_SITE_FORWARD_H

#include "model/effect.h"

struct site;

/* QUERY; SET_RECLAIM and SET_DRAIN (for admins of the site only), numbered anew. */
void forward_request(struct site *site, const struct peer *from, const struct msg *msg,
                     uint64_t request, int64_t now_ms, struct effects *effects);
/* REPLY from the broker. */
void forward_reply(struct site *site, const struct msg_reply *reply,
                   struct effects *effects);

#endif
