/* SPDX-License-Identifier: Apache-2.0 */
/* place_slot_pool.c: see place_slot_pool.h. */
#include "sched/place/place_slot_pool.h"

#include <limits.h>

#include "sched/fairshare/fairshare.h"
#include "sched/limit/limit.h"
#include "sched/place/candidates.h"

/* ---------------------------------------------------------------- a pool's slots */

/* Slots that a plan has for other queues are not the pool's. */
static bool is_for_pool(const struct place_snapshot *snapshot,
                        const struct slot_pool *pool, const struct place_host *host)
{
    bool is_for_any = host->n_queues == 0;
    for (int i = 0; i < pool->n_queues && !is_for_any; i++) {
        is_for_any =
            place_state_takes_queue(host, snapshot->queues[pool->queues[i]].name);
    }
    return is_for_any;
}

/* What the pool's jobs can use of its hosts, whichever jobs are there now. */
static int slots_of(struct arena *arena, const struct place_snapshot *snapshot,
                    const struct slot_pool *pool)
{
    const struct queue_config *queue = &snapshot->queues[pool->queues[0]];
    struct limit_host *hosts =
        arena_alloc(arena, (size_t)snapshot->n_hosts, sizeof(*hosts));
    const char **queues = arena_alloc(arena, (size_t)pool->n_queues, sizeof(*queues));
    int64_t n_slots = 0;
    int n_hosts = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        int preference;
        if (queue_allows(queue, host->name, host->site, &preference) &&
            is_for_pool(snapshot, pool, host)) {
            hosts[n_hosts] = (struct limit_host){
                .name = host->name,
                .n_processors = host->n_processors > 0 ? host->n_processors : host->max,
                .n_slots = host->is_open ? host->max : host->used};
            n_slots += hosts[n_hosts++].n_slots;
        }
    }
    for (int i = 0; i < pool->n_queues; i++) {
        queues[i] = snapshot->queues[pool->queues[i]].name;
    }
    if (snapshot->limits != NULL) {
        n_slots = limit_capacity(snapshot->limits, arena, queues, pool->n_queues, hosts,
                                 n_hosts);
    }
    return n_slots < pool->max_slots ? (int)n_slots : pool->max_slots;
}

int64_t place_slot_pool_demand(const struct place_class *class, int n_started)
{
    int n_jobs =
        class->n_entries < class->max_starts ? class->n_entries : class->max_starts;
    return class->veto == REASON_NEW ? (int64_t)(n_jobs - n_started) * class->n_slots
                                     : 0;
}

/* ---------------------------------------------------------------- order */

/* The pool's queues in order: least used for its share first. */
static void order_queues(struct place_slot_pools *pools, struct place_slot_pool *pool,
                         struct arena *arena, const struct place_snapshot *snapshot,
                         const bool *is_out)
{
    size_t n = (size_t)pool->pool->n_queues;
    int *queues = arena_alloc(arena, n, sizeof(int));
    int *shares = arena_alloc(arena, n, sizeof(int));
    double *use = arena_alloc(arena, n, sizeof(double));
    int *order = arena_alloc(arena, n, sizeof(int));
    bool *is_over = arena_alloc(arena, n, sizeof(bool));
    for (size_t i = 0; i < n; i++) {
        int queue = pool->pool->queues[i];
        if (!is_out[queue]) {
            queues[pool->n_parts] = queue;
            shares[pool->n_parts] = snapshot->slot_pools->shares[queue];
            use[pool->n_parts++] = snapshot->queue_usage[queue];
        }
    }
    slot_pool_sort(use, shares, pool->n_parts, order);
    slot_pool_mark_over(use, shares, pool->n_parts, is_over);
    pool->queues = arena_alloc(arena, n, sizeof(int));
    pool->parts = arena_alloc(arena, n, sizeof(*pool->parts));
    for (int i = 0; i < pool->n_parts; i++) {
        pool->queues[i] = queues[order[i]];
        pool->parts[i].share = shares[order[i]];
        pool->parts[i].is_over = is_over[order[i]];
        pools->position_of[queues[order[i]]] = i;
    }
}

static void allocate(const struct place_slot_pools *pools, struct place_slot_pool *pool)
{
    for (int i = 0; i < pool->n_parts; i++) {
        pool->parts[i].want = pools->demand[pool->queues[i]];
    }
    slot_pool_allocate(pool->parts, pool->n_parts, pool->n_slots,
                       pool->pool->is_by_priority ? 1 : 0);
    pool->is_stale = false;
}

void place_slot_pool_init(struct place_slot_pools *pools, struct arena *arena,
                          const struct place_snapshot *snapshot, const bool *is_out)
{
    size_t n_queues = (size_t)snapshot->n_queues;
    *pools = (struct place_slot_pools){.position_of =
                                           arena_alloc(arena, n_queues, sizeof(int))};
    for (size_t i = 0; i < n_queues; i++) {
        pools->position_of[i] = -1;
    }
    if (snapshot->slot_pools == NULL || snapshot->slot_pools->n_pools == 0) {
        return;
    }
    pools->n_pools = snapshot->slot_pools->n_pools;
    pools->pools = arena_alloc(arena, (size_t)pools->n_pools, sizeof(*pools->pools));
    pools->used = arena_alloc(arena, n_queues, sizeof(*pools->used));
    pools->demand = arena_alloc(arena, n_queues, sizeof(*pools->demand));
    for (size_t i = 0; i < n_queues; i++) {
        pools->used[i] = pools->demand[i] = snapshot->queue_used[i];
    }
    for (int i = 0; i < snapshot->n_classes; i++) {
        pools->demand[snapshot->classes[i].queue] +=
            place_slot_pool_demand(&snapshot->classes[i], 0);
    }
    for (int i = 0; i < pools->n_pools; i++) {
        struct place_slot_pool *pool = &pools->pools[i];
        pool->pool = &snapshot->slot_pools->pools[i];
        order_queues(pools, pool, arena, snapshot, is_out);
        pool->n_slots = slots_of(arena, snapshot, pool->pool);
        for (int k = 0; k < pool->pool->n_queues; k++) {
            pool->n_used += pools->used[pool->pool->queues[k]];
        }
        allocate(pools, pool);
    }
}

/* ---------------------------------------------------------------- the pass */

int place_slot_pool_left_of_part(const struct place_slot_pools *pools, int pool,
                                 int queue)
{
    const struct place_slot_pool *of = &pools->pools[pool];
    int64_t left = of->parts[pools->position_of[queue]].given - pools->used[queue];
    return left > 0 ? (int)left : 0;
}

int place_slot_pool_left_of_max(const struct place_slot_pools *pools, int pool)
{
    const struct place_slot_pool *of = &pools->pools[pool];
    int64_t room =
        of->pool->max_slots == INT_MAX ? INT_MAX : of->pool->max_slots - of->n_used;
    return room > 0 ? (int)room : 0;
}

void place_slot_pool_add_used(struct place_slot_pools *pools, int pool, int queue,
                              int n_slots)
{
    pools->used[queue] += n_slots;
    pools->pools[pool].n_used += n_slots;
}

void place_slot_pool_release(struct place_slot_pools *pools, int pool, int queue,
                             int64_t n_slots)
{
    pools->demand[queue] -= n_slots;
    pools->pools[pool].is_stale = pools->pools[pool].is_stale || n_slots > 0;
}

bool place_slot_pool_reallocate(struct place_slot_pools *pools, int pool)
{
    struct place_slot_pool *of = &pools->pools[pool];
    if (!of->is_stale) {
        return false;
    }
    allocate(pools, of);
    return true;
}
