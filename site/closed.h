/* SPDX-License-Identifier: Apache-2.0 */
/* closed.h: hosts that an administrator has closed: nothing new starts there, what runs
 * goes on.
 *
 * An own host ("n1") that is closed counts for neither side of its leases, and takes no
 * job of a consumer either. A borrowed one ("n1@north") is closed for this site alone:
 * it stays in the lease, where its idle slots may go home. Both outlive restarts.
 *
 * Order: by name. Source: lsf.md 1.6; ARCHITECTURE 5, "a host that is down, or closed".
 * Layer: site. */
#ifndef SUBLET_SITE_CLOSED_H
#define SUBLET_SITE_CLOSED_H

#include <stdbool.h>

#include "model/effect.h"

struct closed {
    char **names;
    int count, capacity;
};

void closed_release(struct closed *closed);
void closed_load(struct closed *closed, const struct row_closed *row);
bool closed_has(const struct closed *closed, const char *host);

struct site;
/* The provider hears which own hosts are down or closed, by a window too. */
void closed_tell(const struct site *site);
/* The same of one host, by its index. */
void closed_tell_host(const struct site *site, int host);
/* HOST_CONTROL: close or open. */
void closed_request(struct site *site, const struct peer *from,
                    const struct msg_host_control *order, struct effects *effects);

#endif
