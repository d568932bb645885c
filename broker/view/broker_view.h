/* SPDX-License-Identifier: Apache-2.0 */
/* broker_view.h: the listings that broker_view() (broker.h) is made of.
 *
 * Source: docs/design/interfaces.md "JSON". Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_BROKER_VIEW_H
#define SUBLET_BROKER_VIEW_BROKER_VIEW_H

#include "broker/broker.h"
#include "broker/broker_parts.h"
#include "model/page.h"

/* -------------------------------------------------------------- hosts_view.c */

/* `query`: of a provider, a name ("n1@north"), behind `after`. */
struct value *hosts_view_page(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, const char **next);

/* -------------------------------------------------------------- pools_view.c */

/* All pools, or the one that is named. */
struct value *pools_view_list(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);
/* The nodes of the pool that is named; `host`: only the one with that path. */
struct value *pools_view_plan(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);

#endif
