/* SPDX-License-Identifier: Apache-2.0 */
/* resource_map.h: section ResourceMap: on which hosts a resource is, and which of them
 * share it (resource_config.h says how it is written).
 *
 * Errors: diagnostics. Ownership: in conf's arena.
 * Source: LSF's lsf.cluster. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_RESOURCE_MAP_H
#define SUBLET_SITE_CONFIG_RESOURCE_MAP_H

#include "site/config/resource_config.h"

/* Fills config->places. */
void resource_map_read(struct conf *conf, const struct resources *catalogue,
                       const struct resource_config_host *hosts, int n_hosts,
                       struct resource_config *config);

#endif
