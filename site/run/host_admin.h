/* SPDX-License-Identifier: Apache-2.0 */
/* host_admin.h: hosts that an administrator has closed: nothing new starts there, what
 * runs goes on.
 *
 * An own host ("n1") that is closed counts for neither side of its leases, and takes no
 * job of a consumer either. A borrowed one ("n1@north") is closed for this site alone:
 * it stays in the lease, where its idle slots may go home. Both outlive restarts.
 *
 * Order: by name. Source: docs/design/leases.md "The consumer's side", "Decided".
 * Layer: site. */
#ifndef SUBLET_SITE_RUN_HOST_ADMIN_H
#define SUBLET_SITE_RUN_HOST_ADMIN_H

#include <stdbool.h>

#include "provider/provider.h"
#include "site/run/host_table.h"

struct host_admin {
    char **names;
    int count, capacity;
};

void host_admin_release(struct host_admin *closed);
void host_admin_load(struct host_admin *closed, const struct row_closed *row);
bool host_admin_is_closed(const struct host_admin *closed, const char *host);

/* The provider is told which own hosts are unavailable or closed, also by a window, and
 * which have not connected yet;
 * `local_ms`: the time of the windows of hosts. */
void host_admin_sync(const struct host_admin *closed, const struct host_table *hosts,
                     struct provider *provider, int64_t local_ms);
/* The same of one host, by its index. */
void host_admin_sync_host(const struct host_admin *closed,
                          const struct host_table *hosts, struct provider *provider,
                          int host, int64_t local_ms);

#endif
