/* SPDX-License-Identifier: Apache-2.0 */
/* pool_persist.c: see pool_table.h. */
#include "broker/pool/pool_table.h"

#include <string.h>

/* ---------------------------------------------------------------- from disk */

static const char *window_name(const struct pool_entry *pool, const struct plan *plan)
{
    return pool->n_windows > 0 ? pool->windows[plan - pool->plans].name : "";
}

static const struct plan *plan_of(const struct pool_entry *pool, const char *window)
{
    int n_plans = pool->n_windows > 0 ? pool->n_windows : 1;
    for (int i = 0; i < n_plans; i++) {
        if (strcmp(window_name(pool, &pool->plans[i]), window) == 0) {
            return &pool->plans[i];
        }
    }
    return NULL;
}

void pool_persist_load_pool(struct pool_table *pools, const struct row_pool *row)
{
    struct pool_entry *pool = pool_table_find(pools, row->name);
    if (pool == NULL) {
        pool_persist_drop(pools, row->name, NULL);
        return;
    }
    pool->latest.plan = plan_of(pool, row->window);
    pool->latest.slots = row->slots;
}

/* Capacity is doubled when it is used up: at 1, 2, 4 and so on. */
static struct pool_record *add_record(struct pool_entry *pool)
{
    int count = pool->n_records;
    if ((count & (count - 1)) == 0) {
        size_t room = count > 0 ? (size_t)count * 2 : 1;
        struct pool_record *records =
            arena_alloc(pool_table_arena(pool), room, sizeof(*records));
        if (count > 0) {
            memcpy(records, pool->records, (size_t)count * sizeof(*records));
        }
        pool->records = records;
    }
    return &pool->records[pool->n_records++];
}

void pool_persist_load_carried(struct pool_table *pools, const struct row_kept *row)
{
    struct pool_entry *pool = pool_table_find(pools, row->pool);
    if (pool != NULL) {
        struct pool_record *record = add_record(pool);
        *record = (struct pool_record){.node = arena_str(pool->arena, row->node),
                                       .carried = row->slots};
    }
}

void pool_persist_load_hours(struct pool_table *pools, const struct row_hours *row)
{
    const struct pool_entry *pool = pool_table_find(pools, row->pool);
    struct pool_removed *gone = pools->removed;
    if (pool != NULL) {
        pool_hours_load(pool->hours, row);
        return;
    }
    while (gone != NULL && strcmp(gone->name, row->pool) != 0) {
        gone = gone->next;
    }
    if (gone == NULL) {
        pool_persist_drop(pools, row->pool, NULL);
        gone = pools->removed;
    }
    gone->hours = gone->hours != NULL ? gone->hours : pool_hours_new();
    pool_hours_load(gone->hours, row);
}

/* ---------------------------------------------------------------- to disk */

static void store_pool(const char *name, const char *window, int64_t slots,
                       bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_POOL};
    row.pool = (struct row_pool){name, window, slots, is_gone};
    effects_store(effects, &row);
}

static void store_carried(const char *pool, const struct pool_record *before,
                          const struct pool_record *now, struct effects *effects)
{
    int64_t carried_before = before != NULL ? before->carried : PLAN_UNLIMITED;
    int64_t carried = now != NULL ? now->carried : PLAN_UNLIMITED;
    if (carried == carried_before) {
        return;
    }
    struct row row = {.kind = ROW_KEPT};
    row.kept.pool = pool;
    row.kept.node = now != NULL ? now->node : before->node;
    row.kept.is_gone = carried == PLAN_UNLIMITED;
    row.kept.slots = row.kept.is_gone ? 0 : carried;
    effects_store(effects, &row);
}

/* Both lists are sorted by path. */
static void store_all_carried(const struct pool_entry *pool,
                              const struct pool_record *records, int n_records,
                              struct effects *effects)
{
    int before = 0, now = 0;
    while (before < pool->n_records || now < n_records) {
        int order = before == pool->n_records
                        ? 1
                        : (now == n_records
                               ? -1
                               : strcmp(pool->records[before].node, records[now].node));
        store_carried(pool->name, order <= 0 ? &pool->records[before] : NULL,
                      order >= 0 ? &records[now] : NULL, effects);
        before += order <= 0;
        now += order >= 0;
    }
}

void pool_persist_store(struct pool_entry *pool, const struct plan *plan, int64_t slots,
                        const struct pool_record *records, struct effects *effects)
{
    if (pool->latest.plan != plan || pool->latest.slots != slots) {
        store_pool(pool->name, window_name(pool, plan), slots, false, effects);
    }
    store_all_carried(pool, records, plan->n_nodes, effects);
    pool->latest = (struct pool_last_cycle){plan, slots};
}

/* ---------------------------------------------------------------- removed pools */

void pool_persist_drop(struct pool_table *pools, const char *name,
                       struct pool_hours *hours)
{
    struct pool_removed *gone = arena_alloc(&pools->arena, 1, sizeof(*gone));
    gone->name = arena_str(&pools->arena, name);
    gone->hours = hours;
    gone->next = pools->removed;
    pools->removed = gone;
}

void pool_persist_tick(struct pool_table *pools, struct effects *effects)
{
    for (struct pool_removed *gone = pools->removed; gone != NULL; gone = gone->next) {
        store_pool(gone->name, "", 0, true, effects);
        if (gone->hours != NULL) {
            pool_hours_drop(gone->hours, gone->name, effects);
            pool_hours_free(gone->hours);
        }
    }
    pools->removed = NULL;
}
