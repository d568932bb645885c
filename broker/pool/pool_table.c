/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.c: see pool_table.h. */
#include "broker/pool/pool_table.h"

#include <stdlib.h>
#include <string.h>

#include "broker/broker_parts.h"
#include "broker/pool/pool_events.h"
#include "broker/pool/pool_execute.h"
#include "broker/pool/pool_explain.h"
#include "broker/pool/pool_persist.h"
#include "broker/pool/pool_snapshot.h"

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
static void copy_plan(struct arena *arena, const struct plan *from, struct plan *to)
{
    struct plan_node *nodes = arena_alloc(arena, (size_t)from->n_nodes, sizeof(*nodes));
    for (int i = 0; i < from->n_nodes; i++) {
        struct plan_node *node = &nodes[i];
        *node = from->nodes[from->by_pos[i]];
        node->name = arena_str(arena, node->name);
        node->site = arena_str(arena, node->site);
        node->queues = copy_texts(arena, node->queues, node->n_queues);
    }
    plan_build(to, &from->settings, nodes, from->n_nodes, arena);
}

struct named {
    const char *name;
    int node;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static int *sort_names(struct arena *arena, const struct plan *plan)
{
    size_t n_nodes = (size_t)plan->n_nodes;
    struct named *named = mem_alloc(n_nodes, sizeof(*named));
    int *by_name = arena_alloc(arena, n_nodes, sizeof(*by_name));
    for (int i = 0; i < plan->n_nodes; i++) {
        named[i] = (struct named){plan->nodes[i].name, i};
    }
    qsort(named, n_nodes, sizeof(*named), compare_named);
    for (int i = 0; i < plan->n_nodes; i++) {
        by_name[i] = named[i].node;
    }
    free(named);
    return by_name;
}

static void copy_pool(struct arena *arena, const struct plan_pool *from,
                      struct pool_entry *to)
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
    to->by_name = arena_alloc(arena, (size_t)n_plans, sizeof(*to->by_name));
    for (int i = 0; i < n_plans; i++) {
        copy_plan(arena, &from->plans[i], &to->plans[i]);
        to->by_name[i] = sort_names(arena, &to->plans[i]);
    }
}

static struct arena *new_arena(void)
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
    if (pool->memory == NULL) {
        pool->memory = new_arena();
    }
    return pool->memory;
}

void pool_table_init(struct pool_table *pools, const struct broker_config *config)
{
    memset(pools, 0, sizeof(*pools));
    arena_init(&pools->arena);
    pools->count = config->pools != NULL ? config->pools->n_pools : 0;
    pools->items =
        arena_alloc(&pools->arena, (size_t)pools->count, sizeof(*pools->items));
    for (int i = 0; i < pools->count; i++) {
        copy_pool(&pools->arena, &config->pools->pools[i], &pools->items[i]);
        pools->items[i].next_ms = INT64_MAX;
    }
}

void pool_table_release(struct pool_table *pools)
{
    for (int i = 0; i < pools->count; i++) {
        free_arena(pools->items[i].memory);
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

const struct plan *pool_table_plan(const struct pool_entry *pool, int64_t local_ms)
{
    int window = pool->n_windows > 0
                     ? plan_window_at(pool->windows, pool->n_windows, local_ms)
                     : 0;
    return &pool->plans[window];
}

int pool_table_find_node(const struct pool_entry *pool, const struct plan *plan,
                         const char *node)
{
    const int *by_name = pool->by_name[plan - pool->plans];
    int low = 0, high = plan->n_nodes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(plan->nodes[by_name[middle]].name, node);
        if (order == 0) {
            return by_name[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return PLAN_NO_NODE;
}

int pool_table_find_leaf(const struct pool_entry *pool, const struct plan *plan,
                         const char *node, const char *site)
{
    int found = pool_table_find_node(pool, plan, node);
    bool is_leaf = found != PLAN_NO_NODE && plan_is_leaf(&plan->nodes[found]) &&
                   plan->nodes[found].site != NULL &&
                   strcmp(plan->nodes[found].site, site) == 0;
    return is_leaf ? found : PLAN_NO_NODE;
}

/* Of the plan of any window: which one is in force may change at any time. */
static const struct plan_node *find_anywhere(const struct pool_entry *pool,
                                             const struct lease *lease,
                                             struct push_grant *granting)
{
    int n_plans = pool->n_windows > 0 ? pool->n_windows : 1;
    for (int i = 0; i < n_plans; i++) {
        int leaf = pool_table_find_leaf(pool, &pool->plans[i], lease->node,
                                        lease->consumer->name);
        if (leaf != PLAN_NO_NODE) {
            granting->grace_ms = plan_grace_ms(&pool->plans[i], leaf);
            granting->is_whole = pool->plans[i].settings.placement == PLAN_EXCLUSIVE;
            return &pool->plans[i].nodes[leaf];
        }
    }
    return NULL;
}

/* Which pool a leaf's contract is of, its policy's idle part knows; that a plan has the
 * leaf is enough here. */
static void look_at_leaf(const struct pool_table *pools, struct lease *lease)
{
    struct push_grant *granting = &lease->granting;
    const struct plan_node *node = NULL;
    for (int i = 0; i < pools->count && node == NULL; i++) {
        node = find_anywhere(&pools->items[i], lease, granting);
    }
    lease->is_unplanned = node == NULL;
    granting->queues = node != NULL ? node->queues : NULL;
    granting->n_queues = node != NULL ? node->n_queues : 0;
}

void pool_table_update_lease(const struct pool_table *pools, struct lease *lease)
{
    if (lease->part == LEASE_IDLE) {
        lease->is_unplanned =
            pool_table_find(pools, lease->row.consumer + strlen("pool:")) == NULL;
    } else if (lease->part == LEASE_LEAF) {
        look_at_leaf(pools, lease);
    }
}

/* ---------------------------------------------------------------- time */

static int64_t cycle_of(const struct pool_entry *pool, int64_t local_ms)
{
    return pool_table_plan(pool, local_ms)->settings.cycle_ms;
}

/* On the grid of its cycle, so that a restart or a window does not shift it. */
static void set_next(struct pool_entry *pool, int64_t utc_offset_ms, int64_t now_ms)
{
    int64_t local_ms = now_ms + utc_offset_ms, cycle_ms = cycle_of(pool, local_ms);
    int64_t next_ms = now_ms - now_ms % cycle_ms + cycle_ms;
    int64_t window_ms = plan_window_end_ms(pool->windows, pool->n_windows, local_ms);
    if (window_ms != INT64_MAX && window_ms - utc_offset_ms < next_ms) {
        next_ms = window_ms - utc_offset_ms;
    }
    pool->next_ms = next_ms;
}

void pool_clock_start(struct pool_table *pools, int64_t lost_after_ms, int64_t now_ms)
{
    pools->waits_ms = now_ms + lost_after_ms;
    for (int i = 0; i < pools->count; i++) {
        set_next(&pools->items[i], pools->utc_offset_ms, now_ms);
    }
}

/* What was told of quotas stays, for a pool that stays. */
static void take_told(const struct pool_entry *from, struct pool_entry *to)
{
    if (from->n_told > 0) {
        to->told =
            arena_alloc(pool_table_arena(to), (size_t)from->n_told, sizeof(*to->told));
    }
    for (int i = 0; i < from->n_told; i++) {
        to->told[i] = from->told[i];
        to->told[i].node = arena_str(to->memory, from->told[i].node);
        to->told[i].moved = arena_str(to->memory, from->told[i].moved);
    }
    to->n_told = from->n_told;
}

void pool_clock_reload(struct pool_table *pools, const struct broker_config *config,
                       int64_t now_ms)
{
    struct pool_table old = *pools;
    pool_table_init(pools, config);
    pools->waits_ms = old.waits_ms;
    pools->utc_offset_ms = old.utc_offset_ms;
    for (int i = 0; i < pools->count; i++) {
        const struct pool_entry *before = pool_table_find(&old, pools->items[i].name);
        if (before != NULL) {
            take_told(before, &pools->items[i]);
        }
        set_next(&pools->items[i], pools->utc_offset_ms, now_ms);
    }
    for (const struct pool_removed *gone = old.gone; gone != NULL; gone = gone->next) {
        pool_persist_drop(pools, gone->name);
    }
    for (int i = 0; i < old.count; i++) {
        if (pool_table_find(pools, old.items[i].name) == NULL) {
            pool_persist_drop(pools, old.items[i].name);
        }
    }
    pool_table_release(&old);
}

/* ---------------------------------------------------------------- a cycle */

const struct pool_record *pool_table_find_record(const struct pool_entry *pool,
                                                 const char *node)
{
    int low = 0, high = pool->n_told;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(pool->told[middle].node, node);
        if (order == 0) {
            return &pool->told[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static bool is_moved(const struct pool_cycle *cycle, int node)
{
    const struct pool_move *move = &cycle->moves[node];
    return move->grant > 0 || move->recall > 0 || move->cancel > 0;
}

/* The last time that slots of the node were moved, and why. */
static void note_move(const struct pool_cycle *cycle, int node,
                      const struct pool_record *before, const char *why,
                      struct arena *memory, struct pool_record *told, int64_t now_ms)
{
    if (is_moved(cycle, node)) {
        told->moved_ms = now_ms;
        told->moved = why;
    } else if (before != NULL) {
        told->moved_ms = before->moved_ms;
        told->moved = arena_str(memory, before->moved);
    }
}

/* What it has, less what a change of policy takes of it: until it has come down to
 * that. */
static int64_t keeps_of(const struct plan_use *use)
{
    return use->forced > 0 ? use->alloc - use->forced : PLAN_UNLIMITED;
}

/* On record where quota or demand has changed. */
static void tell_quotas(const struct pool_entry *pool, const struct plan_use *uses,
                        const struct pool_cycle *cycle, struct arena *memory,
                        struct pool_record *told, int64_t now_ms,
                        struct effects *effects)
{
    const struct plan *plan = cycle->plan;
    const int *by_name = pool->by_name[plan - pool->plans];
    for (int i = 0; i < plan->n_nodes; i++) {
        int node = by_name[i];
        const struct pool_record *before =
            pool_table_find_record(pool, plan->nodes[node].name);
        told[i] = (struct pool_record){
            .node = arena_str(memory, plan->nodes[node].name),
            .quota = cycle->shares[node].quota,
            .demand = cycle->uses[node].demand,
            .keeps = keeps_of(&uses[node]),
        };
        bool is_new = before == NULL ? told[i].quota != 0 || told[i].demand != 0
                                     : before->quota != told[i].quota ||
                                           before->demand != told[i].demand;
        const char *why =
            is_new || is_moved(cycle, node) ? pool_explain(cycle, node, memory) : NULL;
        note_move(cycle, node, before, why, memory, &told[i], now_ms);
        if (is_new) {
            pool_events_quota(pool->name, told[i].node, told[i].quota, told[i].demand,
                              why, now_ms, effects);
        }
    }
}

/* Of hosts that differ in size none is smaller than the smallest: who wants fewer slots
 * wants that. */
static struct plan_use *round_demands(const struct pool_snapshot *picture,
                                      struct arena *arena)
{
    size_t size = (size_t)picture->plan->n_nodes * sizeof(*picture->uses);
    struct plan_use *uses = arena_copy(arena, picture->uses, size);
    int64_t least = plan_max(picture->least_slots, 1);
    for (int i = 0; i < picture->plan->n_nodes; i++) {
        int64_t whole = (uses[i].demand + least - 1) / least * least;
        uses[i].demand = plan_min(whole, PLAN_SLOTS_MAX);
    }
    return uses;
}

/* Of hosts that differ in size a leaf gets those that fit into what it is to have
 * (pool_place.c). */
void pool_clock_decide(const struct pool_snapshot *picture, struct pool_cycle *cycle,
                       struct arena *arena)
{
    const struct plan *plan = picture->plan;
    if (plan->settings.placement != PLAN_EXCLUSIVE) {
        pool_cycle(plan, picture->n_slots, picture->uses, cycle, arena);
    } else if (picture->host_slots > 0) {
        pool_cycle_hosts(plan, picture->n_slots / picture->host_slots,
                         picture->host_slots, picture->uses, cycle, arena);
    } else {
        pool_cycle(plan, picture->n_slots, round_demands(picture, arena), cycle, arena);
        cycle->uses =
            plan_quota_sum(plan, picture->uses, arena); /* as they are, to show */
    }
}

/* The first cycle by another plan than the one before: of another time window. */
static void switch_plans(const struct pool_entry *pool, struct pool_snapshot *picture,
                         struct arena *memory)
{
    const struct plan *plan = picture->plan, *before = pool->latest.plan;
    if (before == NULL || before == plan || !plan->settings.rebalances) {
        return;
    }
    int *was = arena_alloc(memory, (size_t)plan->n_nodes, sizeof(*was));
    for (int i = 0; i < plan->n_nodes; i++) {
        was[i] = pool_table_find_node(pool, before, plan->nodes[i].name);
    }
    pool_switch_force(pool->latest, was, plan, picture->n_slots, picture->uses, memory);
}

/* Of hosts that go back whole a part cannot be waited for. */
static void round_forced(struct pool_snapshot *picture)
{
    bool is_whole = picture->plan->settings.placement == PLAN_EXCLUSIVE;
    for (int i = 0; i < picture->plan->n_nodes && is_whole; i++) {
        struct plan_use *use = &picture->uses[i];
        use->forced -= use->forced % plan_max(picture->host_slots, 1);
    }
}

static void run_cycle(struct broker *broker, struct pool_entry *pool, int64_t local_ms,
                      int64_t now_ms, struct effects *effects)
{
    const struct plan *plan = pool_table_plan(pool, local_ms);
    struct arena *memory = new_arena();
    struct pool_record *told =
        arena_alloc(memory, (size_t)plan->n_nodes, sizeof(*told));
    struct pool_snapshot picture;
    pool_snapshot_take(broker, pool, plan, now_ms, memory, &picture);
    switch_plans(pool, &picture, memory);
    round_forced(&picture);
    struct pool_cycle cycle;
    pool_clock_decide(&picture, &cycle, memory);
    pool_execute(broker, pool, &picture, &cycle, now_ms, effects);
    /* pool_cycle_hosts counts a plan of its own making; nodes are the same. */
    cycle.plan = plan;
    tell_quotas(pool, picture.uses, &cycle, memory, told, now_ms, effects);
    pool_persist_store(pool, plan, cycle.slots, told, effects);
    free_arena(pool->memory);
    pool->memory = memory;
    pool->cycle = cycle;
    pool->has_cycle = true;
    pool->cycle_ms = now_ms;
    pool->told = told;
    pool->n_told = plan->n_nodes;
}

void pool_clock_recall_unplanned(struct lease *lease, int64_t now_ms,
                                 struct effects *effects)
{
    int n_held = lease_count_slots(lease) - push_recall_count(lease);
    if (lease->part != LEASE_LEAF || !lease->is_unplanned || !lease_is_open(lease) ||
        lease->asking.is_open || n_held <= 0) {
        return;
    }
    const struct push_recall_order order = {
        .pool = lease->recalling.pool,
        .n_slots = n_held,
        .why = POOL_WHY_UNPLANNED,
        .deadline_ms = now_ms + lease->granting.grace_ms,
    };
    push_recall_add(lease, &order, now_ms, effects);
}

/* A provider that has not come back since the start must not look like slots that are
 * gone. */
static bool is_waiting(const struct broker *broker, int64_t now_ms)
{
    for (int i = 0; i < broker->leases.count && now_ms < broker->pools.waits_ms; i++) {
        const struct lease *lease = broker->leases.items[i];
        if (lease->part != LEASE_WHOLE && lease_is_open(lease) &&
            (lease->provider->session == 0 || lease->asking.is_open)) {
            return true;
        }
    }
    return false;
}

void pool_clock_tick(struct broker *broker, int64_t utc_offset_ms, int64_t now_ms,
                     struct effects *effects)
{
    struct pool_table *pools = &broker->pools;
    pools->utc_offset_ms = utc_offset_ms;
    pool_persist_tick(pools, effects);
    for (int i = 0; i < pools->count; i++) {
        struct pool_entry *pool = &pools->items[i];
        if (pool->next_ms > now_ms) {
            continue;
        }
        set_next(pool, utc_offset_ms, now_ms);
        if (!is_waiting(broker, now_ms)) {
            run_cycle(broker, pool, now_ms + utc_offset_ms, now_ms, effects);
        }
    }
}

int64_t pool_clock_wake_ms(const struct pool_table *pools)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < pools->count; i++) {
        wake_ms = pools->items[i].next_ms < wake_ms ? pools->items[i].next_ms : wake_ms;
    }
    return wake_ms;
}
