/* SPDX-License-Identifier: Apache-2.0 */
/* facts_map.h: section ResourceMap: on which hosts a resource is, and which of them
 * share it (facts_config.h says how it is written).
 *
 * Errors: diagnostics. Ownership: in conf's arena.
 * Source: LSF's lsf.cluster. Layer: site. */
#ifndef SUBLET_SITE_FACTS_MAP_H
#define SUBLET_SITE_FACTS_MAP_H

#include "site/facts_config.h"

/* Fills config->places. */
void facts_map_read(struct conf *conf, const struct resources *catalogue,
                    const struct facts_host *hosts, int n_hosts,
                    struct facts_config *config);

#endif
