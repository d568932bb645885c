/* SPDX-License-Identifier: Apache-2.0 */
/* world_host.h: the hosts of a world.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_HOST_H
#define SUBLET_SIM_WORLD_WORLD_HOST_H

#include "sim/world/world_state.h"

/* Adds the hosts of the site's configuration that the world does not have yet. */
void world_host_add_all(struct world *world, int site);

/* The host in that configuration, or NULL. */
const struct site_host *world_host_config(const struct site_config *config,
                                          const char *name);
/* The host has that size from now on; NULL: it is not configured. */
void world_host_resize(struct world *world, int site, const char *name,
                       const struct site_host *host);
/* The site has recorded the CPUs of a host: it may have another size now. */
void world_host_set_cpus(struct world *world, int site, const struct row_cpus *row);
/* The journal of the site was restored: its hosts have the CPUs that it has on record.
 */
void world_host_restore_cpus(struct world *world, int site);

#endif
