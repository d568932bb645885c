/* SPDX-License-Identifier: Apache-2.0 */
/* broker_drain.h: SET_DRAIN: an administrator drains a lease or a site, or resumes it;
 * or recovers a lease whose provider has lost its books.
 *
 * A lease is its provider's or an administrator's to drain; a site may drain itself. An
 * order for a site stands for all leases that it lends or borrows by, and for those
 * that it will; one for a lease stands beside it. To ask for what is so already is no
 * error: a question over TCP may come twice.
 *
 * Errors: ERR_NOT_FOUND, ERR_DENIED; ERR_STATE where there is nothing to drain, or a
 * lease that is to be resumed is drained because of its site.
 * Source: docs/adr/0012. Layer: broker (base only). */
#ifndef SUBLET_BROKER_BROKER_DRAIN_H
#define SUBLET_BROKER_BROKER_DRAIN_H

#include "broker/broker_parts.h"

/* What follows for the leases is done as their timers expire, which is now. */
void broker_drain_set(struct broker *broker, const struct event *event,
                      struct effects *effects);

#endif
