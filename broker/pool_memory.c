/* SPDX-License-Identifier: Apache-2.0 */
/* pool_memory.c: see pool_memory.h. */
#include "broker/pool_memory.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- from disk */

static const char *window_name(const struct pools_pool *pool, const struct plan *plan)
{
    return pool->n_windows > 0 ? pool->windows[plan - pool->plans].name : "";
}

static const struct plan *plan_of(const struct pools_pool *pool, const char *window)
{
    int n_plans = pool->n_windows > 0 ? pool->n_windows : 1;
    for (int i = 0; i < n_plans; i++) {
        if (strcmp(window_name(pool, &pool->plans[i]), window) == 0) {
            return &pool->plans[i];
        }
    }
    return NULL;
}

void pool_memory_load_pool(struct pools *pools, const struct row_pool *row)
{
    struct pools_pool *pool = pools_find(pools, row->name);
    if (pool == NULL) {
        pool_memory_drop(pools, row->name);
        return;
    }
    pool->latest.plan = plan_of(pool, row->window);
    pool->latest.slots = row->slots;
}

/* Room is doubled where it is used up: at 1, 2, 4 and so on. */
static struct pools_told *add_told(struct pools_pool *pool)
{
    int count = pool->n_told;
    if ((count & (count - 1)) == 0) {
        size_t room = count > 0 ? (size_t)count * 2 : 1;
        struct pools_told *told = arena_alloc(pools_memory(pool), room, sizeof(*told));
        if (count > 0) {
            memcpy(told, pool->told, (size_t)count * sizeof(*told));
        }
        pool->told = told;
    }
    return &pool->told[pool->n_told++];
}

void pool_memory_load_kept(struct pools *pools, const struct row_kept *row)
{
    struct pools_pool *pool = pools_find(pools, row->pool);
    if (pool != NULL) {
        struct pools_told *told = add_told(pool);
        *told = (struct pools_told){.node = arena_str(pool->memory, row->node),
                                    .keeps = row->slots};
    }
}

/* ---------------------------------------------------------------- to disk */

static void store_pool(const char *name, const char *window, int64_t slots,
                       bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_POOL};
    row.pool = (struct row_pool){name, window, slots, is_gone};
    effects_store(effects, &row);
}

static void store_kept(const char *pool, const struct pools_told *before,
                       const struct pools_told *now, struct effects *effects)
{
    int64_t kept_before = before != NULL ? before->keeps : PLAN_UNLIMITED;
    int64_t kept = now != NULL ? now->keeps : PLAN_UNLIMITED;
    if (kept == kept_before) {
        return;
    }
    struct row row = {.kind = ROW_KEPT};
    row.kept.pool = pool;
    row.kept.node = now != NULL ? now->node : before->node;
    row.kept.is_gone = kept == PLAN_UNLIMITED;
    row.kept.slots = row.kept.is_gone ? 0 : kept;
    effects_store(effects, &row);
}

/* Both lists stand in the order of their paths. */
static void store_all_kept(const struct pools_pool *pool, const struct pools_told *told,
                           int n_told, struct effects *effects)
{
    int before = 0, now = 0;
    while (before < pool->n_told || now < n_told) {
        int order =
            before == pool->n_told
                ? 1
                : (now == n_told ? -1
                                 : strcmp(pool->told[before].node, told[now].node));
        store_kept(pool->name, order <= 0 ? &pool->told[before] : NULL,
                   order >= 0 ? &told[now] : NULL, effects);
        before += order <= 0;
        now += order >= 0;
    }
}

void pool_memory_store(struct pools_pool *pool, const struct plan *plan, int64_t slots,
                       const struct pools_told *told, struct effects *effects)
{
    if (pool->latest.plan != plan || pool->latest.slots != slots) {
        store_pool(pool->name, window_name(pool, plan), slots, false, effects);
    }
    store_all_kept(pool, told, plan->n_nodes, effects);
    pool->latest = (struct pool_before){plan, slots};
}

/* ---------------------------------------------------------------- what is gone */

void pool_memory_drop(struct pools *pools, const char *name)
{
    struct pools_gone *gone = arena_alloc(&pools->arena, 1, sizeof(*gone));
    gone->name = arena_str(&pools->arena, name);
    gone->next = pools->gone;
    pools->gone = gone;
}

void pool_memory_tick(struct pools *pools, struct effects *effects)
{
    for (const struct pools_gone *gone = pools->gone; gone != NULL; gone = gone->next) {
        store_pool(gone->name, "", 0, true, effects);
    }
    pools->gone = NULL;
}
