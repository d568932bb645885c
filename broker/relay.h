/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h: passes messages about leased jobs between a lease's two sites.
 *
 * Sites have no connection to each other. A message names its target and is passed on
 * unread, under the target's session and in the sender's name, if the two share a lease
 * that way round and the run it is about is the consumer's: so no site speaks about
 * another's jobs. LEASE_LOAD and its question are about a lease, which must be the two
 * sites' own; what goes to and from terminals has a bound (streams.h). What a target
 * that is not connected should have got is dropped without a word: both ends send again
 * until answered, and the consumer is told by CONTRACT who is here.
 *
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_RELAY_H
#define SUBLET_BROKER_RELAY_H

#include "broker/broker_parts.h"

void relay_message(struct broker *broker, struct member *sender,
                   const struct event *event, struct effects *effects);

#endif
