/* SPDX-License-Identifier: Apache-2.0 */
/* broker_view.h: what is shown of the broker: leases, sites and reclaim delays as value
 * trees, page by page.
 *
 * A page has at most PAGE_ROWS_MAX rows, and as JSON stays well below FRAME_MAX; a
 * lease that would not fit a page alone is shown with its first hosts only, and n_hosts
 * tells how many it has.
 *
 * Order: leases by id, sites by name; delays: for all, of providers by name, of leases
 * by id. `next` of a page is the id of its last row.
 * Source: INTERFACES 3. Layer: broker (base only). */
#ifndef SUBLET_BROKER_VIEW_BROKER_VIEW_H
#define SUBLET_BROKER_VIEW_BROKER_VIEW_H

#include "base/value.h"
#include "broker/broker_parts.h"

/* {"schema_version":1} with an array of that name. */
struct value *broker_view_leases(const struct broker *broker, struct arena *arena,
                                 const struct msg_query *query, const char **next);
struct value *broker_view_sites(const struct broker *broker, struct arena *arena,
                                const struct msg_query *query, const char **next);
struct value *broker_view_reclaim(const struct broker *broker, struct arena *arena,
                                  const struct msg_query *query, const char **next);
/* {"schema_version":1,"version":"..."} */
struct value *broker_view_version(struct arena *arena);

#endif
