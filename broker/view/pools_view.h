/* SPDX-License-Identifier: Apache-2.0 */
/* pools_view.h: the pools of the broker: each with its slots, and the nodes of its plan
 * with their quotas as they are now, and what was last done about them.
 *
 * Quotas are computed by what leaves have and want at this moment; the next cycle acts
 * by the same rule. Order: pools as configured, nodes as in the file. Source:
 * INTERFACES 3 and 5. Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_POOLS_VIEW_H
#define SUBLET_BROKER_VIEW_POOLS_VIEW_H

#include "base/value.h"
#include "broker/broker.h"

/* All pools, or the one that is named. */
struct value *pools_view_list(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);
/* The nodes of the pool that is named; `host`: only the one with that path. No rows
 * where there is none. */
struct value *pools_view_plan(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);

#endif
