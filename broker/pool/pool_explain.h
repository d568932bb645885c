/* SPDX-License-Identifier: Apache-2.0 */
/* pool_explain.h: why a node has its quota, and why a cycle moves its slots: a sentence
 * for people, and the name of the rule for programs.
 *
 * Ownership: texts live in the arena given. Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_EXPLAIN_H
#define SUBLET_BROKER_POOL_POOL_EXPLAIN_H

#include "broker/pool/pool.h"

/* "demand", "limit", "reserve", "floor", "level" ... */
const char *pool_explain_rule(enum plan_rule rule);

/* "gets 9 of 20: its scaled ownership (OWNED 10 of 100, at 90 slots); ..." */
const char *pool_explain(const struct pool_cycle *cycle, int node, struct arena *arena);

#endif
