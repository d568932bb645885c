/* SPDX-License-Identifier: Apache-2.0 */
/* pool_sample.c: see broker_view.h. */
#include "broker/view/broker_view.h"

#include "broker/broker_parts.h"

static int count_of(const struct pool_entry *pool)
{
    return pool->has_cycle ? 1 + pool->cycle.plan->n_nodes : 0;
}

int pool_sample_count(const struct broker *broker)
{
    int count = 0;
    for (int i = 0; i < broker->pools.count; i++) {
        count += count_of(&broker->pools.items[i]);
    }
    return count;
}

static void add_uses(const struct pool_cycle *cycle, int node,
                     struct pool_sample *sample)
{
    const struct pool_move *move = &cycle->moves[node];
    sample->alloc += pool_held(cycle, node);
    sample->recalled += cycle->uses[node].recalled + move->recall - move->cancel;
    sample->demand += cycle->uses[node].demand;
}

static struct pool_sample sample_of(const struct pool_entry *pool)
{
    const struct pool_cycle *cycle = &pool->cycle;
    struct pool_sample sample = {.pool = pool->name, .slots = cycle->slots};
    for (int i = 0; i < cycle->plan->n_top; i++) {
        add_uses(cycle, i, &sample);
    }
    sample.idle = plan_max(sample.slots - sample.alloc, 0);
    return sample;
}

struct pool_sample pool_sample_at(const struct broker *broker, int index)
{
    const struct pool_entry *pool = broker->pools.items;
    while (index >= count_of(pool)) {
        index -= count_of(pool);
        pool++;
    }
    if (index == 0) {
        return sample_of(pool);
    }
    struct pool_sample sample = {
        .pool = pool->name,
        .node = pool->cycle.plan->nodes[index - 1].name,
        .quota = pool->cycle.shares[index - 1].quota,
    };
    add_uses(&pool->cycle, index - 1, &sample);
    return sample;
}
