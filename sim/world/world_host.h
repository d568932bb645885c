/* SPDX-License-Identifier: Apache-2.0 */
/* world_host.h: the hosts of a world.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_HOST_H
#define SUBLET_SIM_WORLD_WORLD_HOST_H

#include "sim/world/world_state.h"

/* Adds the hosts of the site's configuration that the world does not have yet. */
void world_host_add_all(struct world *world, int site);

#endif
