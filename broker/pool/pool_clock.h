/* SPDX-License-Identifier: Apache-2.0 */
/* pool_clock.h: when pools run a cycle, and what a cycle does.
 *
 * In each CYCLE a pool looks at what is exported to it and what its leaves have and
 * want (pool_snapshot.h), decides (pool.h), and executes the decision: idle slots
 * become grants, others are recalled (pool_execute.c). The start of a time window is
 * one more cycle. After a start of the broker no cycle runs before all providers are
 * back, or LOST_AFTER has passed: the slots of a provider that is not back yet must not
 * look as if they were gone.
 *
 * A plan that is loaded anew counts from the next cycle. The contract of a leaf that is
 * in no plan any more is drained, and its slots are recalled.
 *
 * Units: milliseconds, slots. Order: pools as configured; within a cycle leaves in the
 * order of the plan. Source: Symphony, "Hybrid policy"; docs/design/plans.md "Cycle";
 * docs/adr/0012; docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_CLOCK_H
#define SUBLET_BROKER_POOL_POOL_CLOCK_H

#include "broker/pool/pool_snapshot.h"
#include "broker/pool/pool_table.h"

void pool_clock_start(struct pool_table *pools, int64_t lost_after_ms, int64_t now_ms);
/* Replaces the plans. The caller has every lease updated (pool_table_update_lease). */
void pool_clock_reload(struct pool_table *pools, const struct broker_config *config,
                       int64_t now_ms);

/* Recalls, within its last grace, what the contract of a leaf holds that no plan has
 * any more. */
void pool_clock_recall_unplanned(struct lease *lease, int64_t now_ms,
                                 struct effects *effects);

/* Runs the cycles that are due; call it at the end of a batch. */
void pool_clock_tick(const struct pool_world *world, int64_t utc_offset_ms,
                     int64_t now_ms, struct effects *effects);
/* What a cycle would decide now, to be shown. */
void pool_clock_look(const struct lease_table *leases, const struct members *members,
                     const struct pool_entry *pool, const struct plan *plan,
                     int64_t now_ms, struct arena *arena,
                     struct pool_snapshot *snapshot, struct pool_cycle *cycle);
int64_t pool_clock_wake_ms(const struct pool_table *pools);

#endif
