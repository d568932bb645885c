/* SPDX-License-Identifier: Apache-2.0 */
/* place_order.c: see place_order.h.
 *
 *     queue1 50, queue2 48 (pool A), queue4 47 (outside), queue3 46 (pool A)
 *     queue3 has used the least of pool A for its share: queue3 queue1 queue4 queue2
 *     queue3 and queue1 are served up to their parts, queue4 as long as jobs fit,
 * queue2 up to its part. Slots that jobs of the pool left unused are then handed out
 * again, beginning with queue3. */
#include "sched/place/place_order.h"

#include <limits.h>

struct place_order_builder {
    struct place_order *order;
    struct arena *arena;
    int *sorted;                           /* queues by priority, then as in the file */
    int *unit_of;                          /* by queue */
    bool *is_set;                          /* by queue: other queues share its scope */
    struct place_fairshare_scope **scopes; /* by scope */
};

/* ---------------------------------------------------------------- classes of a queue
 */

static int compare_classes(const void *arg, int a, int b)
{
    const struct place_order *order = arg;
    const struct place_order_key *left = &order->keys[a], *right = &order->keys[b];
    if (left->priority != right->priority) {
        return left->priority > right->priority ? -1 : 1;
    }
    if (left->queue != right->queue) {
        return left->queue < right->queue ? -1 : 1;
    }
    return job_class_compare(&left->entry, &right->entry);
}

static void set_key(const struct place_order *order, int class)
{
    const struct place_snapshot *snapshot = order->snapshot;
    const struct place_class *at = &snapshot->classes[class];
    order->keys[class] = (struct place_order_key){
        .entry = *at->entries[order->next_entry[class]],
        .queue = at->queue,
        .priority = snapshot->queues[at->queue].priority,
    };
}

static void sift_class(const struct place_order *order, struct place_order_unit *unit,
                       int at)
{
    int class = unit->heap[at];
    for (int child; (child = 2 * at + 1) < unit->n_heap; at = child) {
        if (child + 1 < unit->n_heap &&
            compare_classes(order, unit->heap[child + 1], unit->heap[child]) < 0) {
            child++;
        }
        if (compare_classes(order, class, unit->heap[child]) <= 0) {
            break;
        }
        unit->heap[at] = unit->heap[child];
    }
    unit->heap[at] = class;
}

static int top_of(const struct place_order_unit *unit)
{
    if (unit->share != NULL) {
        return place_fairshare_top(unit->share);
    }
    return unit->n_heap > 0 ? unit->heap[0] : -1;
}

/* A job of the first class of the unit starts, or the class leaves the pass. */
static void advance(struct place_order *order, int n_slots, bool is_through)
{
    struct place_order_unit *unit = order->current;
    if (unit->share != NULL) {
        place_fairshare_advance(unit->share, n_slots, is_through);
        return;
    }
    if (is_through) {
        unit->heap[0] = unit->heap[--unit->n_heap];
    }
    if (unit->n_heap > 0) {
        sift_class(order, unit, 0);
    }
}

/* ---------------------------------------------------------------- order of queues */

static void sort_queues(struct place_order_builder *builder)
{
    const struct place_snapshot *snapshot = builder->order->snapshot;
    const struct queue_config *queues = snapshot->queues;
    for (int i = 0; i < snapshot->n_queues; i++) {
        int at = i;
        for (; at > 0 && queues[builder->sorted[at - 1]].priority < queues[i].priority;
             at--) {
            builder->sorted[at] = builder->sorted[at - 1];
        }
        builder->sorted[at] = i;
    }
}

static int scope_of(const struct place_snapshot *snapshot, int queue)
{
    return snapshot->fairshare != NULL ? snapshot->fairshare->scope_of[queue] : -1;
}

/* Marks queues that are served as one with other queues of their scope. */
static void mark_sets(struct place_order_builder *builder)
{
    const struct place_snapshot *snapshot = builder->order->snapshot;
    for (int i = 0; i < snapshot->n_queues; i++) {
        int scope = scope_of(snapshot, i);
        for (int k = 0; scope >= 0 && !snapshot->fairshare->scopes[scope].is_by_queue &&
                        k < snapshot->n_queues;
             k++) {
            builder->is_set[i] =
                builder->is_set[i] || (k != i && scope_of(snapshot, k) == scope);
        }
    }
}

/* The queue that is served at this position; at positions of a pool, its next queue by
 * use. */
static int queue_at(const struct place_order_builder *builder, int *taken, int position)
{
    const struct place_slot_pools *pools = &builder->order->pools;
    int queue = builder->sorted[position];
    if (pools->position_of[queue] < 0) {
        return queue;
    }
    int pool = builder->order->snapshot->slot_pools->pool_of[queue];
    return pools->pools[pool].queues[taken[pool]++];
}

static void add_unit(struct place_order_builder *builder, int queue)
{
    struct place_order *order = builder->order;
    const struct place_snapshot *snapshot = order->snapshot;
    int scope = scope_of(snapshot, queue);
    for (int i = 0; builder->is_set[queue] && i < order->n_units; i++) {
        if (scope_of(snapshot, order->units[i].queue) == scope) {
            builder->unit_of[queue] = i;
            return;
        }
    }
    bool is_pooled = order->pools.position_of[queue] >= 0;
    builder->unit_of[queue] = order->n_units;
    order->units[order->n_units++] = (struct place_order_unit){
        .queue = queue, .pool = is_pooled ? snapshot->slot_pools->pool_of[queue] : -1};
}

static void add_units(struct place_order_builder *builder)
{
    struct place_order *order = builder->order;
    const struct place_snapshot *snapshot = order->snapshot;
    int *taken = arena_alloc(builder->arena, (size_t)order->pools.n_pools, sizeof(int));
    order->units =
        arena_alloc(builder->arena, (size_t)snapshot->n_queues, sizeof(*order->units));
    for (int i = 0; i < snapshot->n_queues; i++) {
        add_unit(builder, queue_at(builder, taken, i));
    }
    for (int i = 0; i < order->n_units; i++) {
        struct place_order_unit *unit = &order->units[i];
        unit->is_last = unit->pool >= 0;
        for (int k = i + 1; k < order->n_units && unit->is_last; k++) {
            unit->is_last = order->units[k].pool != unit->pool;
        }
    }
}

/* ---------------------------------------------------------------- building */

static struct place_fairshare_scope *
fairshare_scope_of(struct place_order_builder *builder, int scope)
{
    const struct place_snapshot *snapshot = builder->order->snapshot;
    if (builder->scopes[scope] == NULL) {
        builder->scopes[scope] = place_fairshare_scope_new(
            builder->arena, snapshot->fairshare_trees[scope], snapshot->now_ms);
    }
    return builder->scopes[scope];
}

static void fill_units(struct place_order_builder *builder)
{
    struct place_order *order = builder->order;
    const struct place_snapshot *snapshot = order->snapshot;
    order->keys =
        arena_alloc(builder->arena, (size_t)snapshot->n_classes, sizeof(*order->keys));
    for (int i = 0; i < snapshot->n_classes; i++) {
        set_key(order, i);
        order->units[builder->unit_of[snapshot->classes[i].queue]].n_heap++;
    }
    for (int i = 0; i < order->n_units; i++) {
        struct place_order_unit *unit = &order->units[i];
        unit->heap = arena_alloc(builder->arena, (size_t)unit->n_heap, sizeof(int));
        unit->n_heap = 0;
    }
    for (int i = 0; i < snapshot->n_classes; i++) {
        struct place_order_unit *unit =
            &order->units[builder->unit_of[snapshot->classes[i].queue]];
        unit->heap[unit->n_heap++] = i;
    }
    for (int i = 0; i < order->n_units; i++) {
        struct place_order_unit *unit = &order->units[i];
        int scope = scope_of(snapshot, unit->queue);
        if (scope >= 0 && unit->n_heap > 0) {
            unit->share = place_fairshare_new(
                builder->arena, fairshare_scope_of(builder, scope), snapshot->classes,
                unit->heap, unit->n_heap, compare_classes, order);
            continue;
        }
        for (int at = unit->n_heap / 2 - 1; at >= 0; at--) {
            sift_class(order, unit, at);
        }
    }
}

void place_order_init(struct place_order *order, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    size_t n_queues = (size_t)snapshot->n_queues;
    size_t n_scopes =
        snapshot->fairshare != NULL ? (size_t)snapshot->fairshare->n_scopes : 0;
    struct place_order_builder *builder = arena_alloc(arena, 1, sizeof(*builder));
    *builder = (struct place_order_builder){
        .order = order,
        .arena = arena,
        .sorted = arena_alloc(arena, n_queues, sizeof(int)),
        .unit_of = arena_alloc(arena, n_queues, sizeof(int)),
        .is_set = arena_alloc(arena, n_queues, sizeof(bool)),
        .scopes = arena_alloc(arena, n_scopes, sizeof(struct place_fairshare_scope *)),
    };
    *order = (struct place_order){
        .snapshot = snapshot,
        .next_entry = arena_alloc(arena, (size_t)snapshot->n_classes, sizeof(int)),
        .builder = builder,
    };
    sort_queues(builder);
    mark_sets(builder);
    place_slot_pool_init(&order->pools, arena, snapshot, builder->is_set);
    add_units(builder);
}

/* ---------------------------------------------------------------- the pass */

/* The queue of the pool with the most urgent job; NULL: no queue has a class left. */
static struct place_order_unit *most_urgent(const struct place_order *order, int pool)
{
    struct place_order_unit *best = NULL;
    int64_t best_priority = 0;
    for (int i = 0; i < order->n_units; i++) {
        struct place_order_unit *unit = &order->units[i];
        int class = unit->pool == pool ? top_of(unit) : -1;
        if (class < 0) {
            continue;
        }
        int64_t priority = order->keys[class].entry.priority;
        if (best == NULL || priority > best_priority) {
            best = unit;
            best_priority = priority;
        }
    }
    return best;
}

/* The unit whose class is next at the position of this one; NULL: the next position. */
static struct place_order_unit *choose_unit(const struct place_order *order,
                                            struct place_order_unit *unit)
{
    if (unit->pool >= 0 && order->pools.pools[unit->pool].is_second_round) {
        return unit->is_last ? most_urgent(order, unit->pool) : NULL;
    }
    bool is_allowed = unit->pool < 0 || place_slot_pool_left_of_part(
                                            &order->pools, unit->pool, unit->queue) > 0;
    return is_allowed && top_of(unit) >= 0 ? unit : NULL;
}

/* At the position of a pool's last queue, after all of its queues were served. */
static void end_round(struct place_order *order, int pool)
{
    struct place_slot_pool *of = &order->pools.pools[pool];
    bool is_first = !of->is_second_round;
    if (is_first && place_slot_pool_reallocate(&order->pools, pool)) {
        for (order->at = 0; order->units[order->at].pool != pool; order->at++) {
        }
    } else if (is_first && of->pool->is_by_priority) {
        of->is_second_round = true;
    } else {
        order->at++;
    }
}

int place_order_top(struct place_order *order)
{
    if (order->builder != NULL) {
        fill_units(order->builder);
        order->builder = NULL;
    }
    while (order->at < order->n_units) {
        struct place_order_unit *unit = &order->units[order->at];
        order->current = choose_unit(order, unit);
        if (order->current != NULL) {
            return top_of(order->current);
        }
        if (unit->is_last) {
            end_round(order, unit->pool);
        } else {
            order->at++;
        }
    }
    return -1;
}

int place_order_max_slots(const struct place_order *order, int n_min, int *n_max,
                          const char **limit)
{
    const struct place_order_unit *unit = order->current;
    if (order->pools.n_pools == 0 || unit->pool < 0) {
        return INT_MAX;
    }
    int free = place_slot_pool_left_of_max(&order->pools, unit->pool);
    int left = place_slot_pool_left_of_part(&order->pools, unit->pool, unit->queue);
    int most = left < free ? left : free;
    *n_max = most > n_min ? (most < *n_max ? most : *n_max) : n_min;
    if (free < n_min) {
        *limit = order->pools.pools[unit->pool].pool->max_name;
    }
    return free;
}

bool place_order_advance(struct place_order *order, int n_slots)
{
    int class = top_of(order->current), pool = order->current->pool;
    bool is_through =
        ++order->next_entry[class] == order->snapshot->classes[class].n_entries;
    if (!is_through) {
        set_key(order, class);
    }
    advance(order, n_slots, is_through);
    if (pool >= 0) {
        place_slot_pool_add_used(&order->pools, pool, order->current->queue, n_slots);
    }
    return is_through;
}

void place_order_drop(struct place_order *order)
{
    int class = top_of(order->current), pool = order->current->pool;
    if (pool >= 0) {
        place_slot_pool_release(&order->pools, pool, order->current->queue,
                                place_slot_pool_demand(&order->snapshot->classes[class],
                                                       order->next_entry[class]));
    }
    advance(order, 0, true);
}
