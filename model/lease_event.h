/* SPDX-License-Identifier: Apache-2.0 */
/* lease_event.h: rows of the history of leases, sites and pools as events.
 *
 * `sublet events`, the HTTP API and the events of a simulation show a row alike.
 * Source: docs/design/interfaces.md "Scenarios". Layer: model. */
#ifndef SUBLET_MODEL_LEASE_EVENT_H
#define SUBLET_MODEL_LEASE_EVENT_H

#include "base/value.h"
#include "model/row.h"

/* "lease_made" and so on. */
const char *lease_event_name(enum history_event event);

/* Adds what follows the name of an event: lease, site or node, and the reason. A
 * deadline is an instant, or in simulations the time since `start_ms`, which else is
 * negative. */
void lease_event_add(struct arena *arena, struct value *event,
                     const struct row_history *row, int64_t start_ms);

/* {"available", "used"} of one side, with the name of its site if that is not NULL. */
void lease_event_add_side(struct arena *arena, struct value *event, const char *key,
                          const char *site, int available, int used);

#endif
