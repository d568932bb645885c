/* SPDX-License-Identifier: Apache-2.0 */
/* plan_scale.h: ownership at the size that a pool has right now.
 *
 * Hybrid nodes own a part of the configured slots; when the pool grows or shrinks, so
 * do they. Nodes of ownership policy own a fixed number, and the hybrid ones scale with
 * what is left of the pool.
 *
 * Units: slots. Order: short of slots, ownership subtrees get theirs in order of rank.
 * Source: seed document 001, "How many slots does the consumer own?" and "Mixing";
 * hybrid.md 3.1, 3.9.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_PLAN_PLAN_SCALE_H
#define SUBLET_BROKER_PLAN_PLAN_SCALE_H

#include "broker/plan/plan_quota.h"

/* How a pool is divided between the two policies. */
struct plan_parts {
    int64_t owned_apart;       /* slots that ownership subtrees get */
    int64_t slots, configured; /* of the hybrid part */
};
struct plan_parts plan_parts(const struct plan *plan, int64_t slots);

/* Fills `scaled` of every node. */
void plan_scale(const struct plan *plan, int64_t slots, struct plan_quota *shares,
                struct arena *arena);

#endif
