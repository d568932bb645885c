/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.h: the pools that run: their plans, and their cycles.
 *
 * Each CYCLE a pool looks at what is exported to it, what its leaves have and want
 * (pool_snapshot.h), decides (pool.h), and hands out what it decided: idle slots as
 * grants (push_grant.h), others as recalls (push_recall.h). A time window that begins
 * is one more cycle. After a start none is made before all providers are back, or
 * LOST_AFTER is over: who is not back yet must not look like slots that are gone.
 *
 * A plan that is loaded anew counts from the next cycle. The contract of a leaf that is
 * in no plan any more is drained, and what it has is recalled.
 *
 * Units: milliseconds, slots. Ownership: plans are copied.
 * Order: pools as configured; within a cycle leaves in the order of the plan.
 * Source: seed document 001; hybrid.md 3.7; docs/adr/0013, 0023.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_TABLE_H
#define SUBLET_BROKER_POOL_POOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/plan/plan_config.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_switch.h"
#include "model/effect.h"

struct broker;
struct broker_config;
struct lease;

/* A node's quota as it was put on record last. */
struct pool_record {
    const char *node;
    int64_t quota, demand;
    int64_t moved_ms;  /* when slots of it were last granted, recalled or left it; 0 */
    const char *moved; /* and why; NULL */
    int64_t keeps;     /* after a change of its policy, until it has no more than that;
                          PLAN_UNLIMITED: all */
};

struct pool_entry {
    const char *name;
    struct plan_window *windows;
    int n_windows;
    struct plan *plans; /* of each window, or one */
    int **by_name;      /* of each plan: its nodes in the order of their names */
    int64_t next_ms;    /* of the next cycle */
    /* The latest cycle by these plans, also of the broker before; NULL: there was none,
     * or its window is not there any more. */
    struct pool_last_cycle latest;
    /* The latest cycle of this broker. */
    struct arena *memory; /* of what follows; NULL: none yet */
    struct pool_cycle cycle;
    bool has_cycle;
    int64_t cycle_ms; /* when it was */
    struct pool_record *told;
    int n_told;
};

/* A pool that is configured no more. */
struct pool_removed {
    const char *name;
    struct pool_removed *next;
};

struct pool_table {
    struct arena arena;
    struct pool_entry *items;
    int count;
    int64_t utc_offset_ms;     /* of local time, by the latest tick */
    int64_t waits_ms;          /* until then for providers that have not come back */
    struct pool_removed *gone; /* whose rows are on disk, perhaps */
};

void pool_table_init(struct pool_table *pools, const struct broker_config *config);
void pool_table_release(struct pool_table *pools);
void pool_clock_start(struct pool_table *pools, int64_t lost_after_ms, int64_t now_ms);
/* Other plans. The caller has every lease looked at. */
void pool_clock_reload(struct pool_table *pools, const struct broker_config *config,
                       int64_t now_ms);

/* Of the latest cycle, also where there was none yet. */
struct arena *pool_table_arena(struct pool_entry *pool);

struct pool_entry *pool_table_find(const struct pool_table *pools, const char *name);
/* The plan that is in force; local time. */
const struct plan *pool_table_plan(const struct pool_entry *pool, int64_t local_ms);
/* The leaf of that site with that path; PLAN_NO_NODE: there is none. */
int pool_table_find_leaf(const struct pool_entry *pool, const struct plan *plan,
                         const char *node, const char *site);
/* The node with that path, leaf or not. */
int pool_table_find_node(const struct pool_entry *pool, const struct plan *plan,
                         const char *node);

struct pool_snapshot;
/* Quotas, grants and recalls of the picture. */
void pool_clock_decide(const struct pool_snapshot *picture, struct pool_cycle *cycle,
                       struct arena *arena);
/* What was told of the node; NULL: nothing yet. */
const struct pool_record *pool_table_find_record(const struct pool_entry *pool,
                                                 const char *node);

/* A lease of a pool: whether the configuration knows its pool; of a leaf, what the
 * plans say besides slots. */
void pool_table_update_lease(const struct pool_table *pools, struct lease *lease);

/* The contract of a leaf that no plan has any more gives back what it holds, within its
 * last grace. */
void pool_clock_recall_unplanned(struct lease *lease, int64_t now_ms,
                                 struct effects *effects);

/* What is due, at the end of a batch. */
void pool_clock_tick(struct broker *broker, int64_t utc_offset_ms, int64_t now_ms,
                     struct effects *effects);
int64_t pool_clock_wake_ms(const struct pool_table *pools);

#endif
