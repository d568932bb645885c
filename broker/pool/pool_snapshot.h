/* SPDX-License-Identifier: Apache-2.0 */
/* pool_snapshot.h: a pool as it is now: its slots, which of them are idle on which
 * host, and what each leaf has and wants.
 *
 * Only usable slots count: of contracts whose provider is here, has stated them, and
 * does not drain them, on hosts that are up. A grant that has not arrived yet counts as
 * held. A leaf wants what it uses of the pool and what waits in its queues; if its site
 * is away, what it uses. Jobs that run outside the pool do not count.
 *
 * Ownership: the arena's; leases are borrowed. Order: leases by id, hosts in their
 * order. Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_SNAPSHOT_H
#define SUBLET_BROKER_POOL_POOL_SNAPSHOT_H

#include "broker/plan/plan_quota.h"
#include "broker/pool/pool_table.h"

/* A host's slots in the pool. */
struct pool_host {
    struct lease *idle_lease; /* of the policy */
    const char *host;
    int n_slots; /* exported to the pool there */
    int n_idle;
};

/* What a leaf does with its slots. */
struct pool_activity {
    int64_t n_used, n_granted; /* granted ones are not there yet */
};

/* A contract of a leaf. */
struct pool_contract {
    struct lease *lease;
    int leaf; /* in the plan; PLAN_NO_NODE: only that of another window has it */
};

struct pool_snapshot {
    const struct plan *plan;
    int64_t n_slots;
    int host_slots;  /* of each host, if all have the same; else 0 */
    int least_slots; /* of the smallest host; 0: there is none */
    struct plan_use *uses;
    struct pool_activity *activity; /* by node, of leaves */
    struct pool_host *hosts;
    int n_hosts;
    struct pool_contract *parts; /* counted ones, by leaf, then by id */
    int n_parts;
};

void pool_snapshot_take(const struct lease_table *leases, const struct members *members,
                        const struct pool_entry *pool, const struct plan *plan,
                        int64_t now_ms, struct arena *arena,
                        struct pool_snapshot *snapshot);

/* Quotas, grants and recalls by the snapshot. */
void pool_snapshot_decide(const struct pool_snapshot *snapshot,
                          struct pool_cycle *cycle, struct arena *arena);

/* -------------------------------------------------------------- pool_place.c */

/* Slots of one host for a leaf. */
struct pool_pick {
    int host; /* index into the snapshot's hosts */
    int n_slots;
};

struct pool_place;
struct pool_place *pool_place_new(struct pool_snapshot *snapshot,
                                  enum plan_placement placement, struct arena *arena);

/* Picks up to so many slots for a leaf of that site, which are not idle any more: each
 * host once, in the snapshot's order. Returns how many picks. */
int pool_place_pick(struct pool_place *place, const char *site, int64_t n_slots,
                    struct arena *arena, struct pool_pick **picks);

/* ------------------------------------------------------------ pool_execute.c */

/* The snapshot is the one that the cycle was decided by. */
void pool_execute(const struct pool_world *world, const struct pool_entry *pool,
                  struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                  int64_t now_ms, struct effects *effects);

#endif
