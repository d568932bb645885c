/* SPDX-License-Identifier: Apache-2.0 */
/* export_shared.h: SharedResourceExport: instances of shared resources that go to sites
 * which borrow hosts.
 *
 * NAME, NINSTANCES and DISTRIBUTION are required. Each site in DISTRIBUTION must be
 * named by an earlier HostExport. It gets instances of a place (ResourceMap) only if an
 * earlier HostExport exports a host in that place to it, and its jobs can use them only
 * on such hosts. A site without such a host gets none, and the others share its part.
 * NINSTANCES, or as many as exist, are distributed by highest averages. If the
 * instances of a place are measured, it counts as having NINSTANCES. Places are used in
 * file order.
 *
 * The instances of a site are not counted by host: each of its leases with hosts in the
 * place names the same pool.
 *
 * Ownership: in the arena given, or conf's. Source: docs/design/leases.md "Shared
 * resources"; docs/adr/0006. Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_SHARED_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_SHARED_H

#include "provider/export/export.h"

/* Hosts that share instances of a resource. */
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

/* A section that was checked. */
struct export_shared {
    const char *name;
    int traits;
    int64_t n_instances;
    int n_before;     /* how many policies are before it: only these count */
    const int *pools; /* by host of the site: the number of its place; 0: none */
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
