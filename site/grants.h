/* SPDX-License-Identifier: Apache-2.0 */
/* grants.h: what leases give away besides slots, made true on both sides of them.
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
#ifndef SUBLET_SITE_GRANTS_H
#define SUBLET_SITE_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "site/facts.h"
#include "site/pass/pass_request.h"

struct grants_parts {
    const struct site_config *config;
    struct facts *facts;
    struct provider *provider;
    const struct consumer *consumer;
    struct pass_request *pass_request;
};

struct grants {
    struct grants_parts parts;
    bool is_fresh; /* what follows was looked at */
    uint64_t n_provider, n_consumer;
};

/* Before the scheduler looks at hosts: does what has to be done since the last time. */
void grants_refresh(struct grants *grants, struct effects *effects);
/* Everything anew: there is another configuration. */
void grants_reload(struct grants *grants, const struct site_config *config,
                   struct facts *facts);
/* An own host has told of itself: what it has, its leases share. */
void grants_tell(struct grants *grants, int host);

#endif
