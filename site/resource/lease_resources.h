/* SPDX-License-Identifier: Apache-2.0 */
/* lease_resources.h: what leases give away besides slots, made true on both sides of
 * them.
 *
 * As a provider: memory and swap space that a lease has on an own host are taken off
 * what this site sees there (mem, maxmem, swp, maxswp), instances of a shared resource
 * off what its place has. Nobody knows how much of it the consumer's jobs use: all of
 * it counts as unused, and so `mem` and `swp` here are what is free beside it.
 *
 * As a consumer: the exported amount is all that a borrowed host has, and all of it is
 * free. Where several leases give the same host, it has what they give together, and
 * where one of them gives no memory, what its provider has free comes on top. A shared
 * resource counts where this site defines it as the provider does.
 *
 * Units: MB, instances. Source: lsf.md 1.2, 1.4, 1.5 rule 2; ADR 0016.
 * Layer: site. */
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
    struct host_resources *facts;
    struct provider *provider;
    const struct consumer *consumer;
    struct pass_request *pass_request;
};

struct lease_resources {
    struct lease_resources_parts parts;
    bool is_fresh; /* what follows was looked at */
    uint64_t n_provider, n_consumer;
};

/* Before the scheduler looks at hosts: does what has to be done since the last time. */
void lease_resources_refresh(struct lease_resources *grants, struct effects *effects);
/* Everything anew: there is another configuration. */
void lease_resources_reload(struct lease_resources *grants,
                            const struct site_config *config,
                            struct host_resources *facts);
/* An own host has told of itself: what it has, its leases share. */
void lease_resources_update_host(struct lease_resources *grants, int host);

#endif
