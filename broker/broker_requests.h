/* SPDX-License-Identifier: Apache-2.0 */
/* broker_requests.h: requests of clients and sites: listings, the reclaim delay, a copy
 * of the store, a reload.
 *
 * Every client with a key may list. Administrators may set any reclaim delay; a
 * provider may set its own and those of its leases. A refusal says what was refused,
 * why, and what to do, and changes nothing.
 *
 * Source: INTERFACES 3; ARCHITECTURE 5 `MC_RECLAIM_DELAY`. Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_REQUESTS_H
#define SUBLET_BROKER_BROKER_REQUESTS_H

#include "broker/broker_parts.h"

void broker_requests_query(const struct broker *broker, const struct event *event,
                           struct effects *effects);

/* A piece of a copy of the store, which the shell makes; administrators only. */
void broker_requests_snapshot(const struct event *event, struct effects *effects);

/* The shell is to read the configuration again; administrators only. */
void broker_requests_reconfig(const struct event *event, struct effects *effects);

/* True if an override was set or removed: delays in force may have changed. */
bool broker_requests_set_reclaim(struct broker *broker, const struct event *event,
                                 struct effects *effects);

#endif
