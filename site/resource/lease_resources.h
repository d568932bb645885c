/* SPDX-License-Identifier: Apache-2.0 */
/* lease_resources.h: resources besides slots that leases carry, on both sides.
 *
 * Provider: memory and swap space of an own host that a lease has are subtracted from
 * mem, maxmem, swp and maxswp here, instances of a shared resource from its location.
 * How much the consumer's jobs use is unknown, so all of it counts as unused there, and
 * `mem` and `swp` here are what is free beside it.
 *
 * Consumer: a borrowed host has the exported amount, all of it free. The amounts of
 * several leases of the same host are added; if one of them exports no memory, the
 * provider's free memory is added, too. A shared resource counts only if both sites
 * define it alike.
 *
 * Units: MB, instances. Source: docs/design/leases.md "Export policies", "Shared
 * resources", "Shared leases"; docs/adr/0006. Layer: site. */
#ifndef SUBLET_SITE_RESOURCE_LEASE_RESOURCES_H
#define SUBLET_SITE_RESOURCE_LEASE_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "site/pass/pass_request.h"
#include "site/resource/host_resources.h"

struct lease_resources_parts {
    const struct site_config *config;
    struct host_resources *host_resources;
    struct provider *provider;
    const struct consumer *consumer;
    struct pass_request *pass_request;
};

struct lease_resources {
    struct lease_resources_parts parts;
    bool is_fresh; /* the counts below are those of the last refresh */
    uint64_t n_provider, n_consumer;
};

/* Before a pass: applies what has changed since the last time. */
void lease_resources_refresh(struct lease_resources *lease_resources,
                             struct effects *effects);
/* For another configuration; the next refresh applies everything. */
void lease_resources_reload(struct lease_resources *lease_resources,
                            const struct site_config *config,
                            struct host_resources *host_resources);
/* The provider learns the memory and swap space that an own host has reported. */
void lease_resources_update_host(struct lease_resources *lease_resources, int host);

#endif
