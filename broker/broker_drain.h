/* SPDX-License-Identifier: Apache-2.0 */
/* broker_drain.h: SET_DRAIN: an administrator drains a lease or a site, resumes it, or
 * recovers a lease whose provider has lost its ledger.
 *
 * A lease may be drained by its provider and by an administrator; a site also by
 * itself. An order for a site holds for all its leases, present and future. An order
 * for a lease is independent of that. A request for what is already so is no error, as
 * a request over TCP may arrive twice.
 *
 * Errors: ERR_NOT_FOUND, ERR_DENIED; ERR_STATE if there is nothing to drain, or if a
 * lease that is to be resumed is drained because of its site. Source: docs/adr/0012.
 * Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_DRAIN_H
#define SUBLET_BROKER_BROKER_DRAIN_H

#include "broker/broker_parts.h"

/* The consequences for the leases are applied as their timers expire, which are set to
 * now. */
void broker_drain_set(struct broker *broker, const struct event *event,
                      struct effects *effects);

#endif
