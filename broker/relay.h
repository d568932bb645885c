/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h: relays messages about leased jobs between the two sites of a lease.
 *
 * Sites have no connection to each other. A message names its target. It is relayed
 * unread, in the target's session and in the sender's name, if the two sites share a
 * lease in that direction and the run is the consumer's; so no site can speak about
 * another site's jobs. LEASE_LOAD and LEASE_LOAD_ASK name a lease, which must be one of
 * the two sites. Terminal data is bounded (streams.h). A message to a target that is
 * not connected is dropped: both ends send again until answered, and CONTRACT tells the
 * consumer whether the provider is connected.
 *
 * Layer: broker. */
#ifndef SUBLET_BROKER_RELAY_H
#define SUBLET_BROKER_RELAY_H

#include "broker/broker_parts.h"

void relay_message(struct broker *broker, struct member *sender,
                   const struct event *event, struct effects *effects);

#endif
