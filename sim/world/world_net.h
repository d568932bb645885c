/* SPDX-License-Identifier: Apache-2.0 */
/* world_net.h: messages between the daemons and hosts of a world. A part of them is
 * encoded and decoded, which must give the same.
 * Between a site and the broker it may be delayed, repeated or lost. Between a site and
 * its hosts nothing is lost.
 *
 * Layer: sim. */
#ifndef SUBLET_SIM_WORLD_WORLD_NET_H
#define SUBLET_SIM_WORLD_WORLD_NET_H

#include "sim/world/world_state.h"

/* Sends the message of an effect of a batch that the daemon has committed. */
void world_net_send(struct world *world, int daemon, const struct effect *effect,
                    struct sent *sent);
void world_net_send_from_host(struct world *world, int host, const struct msg *msg);

#endif
