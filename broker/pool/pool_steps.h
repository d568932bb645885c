/* SPDX-License-Identifier: Apache-2.0 */
/* pool_steps.h: the steps of a cycle (pool.h), in their order. Each fills its fields of
 * the leaves' moves; pool_free() fills those of all nodes.
 *
 * Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_STEPS_H
#define SUBLET_BROKER_POOL_POOL_STEPS_H

#include "broker/pool/pool.h"

/* What the node reserves and does not have; `below` is what its children miss. */
int64_t pool_grant_missing(const struct pool_cycle *cycle, int node, int64_t below);

void pool_grant(struct pool_cycle *cycle, struct arena *arena);
void pool_recall(struct pool_cycle *cycle, struct arena *arena);
void pool_free(struct pool_cycle *cycle, struct arena *arena);

#endif
