/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_view.h: the hosts that leases name, a row each: what is exported of it, and who
 * uses that.
 *
 * The broker knows no other hosts, and only the exported slots of these. Columns that a
 * site's own listing has besides (suspended, reserved) are null. A page walks the hosts
 * of one provider after the other, so that its work is bounded by theirs.
 *
 * Order: by provider, then host. `next` is PROVIDER/HOST of the last row.
 * Source: INTERFACES 3 (host). Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_HOSTS_VIEW_H
#define SUBLET_BROKER_VIEW_HOSTS_VIEW_H

#include "base/value.h"
#include "broker/broker_parts.h"

/* `query`: of a provider, a name ("n1@north"), behind `after`. */
struct value *hosts_view_page(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, const char **next);

#endif
