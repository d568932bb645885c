/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.c: see pool_table.h. */
#include "broker/pool/pool_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/broker.h"
#include "broker/lease/lease.h"

/* ---------------------------------------------------------------- a copy */

static const char *const *copy_texts(struct arena *arena, const char *const *texts,
                                     int n_texts)
{
    const char **copies = arena_alloc(arena, (size_t)n_texts, sizeof(*copies));
    for (int i = 0; i < n_texts; i++) {
        copies[i] = arena_str(arena, texts[i]);
    }
    return copies;
}

/* Nodes as they were given, in their order, built again. */
static void copy_plan(struct arena *arena, const struct plan *from, int64_t hour_ms,
                      struct plan *to)
{
    struct plan_settings settings = from->settings;
    struct plan_node *nodes = arena_alloc(arena, (size_t)from->n_nodes, sizeof(*nodes));
    for (int i = 0; i < from->n_nodes; i++) {
        struct plan_node *node = &nodes[i];
        *node = from->nodes[from->by_pos[i]];
        node->name = arena_str(arena, node->name);
        node->site = arena_str(arena, node->site);
        node->queues = copy_texts(arena, node->queues, node->n_queues);
    }
    settings.hour_ms = hour_ms;
    plan_build(to, &settings, nodes, from->n_nodes, arena);
}

static void copy_pool(struct arena *arena, const struct plan_pool *from,
                      int64_t hour_ms, struct pool_entry *to)
{
    int n_plans = from->n_windows > 0 ? from->n_windows : 1;
    to->name = arena_str(arena, from->name);
    to->n_windows = from->n_windows;
    to->windows = arena_alloc(arena, (size_t)from->n_windows, sizeof(*to->windows));
    for (int i = 0; i < from->n_windows; i++) {
        to->windows[i] = from->windows[i];
        to->windows[i].name = arena_str(arena, from->windows[i].name);
    }
    to->plans = arena_alloc(arena, (size_t)n_plans, sizeof(*to->plans));
    for (int i = 0; i < n_plans; i++) {
        copy_plan(arena, &from->plans[i], hour_ms, &to->plans[i]);
    }
}

struct arena *pool_table_new_arena(void)
{
    struct arena *arena = mem_alloc(1, sizeof(*arena));
    arena_init(arena);
    return arena;
}

static void free_arena(struct arena *arena)
{
    if (arena != NULL) {
        arena_release(arena);
        free(arena);
    }
}

struct arena *pool_table_arena(struct pool_entry *pool)
{
    if (pool->arena == NULL) {
        pool->arena = pool_table_new_arena();
    }
    return pool->arena;
}

void pool_table_init(struct pool_table *pools, const struct broker_config *config)
{
    memset(pools, 0, sizeof(*pools));
    arena_init(&pools->arena);
    pools->count = config->pools != NULL ? config->pools->n_pools : 0;
    pools->items =
        arena_alloc(&pools->arena, (size_t)pools->count, sizeof(*pools->items));
    for (int i = 0; i < pools->count; i++) {
        copy_pool(&pools->arena, &config->pools->pools[i], config->hour_ms,
                  &pools->items[i]);
        pools->items[i].next_ms = INT64_MAX;
        pools->items[i].look = mem_alloc(1, sizeof(struct pool_look));
        arena_init(&pools->items[i].look->arena);
        pools->items[i].hours = pool_hours_new();
    }
}

void pool_table_release(struct pool_table *pools)
{
    for (int i = 0; i < pools->count; i++) {
        free_arena(pools->items[i].arena);
        arena_release(&pools->items[i].look->arena);
        free(pools->items[i].look);
        pool_hours_free(pools->items[i].hours);
    }
    for (const struct pool_removed *gone = pools->removed; gone != NULL;
         gone = gone->next) {
        pool_hours_free(gone->hours);
    }
    arena_release(&pools->arena);
}

/* ---------------------------------------------------------------- finding */

struct pool_entry *pool_table_find(const struct pool_table *pools, const char *name)
{
    for (int i = 0; i < pools->count; i++) {
        if (strcmp(pools->items[i].name, name) == 0) {
            return &pools->items[i];
        }
    }
    return NULL;
}

/* It is named by the policy's contract with the idle slots, of which there may be
 * others from before. */
struct pool_entry *pool_table_find_of(const struct pool_table *pools,
                                      const struct lease_table *leases,
                                      const struct lease *leaf)
{
    char prefix[LEASE_ID_SIZE];
    size_t length = (size_t)snprintf(
        prefix, sizeof(prefix), "%s/%s/pool:", leaf->row.provider, leaf->row.policy);
    struct pool_entry *found = NULL;
    for (int i = lease_table_find_after(leases, prefix);
         i < leases->count && strncmp(leases->items[i]->row.id, prefix, length) == 0;
         i++) {
        const struct lease *idle = leases->items[i];
        struct pool_entry *pool =
            pool_table_find(pools, idle->row.consumer + strlen("pool:"));
        found = pool != NULL && (found == NULL || lease_is_open(idle)) ? pool : found;
    }
    return found;
}

const struct plan *pool_table_plan(const struct pool_entry *pool, int64_t local_ms)
{
    int window = pool->n_windows > 0
                     ? plan_window_at(pool->windows, pool->n_windows, local_ms)
                     : 0;
    return &pool->plans[window];
}

int pool_table_find_leaf(const struct plan *plan, const char *node, const char *site)
{
    int found = plan_find(plan, node);
    bool is_leaf = found != PLAN_NO_NODE && plan_is_leaf(&plan->nodes[found]) &&
                   plan->nodes[found].site != NULL &&
                   strcmp(plan->nodes[found].site, site) == 0;
    return is_leaf ? found : PLAN_NO_NODE;
}

/* In the plan of any window, as the window in force may change at any time. */
static const struct plan_node *find_anywhere(const struct pool_entry *pool,
                                             const struct lease *lease,
                                             struct lease_grant *grant)
{
    int n_plans = pool->n_windows > 0 ? pool->n_windows : 1;
    for (int i = 0; i < n_plans; i++) {
        int leaf =
            pool_table_find_leaf(&pool->plans[i], lease->node, lease->consumer->name);
        if (leaf != PLAN_NO_NODE) {
            grant->grace_ms = plan_grace_ms(&pool->plans[i], leaf);
            grant->is_whole = pool->plans[i].settings.placement == PLAN_EXCLUSIVE;
            return &pool->plans[i].nodes[leaf];
        }
    }
    return NULL;
}

/* The pool of a leaf's contract is named by its policy's contract with the idle slots.
 * Here it is enough that some plan has the leaf. */
static void update_leaf(const struct pool_table *pools, struct lease *lease)
{
    struct lease_grant *grant = &lease->grant;
    const struct plan_node *node = NULL;
    for (int i = 0; i < pools->count && node == NULL; i++) {
        node = find_anywhere(&pools->items[i], lease, grant);
    }
    lease->is_unplanned = node == NULL;
    grant->queues = node != NULL ? node->queues : NULL;
    grant->n_queues = node != NULL ? node->n_queues : 0;
}

void pool_table_update_lease(const struct pool_table *pools, struct lease *lease)
{
    if (lease->part == LEASE_IDLE) {
        lease->is_unplanned =
            pool_table_find(pools, lease->row.consumer + strlen("pool:")) == NULL;
    } else if (lease->part == LEASE_LEAF) {
        update_leaf(pools, lease);
    }
}

/* ---------------------------------------------------------------- records */

static int compare_record(const void *node, const void *record)
{
    return strcmp(node, ((const struct pool_record *)record)->node);
}

const struct pool_record *pool_table_find_record(const struct pool_entry *pool,
                                                 const char *node)
{
    return pool->n_records > 0 ? bsearch(node, pool->records, (size_t)pool->n_records,
                                         sizeof(*pool->records), compare_record)
                               : NULL;
}

const struct pool_record *pool_table_next_record(const struct pool_entry *pool, int *at,
                                                 const char *node)
{
    int order = -1;
    while (*at < pool->n_records &&
           (order = strcmp(pool->records[*at].node, node)) < 0) {
        ++*at;
    }
    return *at < pool->n_records && order == 0 ? &pool->records[*at] : NULL;
}

void pool_table_set_cycle(struct pool_entry *pool, const struct pool_cycle *cycle,
                          struct arena *arena, struct pool_record *records,
                          int64_t now_ms)
{
    free_arena(pool->arena);
    pool->arena = arena;
    pool->cycle = *cycle;
    pool->has_cycle = true;
    pool->cycle_ms = now_ms;
    pool->records = records;
    pool->n_records = cycle->plan->n_nodes;
}
