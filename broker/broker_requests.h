/* SPDX-License-Identifier: Apache-2.0 */
/* broker_requests.h: what administrators and sites ask of the broker: listings, and the
 * reclaim delay.
 *
 * Anyone with a key may look. The reclaim delay is an administrator's to set; a
 * provider may set it for itself and its own leases. A refusal says what, why and what
 * to do, and changes nothing.
 *
 * Source: INTERFACES 3; ARCHITECTURE 5 `MC_RECLAIM_DELAY`. Layer: broker (base only).
 */
#ifndef SUBLET_BROKER_BROKER_REQUESTS_H
#define SUBLET_BROKER_BROKER_REQUESTS_H

#include "broker/broker_parts.h"

void broker_requests_query(const struct broker *broker, const struct event *event,
                           struct effects *effects);

/* A piece of a copy of the store, which the shell makes; for administrators only. */
void broker_requests_snapshot(const struct event *event, struct effects *effects);

/* The configuration shall be read anew, which the shell does; likewise. */
void broker_requests_reconfig(const struct event *event, struct effects *effects);

/* True where an override was set or removed: delays in force may have changed. */
bool broker_requests_set_reclaim(struct broker *broker, const struct event *event,
                                 struct effects *effects);

#endif
