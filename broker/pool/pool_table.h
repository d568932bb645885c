/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.h: the pools of the broker: their plans, and the state of their cycles.
 *
 * Units: milliseconds, slots. Ownership: plans are copied. Order: pools as configured,
 * records of nodes by path. Source: docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_TABLE_H
#define SUBLET_BROKER_POOL_POOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/plan/plan_config.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_switch.h"
#include "broker/pool/pool_unused.h"
#include "model/effect.h"

struct broker_config;
struct lease_table;
struct members;
struct lease;

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
    /* The latest cycle by these plans, also one of an earlier run of the broker; plan
     * NULL: there was none, or its window does not exist any more. */
    struct pool_last_cycle latest;
    /* The latest cycle of this broker. */
    struct arena *arena; /* of what follows; NULL: none yet */
    struct pool_cycle cycle;
    bool has_cycle;
    int64_t cycle_ms;
    struct pool_record *records; /* by path */
    int n_records;
};

/* A pool that is not configured any more; its rows may be on disk. */
struct pool_removed {
    const char *name;
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
/* The plan that is in force; local time. */
const struct plan *pool_table_plan(const struct pool_entry *pool, int64_t local_ms);
/* The leaf of that site with that path; PLAN_NO_NODE: there is none. */
int pool_table_find_leaf(const struct plan *plan, const char *node, const char *site);

/* The record of the node; NULL: there is none. */
const struct pool_record *pool_table_find_record(const struct pool_entry *pool,
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

/* Stores what a cycle by that plan, in a pool of so many slots, has changed: `records`
 * are new, and the pool has those of the cycle before. */
void pool_persist_store(struct pool_entry *pool, const struct plan *plan, int64_t slots,
                        const struct pool_record *records, struct effects *effects);

/* The pool is not configured any more. */
void pool_persist_drop(struct pool_table *pools, const char *name);
/* Deletes the rows of such pools, once. */
void pool_persist_tick(struct pool_table *pools, struct effects *effects);

#endif
