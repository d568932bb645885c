/* SPDX-License-Identifier: Apache-2.0 */
/* pool_view.h: what is shown of a cycle of a pool: a row for each node.
 *
 * Order: nodes in file order. No limit, and a demand without bound, are null.
 * Source: docs/design/interfaces.md "JSON", `plan quota`. Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_VIEW_H
#define SUBLET_BROKER_POOL_POOL_VIEW_H

#include "base/value.h"
#include "broker/pool/pool.h"

/* {"schema_version":1,"slots":N,"nodes":[...]}; with `why`, each node has its rule and
 * the sentence of pool_explain too. */
struct value *pool_view_cycle(const struct pool_cycle *cycle, bool with_why,
                              struct arena *arena);

/* A number of slots; PLAN_UNLIMITED is null. */
void pool_view_add_count(struct arena *arena, struct value *row, const char *key,
                         int64_t slots);

/* ------------------------------------------------------------ pool_explain.c */

/* "demand", "limit", "reserve", "floor", "level" ... */
const char *pool_explain_rule(enum plan_rule rule);

/* "gets 9 of 20: its scaled ownership (OWNED 10 of 100, at 90 slots); ..." */
const char *pool_explain(const struct pool_cycle *cycle, int node, struct arena *arena);

/* "10 slots recalled, as others have less than their quota": what the cycle moves, and
 * why; of a node of which it moves some. */
const char *pool_explain_move(const struct pool_cycle *cycle, int node,
                              struct arena *arena);

#endif
