/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.h: the pools of the broker: their plans, and the state of their cycles.
 *
 * Units: milliseconds, slots. Ownership: plans are copied. Order: pools as configured,
 * records of nodes by path. Source: docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_TABLE_H
#define SUBLET_BROKER_POOL_POOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/plan/plan.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_news.h"
#include "broker/pool/pool_switch.h"
#include "broker/pool/pool_unused.h"
#include "model/effect.h"

struct broker_config;
struct lease_table;
struct members;
struct member;
struct lease;
struct pool_snapshot;

/* What was last recorded of a node. */
struct pool_record {
    const char *node;
    int64_t quota, demand;
    int64_t moved_ms; /* when slots of it were last granted, recalled or cancelled; 0 */
    const char *moved_why; /* NULL: never */
    int64_t carried; /* after a change of its policy: it may keep so many slots until
                        it has no more than that; PLAN_UNLIMITED: all */
    struct pool_unused unused; /* of a leaf, since the start of the broker */
};

struct pool_entry {
    const char *name;
    struct plan_window *windows;
    int n_windows;
    struct plan *plans; /* of each window, or one */
    int64_t next_ms;    /* of the next cycle */
    bool is_asked;      /* more jobs wait at a site since the last look or cycle, */
    int64_t look_ms;    /* which was then, */
    int64_t asked_ms;   /* and the earliest time of the next look */
    /* The latest cycle by these plans, also one of an earlier run of the broker; plan
     * NULL: there was none, or its window does not exist any more. */
    struct pool_last_cycle latest;
    /* The latest cycle of this broker. */
    struct arena *arena; /* of what follows; NULL: none yet */
    struct pool_cycle cycle;
    bool has_cycle;
    int64_t cycle_ms;
    struct pool_news news;       /* of the latest cycle */
    struct pool_record *records; /* by path */
    int n_records;
    struct pool_look *look; /* for views, which change nothing else */
    struct pool_hours *hours;
};

/* What a cycle would decide, as it was last shown. */
struct pool_look {
    struct arena arena;
    const struct plan *plan; /* NULL: never shown */
    int64_t at_ms;
    int n_computed; /* how often */
    struct pool_snapshot *snapshot;
    struct pool_cycle cycle;
};

/* A pool that is not configured any more; its rows may be on disk. */
struct pool_removed {
    const char *name;
    struct pool_hours *hours; /* NULL: none */
    struct pool_removed *next;
};

struct pool_table {
    struct arena arena;
    struct pool_entry *items;
    int count;
    int64_t utc_offset_ms;  /* of local time, at the latest tick */
    int64_t waits_until_ms; /* at most so long for providers that are not back */
    struct pool_removed *removed;
};

/* What a cycle works on. */
struct pool_world {
    struct pool_table *pools;
    struct lease_table *leases;
    const struct members *members;
};

void pool_table_init(struct pool_table *pools, const struct broker_config *config);
void pool_table_release(struct pool_table *pools);
struct pool_entry *pool_table_find(const struct pool_table *pools, const char *name);
/* The pool of a leaf's contract; NULL: it is not known. */
struct pool_entry *pool_table_find_of(const struct pool_table *pools,
                                      const struct lease_table *leases,
                                      const struct lease *leaf);
/* The plan that is in force; local time. */
const struct plan *pool_table_plan(const struct pool_entry *pool, int64_t local_ms);
/* The leaf of that site with that path; PLAN_NO_NODE: there is none. */
int pool_table_find_leaf(const struct plan *plan, const char *node, const char *site);

/* The record of the node; NULL: there is none. */
const struct pool_record *pool_table_find_record(const struct pool_entry *pool,
                                                 const char *node);
/* The same for all nodes in the order of their paths, which is that of records, without
 * a search for each: `*at` is 0 at first. */
const struct pool_record *pool_table_next_record(const struct pool_entry *pool, int *at,
                                                 const char *node);

/* Arenas for what a cycle leaves: the pool's own, made if there is none, and a new one.
 */
struct arena *pool_table_arena(struct pool_entry *pool);
struct arena *pool_table_new_arena(void);
/* Puts the cycle in place of the latest one; the pool takes the arena of both. */
void pool_table_set_cycle(struct pool_entry *pool, const struct pool_cycle *cycle,
                          struct arena *arena, struct pool_record *records,
                          int64_t now_ms);

/* Sets what the configuration says of a lease of a pool: whether its pool exists and,
 * of a leaf, what the plans give it besides slots. */
void pool_table_update_lease(const struct pool_table *pools, struct lease *lease);

/* ------------------------------------------------------------ pool_persist.c */

/* What a restarted broker knows of a pool's cycles: the time window and the size of the
 * latest one, and what nodes may keep from the policy that they had before. So a window
 * that begins while no broker runs recalls as one that begins while it runs, and such a
 * recall is not forgotten.
 *
 * A window that is not configured any more is forgotten, as when a plan is loaded. Rows
 * of a pool that is not configured any more are deleted with the next batch. Rows are
 * written when they have changed. */

/* Restores the rows, before the start: pools first, then what nodes carry, by path. */
void pool_persist_load_pool(struct pool_table *pools, const struct row_pool *row);
void pool_persist_load_carried(struct pool_table *pools, const struct row_kept *row);
void pool_persist_load_hours(struct pool_table *pools, const struct row_hours *row);

/* Stores what a cycle by that plan, in a pool of so many slots, has changed: `records`
 * are new, and the pool has those of the cycle before. */
void pool_persist_store(struct pool_entry *pool, const struct plan *plan, int64_t slots,
                        const struct pool_record *records, struct effects *effects);

/* The pool is not configured any more; it had these hours, or NULL. */
void pool_persist_drop(struct pool_table *pools, const char *name,
                       struct pool_hours *hours);
/* Deletes the rows of such pools, once. */
void pool_persist_tick(struct pool_table *pools, struct effects *effects);

/* -------------------------------------------------------------- pool_hours.c */

/* HOURS of nodes: what providers have counted of the contracts of leaves, and the level
 * of each node that was last recorded. Both are on disk, and a reload changes neither.
 * A level that begins is an event and a line of the log.
 *
 * Units: slot-milliseconds; months of UTC, by the broker's clock. Order: none of
 * messages matters. Source: docs/adr/0034. */

struct pool_hours *pool_hours_new(void);
void pool_hours_free(struct pool_hours *hours);

/* A STATE of a leaf's contract, which tells its hours. */
void pool_hours_learn(struct pool_entry *pool, const struct lease *lease,
                      const struct msg_state *state, int64_t now_ms);
/* Stores what is new if the pool has HOURS, records levels that begin, and asks
 * providers when the next one is expected. True if leaves may borrow no more, or may
 * again. */
bool pool_hours_judge(const struct pool_world *world, struct pool_entry *pool,
                      const struct plan *plan, int64_t now_ms, struct effects *effects);
int64_t pool_hours_wake_ms(const struct pool_entry *pool);
/* The plan may have other HOURS. */
void pool_hours_reload(struct pool_hours *hours);
/* What its nodes have used in this month; NULL: no node of the plan has HOURS. */
const struct plan_hours *pool_hours_of(const struct pool_entry *pool,
                                       const struct plan *plan, int64_t now_ms,
                                       struct arena *arena);

void pool_hours_load(struct pool_hours *hours, const struct row_hours *row);
/* Deletes all its rows. */
void pool_hours_drop(const struct pool_hours *hours, const char *pool,
                     struct effects *effects);

/* ---------------------------------------------------------------- pool_clock.c */

/* When pools run a cycle, and what a cycle does.
 *
 * In each CYCLE a pool looks at what is exported to it and what its leaves have and
 * want (pool_snapshot.c), decides (pool.h), and executes the decision: idle slots
 * become grants, others are recalled (pool_execute.c). The start of a time window is
 * one more cycle. After a start of the broker no cycle runs before all providers are
 * back, or LOST_AFTER has passed: the slots of a provider that is not back yet must not
 * look as if they were gone.
 *
 * Between two cycles, idle slots are granted on demand: a leaf that has fewer slots
 * than it owns, and whose site reports more waiting jobs, gets what the quotas allow
 * it, up to its ownership or reserve. Slots that were recalled for it come with the
 * next cycle, as it does not report more jobs then. Such a look is taken at most once
 * in a second, and less often at plans of more than 10,000 nodes. It recalls nothing,
 * and it begins after the first cycle.
 *
 * If HOURS of a node are used up, or begin anew, one more cycle runs at once.
 *
 * A plan that is loaded anew counts from the next cycle. The contract of a leaf that is
 * in no plan any more is drained, and its slots are recalled.
 *
 * Units: milliseconds, slots. Order: pools as configured; within a cycle leaves in the
 * order of the plan. Source: Symphony, "Hybrid policy"; docs/design/plans.md "Cycle";
 * docs/adr/0012; docs/design/plans.md "Decided". */

void pool_clock_start(struct pool_table *pools, int64_t lost_after_ms, int64_t now_ms);
/* Replaces the plans. The caller has every lease updated (pool_table_update_lease). */
void pool_clock_reload(struct pool_table *pools, const struct broker_config *config,
                       int64_t now_ms);

/* Recalls, within its last grace, what the contract of a leaf holds that no plan has
 * any more. */
void pool_clock_recall_unplanned(struct lease *lease, int64_t now_ms,
                                 struct effects *effects);

/* A site reports more waiting jobs. Returns the nodes of the pools that have to be
 * looked at because of that, and not because of an earlier report. */
int64_t pool_clock_ask(struct pool_table *pools, struct member *site, int64_t now_ms);
/* Runs the cycles that are due; call it at the end of a batch. */
void pool_clock_tick(const struct pool_world *world, int64_t utc_offset_ms,
                     int64_t now_ms, struct effects *effects);
/* What a cycle would decide now, for views. It is kept for all pages of a listing
 * (`is_next_page`), which then are of one instant. For a plan of 1,000 nodes or more it
 * is computed at most once in a second, and at 100,000 nodes once in 5 s, however many
 * pages and nodes are asked for. */
const struct pool_look *pool_clock_shown(const struct lease_table *leases,
                                         const struct members *members,
                                         const struct pool_entry *pool,
                                         const struct plan *plan, bool is_next_page,
                                         int64_t now_ms);
/* What a cycle would decide now, to be shown. */
void pool_clock_look(const struct lease_table *leases, const struct members *members,
                     const struct pool_entry *pool, const struct plan *plan,
                     int64_t now_ms, struct arena *arena,
                     struct pool_snapshot *snapshot, struct pool_cycle *cycle);
int64_t pool_clock_wake_ms(const struct pool_table *pools);

/* ---------------------------------------------------------------- pool_snapshot.c */

/* A pool as it is now: its slots, which of them are idle on which
 * host, and what each leaf has and wants.
 *
 * Only usable slots count: of contracts whose provider is here, has stated them, and
 * does not drain them, on hosts that are up. The slots of a provider that is lost still
 * count for PROVIDER_LOST_AFTER, so that a short disturbance recalls nothing elsewhere;
 * none of them is granted or recalled meanwhile. A grant that has not arrived yet
 * counts as held. A leaf wants what it uses of the pool and what waits in its queues;
 * if its site is away, what it uses. Jobs that run outside the pool do not count. A
 * leaf whose HOURS are used up wants what it uses, and of hosts of its own site what it
 * can get now.
 *
 * Ownership: the arena's; leases are borrowed. Order: leases by id, hosts in their
 * order. */

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
    int64_t n_borrowed;        /* of those in use: on hosts of other sites */
};

/* A contract of a leaf. */
struct pool_contract {
    struct lease *lease;
    int leaf;       /* in the plan; PLAN_NO_NODE: only that of another window has it */
    bool is_missed; /* its provider is lost: nothing is recalled there */
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
 * host once, in the snapshot's order; `only_own`: only hosts of that site. Returns how
 * many picks. */
int pool_place_pick(struct pool_place *place, const char *site, bool only_own,
                    int64_t n_slots, struct arena *arena, struct pool_pick **picks);

/* ------------------------------------------------------------ pool_execute.c */

/* The snapshot is the one that the cycle was decided by. Only grants are executed, as
 * between two cycles. */
void pool_execute_grants(const struct pool_world *world, const struct pool_entry *pool,
                         struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                         int64_t now_ms, struct effects *effects);
/* The snapshot is the one that the cycle was decided by. */
void pool_execute(const struct pool_world *world, const struct pool_entry *pool,
                  struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                  int64_t now_ms, struct effects *effects);

#endif
