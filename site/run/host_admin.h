/* SPDX-License-Identifier: Apache-2.0 */
/* host_admin.h: hosts that an administrator has closed: nothing new starts there, what
 * runs goes on.
 *
 * An own host ("n1") that is closed counts for neither side of its leases, and takes no
 * job of a consumer either. A borrowed one ("n1@north") is closed for this site alone:
 * it stays in the lease, where its idle slots may go home. Both outlive restarts.
 *
 * Order: by name. Source: lsf.md 1.6; ARCHITECTURE 5, "a host that is down, or closed".
 * Layer: site. */
#ifndef SUBLET_SITE_RUN_HOST_ADMIN_H
#define SUBLET_SITE_RUN_HOST_ADMIN_H

#include <stdbool.h>

#include "model/effect.h"

struct host_admin {
    char **names;
    int count, capacity;
};

void host_admin_release(struct host_admin *closed);
void host_admin_load(struct host_admin *closed, const struct row_closed *row);
bool host_admin_is_closed(const struct host_admin *closed, const char *host);

struct site;
/* The provider hears which own hosts are down or closed, by a window too. */
void host_admin_sync(const struct site *site);
/* The same of one host, by its index. */
void host_admin_sync_host(const struct site *site, int host);
/* HOST_CONTROL: close or open. */
void host_admin_request(struct site *site, const struct peer *from,
                        const struct msg_host_control *order, struct effects *effects);

#endif
