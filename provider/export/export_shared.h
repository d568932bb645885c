/* SPDX-License-Identifier: Apache-2.0 */
/* export_shared.h: SharedResourceExport: instances of shared resources that go to sites
 * which borrow hosts.
 *
 * NAME, NINSTANCES and DISTRIBUTION, all three. A site that is named must be one that a
 * HostExport before it names too. Instances come from places (ResourceMap) that a host
 * exported to the site by then is in, and are seen from its hosts there; a site without
 * such a host gets none, and its part goes to the others. NINSTANCES are shared out by
 * highest averages, or as many as there are; a place whose instances are measured has
 * what NINSTANCES says. Places are used in file order.
 *
 * What a site gets is not of each host: each of its leases with hosts in the place
 * names the same pool.
 *
 * Ownership: in the arena given, or conf's. Source: docs/design/leases.md "Shared
 * resources"; docs/adr/0006. Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_SHARED_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_SHARED_H

#include "provider/export/export.h"

/* Hosts that have instances of a resource together. */
struct export_place {
    int64_t n_instances; /* -1: measured */
    const int *hosts;    /* indexes into the site's */
    int n_hosts;
};

struct export_resource {
    const char *name;
    bool is_numeric;
    int traits;                        /* enum resource_trait */
    const struct export_place *places; /* in file order: pools 1, 2 ... */
    int n_places;                      /* 0: it is not shared */
};

/* A section, judged. */
struct export_shared {
    const char *name;
    int traits;
    int64_t n_instances;
    int n_before;     /* policies that stand before it: these count */
    const int *pools; /* by host of the site: its place, from 1; 0: none */
    int n_hosts;
    const int64_t *counts; /* by place: its instances */
    int n_places;
    const char **consumers;
    const int64_t *shares;
    int n_shares;
};

/* Reads the sections into a plan that export_read made of the same site, and gives.
 * Complaints, and the section is left out: a key is missing, an unknown resource, one
 * that is not numeric or not shared, a site that no HostExport before it names, the
 * same resource for a site twice, too much for a lease. Warnings: a site gets none. */
void export_shared_read(struct conf *conf, const struct export_site *site,
                        const struct export_resource *resources, int n_resources,
                        struct export_plan *plan);

/* Gives the plan's leases their resources, by the hosts that they have now. False: for
 * a lease it was too much, and something was left out. */
bool export_shared_give(struct arena *arena, struct export_plan *plan);

#endif
