/* SPDX-License-Identifier: Apache-2.0 */
/* world_net.h: messages between the daemons and hosts of a world: each is encoded, and
 * between a site and the broker it may be late, repeated, lost or cut off. A site and
 * its hosts share a machine room, where nothing is lost.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_NET_H
#define SUBLET_SIM_WORLD_WORLD_NET_H

#include "sim/world/world_state.h"

void world_net_send(struct world *world, int daemon, const struct peer *to,
                    const struct msg *msg);
void world_net_send_from_host(struct world *world, int host, const struct msg *msg);

#endif
