/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool_ledger.c: see slot_pool_ledger.h. */
#include "site/ledger/slot_pool_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/config/site_config.h"

static const double hour_ms = 3600000;

enum { SCOPE_SIZE = NAME_SIZE + 16 };

struct queue_usage {
    struct slot_member then; /* since the pool's instant */
    int n_slots;             /* of its jobs now */
    bool is_waiting;         /* now */
    int64_t loaded_ms;       /* as of when its row was; 0: it had none */
};

struct slot_pool_ledger {
    const struct site_config *config;
    struct queue_usage *queues;
    int64_t *at_ms; /* by pool */
};

/* ---------------------------------------------------------------- life */

static int pool_of(const struct slot_pool_ledger *ledger, int queue)
{
    const struct slot_pools *pools = &ledger->config->pools;
    return queue >= 0 && pools->n_pools > 0 ? pools->pool_of[queue] : -1;
}

struct slot_pool_ledger *slot_pool_ledger_new(const struct site_config *config)
{
    struct slot_pool_ledger *ledger = mem_alloc(1, sizeof(*ledger));
    ledger->config = config;
    ledger->queues = mem_alloc((size_t)config->n_queues + 1, sizeof(*ledger->queues));
    ledger->at_ms =
        mem_alloc((size_t)config->pools.n_pools + 1, sizeof(*ledger->at_ms));
    for (int i = 0; i < config->n_queues; i++) {
        ledger->queues[i].then.share =
            pool_of(ledger, i) >= 0 ? config->pools.shares[i] : 0;
    }
    return ledger;
}

void slot_pool_ledger_free(struct slot_pool_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    free(ledger->queues);
    free(ledger->at_ms);
    free(ledger);
}

void slot_pool_ledger_add_slots(struct slot_pool_ledger *ledger, int queue, int n_slots)
{
    if (queue >= 0) {
        ledger->queues[queue].n_slots += n_slots;
    }
}

void slot_pool_ledger_set_waiting(struct slot_pool_ledger *ledger, const bool *waits)
{
    for (int i = 0; i < ledger->config->n_queues; i++) {
        ledger->queues[i].is_waiting = waits[i];
    }
}

/* ---------------------------------------------------------------- time */

/* The pool's queues as of `now_ms`, in its order. */
static struct slot_member *advanced(const struct slot_pool_ledger *ledger, int pool,
                                    int64_t now_ms)
{
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    int64_t at_ms = ledger->at_ms[pool];
    struct slot_member *members = mem_alloc((size_t)of->n_queues, sizeof(*members));
    for (int i = 0; i < of->n_queues; i++) {
        members[i] = ledger->queues[of->queues[i]].then;
    }
    slot_pool_advance(members, of->n_queues, at_ms != 0 ? now_ms - at_ms : 0,
                      of->hist_hours);
    return members;
}

/* From now on they have what they have now. */
static void settle_pool(struct slot_pool_ledger *ledger, int pool, int64_t now_ms)
{
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    struct slot_member *members = advanced(ledger, pool, now_ms);
    for (int i = 0; i < of->n_queues; i++) {
        struct queue_usage *use = &ledger->queues[of->queues[i]];
        use->then = members[i];
        use->then.n_slots = use->n_slots;
        use->then.is_waiting = use->is_waiting;
    }
    ledger->at_ms[pool] = now_ms > ledger->at_ms[pool] ? now_ms : ledger->at_ms[pool];
    free(members);
}

/* Rows of a journal that wrote each when its own slots changed: to the latest. */
static void align_pool(struct slot_pool_ledger *ledger, int pool)
{
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    for (int i = 0; i < of->n_queues; i++) {
        struct queue_usage *use = &ledger->queues[of->queues[i]];
        if (use->loaded_ms != 0) {
            use->then.use_hours =
                slot_pool_use(use->then.use_hours, use->n_slots,
                              ledger->at_ms[pool] - use->loaded_ms, of->hist_hours);
            use->loaded_ms = ledger->at_ms[pool];
        }
    }
}

void slot_pool_ledger_settle(struct slot_pool_ledger *ledger)
{
    for (int i = 0; i < ledger->config->pools.n_pools; i++) {
        align_pool(ledger, i);
    }
    for (int i = 0; i < ledger->config->n_queues; i++) {
        struct queue_usage *use = &ledger->queues[i];
        use->then.n_slots = use->n_slots;
        use->then.is_waiting = use->is_waiting;
    }
}

/* ---------------------------------------------------------------- rows */

static void name_pool(const struct slot_pool *pool, char *text)
{
    snprintf(text, SCOPE_SIZE, "pool/%s", pool->name);
}

/* The queue of that pool with that name; -1: there is none. */
static int find_queue(const struct slot_pool_ledger *ledger, const char *pool,
                      const char *queue)
{
    for (int i = 0; i < ledger->config->n_queues; i++) {
        char name[SCOPE_SIZE];
        if (pool_of(ledger, i) < 0 ||
            strcmp(ledger->config->queues[i].name, queue) != 0) {
            continue;
        }
        name_pool(&ledger->config->pools.pools[pool_of(ledger, i)], name);
        return strcmp(name, pool) == 0 ? i : -1;
    }
    return -1;
}

bool slot_pool_ledger_load(struct slot_pool_ledger *ledger, const struct row_share *row)
{
    int queue = find_queue(ledger, row->scope, row->account);
    if (queue < 0) {
        return false;
    }
    struct queue_usage *use = &ledger->queues[queue];
    int64_t *at_ms = &ledger->at_ms[pool_of(ledger, queue)];
    use->then.use_hours = row->past_ms / hour_ms;
    use->then.balance_hours = row->ahead_ms / hour_ms;
    use->is_waiting = row->is_waiting;
    use->loaded_ms = row->at_ms;
    *at_ms = row->at_ms > *at_ms ? row->at_ms : *at_ms;
    return true;
}

static void store_pool(const struct slot_pool_ledger *ledger, int pool,
                       struct effects *effects)
{
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    char name[SCOPE_SIZE];
    name_pool(of, name);
    struct row row = {.kind = ROW_SHARE};
    row.share.scope = name;
    row.share.at_ms = ledger->at_ms[pool];
    for (int i = 0; i < of->n_queues; i++) {
        const struct slot_member *then = &ledger->queues[of->queues[i]].then;
        const char *queue = ledger->config->queues[of->queues[i]].name;
        row.share.account = queue;
        row.share.past_ms = then->use_hours * hour_ms;
        row.share.ahead_ms = then->balance_hours * hour_ms;
        row.share.is_waiting = then->is_waiting;
        effects_store(effects, &row);
    }
}

static bool has_changed(const struct slot_pool_ledger *ledger, int pool)
{
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    for (int i = 0; i < of->n_queues; i++) {
        const struct queue_usage *use = &ledger->queues[of->queues[i]];
        if (use->n_slots != use->then.n_slots ||
            use->is_waiting != use->then.is_waiting) {
            return true;
        }
    }
    return false;
}

void slot_pool_ledger_tick(struct slot_pool_ledger *ledger, int64_t now_ms,
                           struct effects *effects)
{
    for (int i = 0; i < ledger->config->pools.n_pools; i++) {
        if (has_changed(ledger, i)) {
            settle_pool(ledger, i, now_ms);
            store_pool(ledger, i, effects);
        }
    }
}

/* ---------------------------------------------------------------- reload */

void slot_pool_ledger_inherit(struct slot_pool_ledger *ledger,
                              const struct slot_pool_ledger *before, int64_t now_ms)
{
    for (int i = 0; i < before->config->n_queues; i++) {
        struct slot_member member;
        char name[SCOPE_SIZE];
        if (!slot_pool_ledger_find(before, i, now_ms, &member)) {
            continue;
        }
        name_pool(&before->config->pools.pools[pool_of(before, i)], name);
        int queue = find_queue(ledger, name, before->config->queues[i].name);
        if (queue >= 0) {
            struct queue_usage *use = &ledger->queues[queue];
            use->then.use_hours = member.use_hours;
            use->then.balance_hours = member.balance_hours;
            use->is_waiting = before->queues[i].is_waiting;
            ledger->at_ms[pool_of(ledger, queue)] = now_ms;
        }
    }
}

/* ---------------------------------------------------------------- for a pass */

void slot_pool_ledger_snapshot(const struct slot_pool_ledger *ledger,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot)
{
    const struct site_config *config = ledger->config;
    if (config->pools.n_pools == 0) {
        return;
    }
    int *used = arena_alloc(arena, (size_t)config->n_queues, sizeof(int));
    double *use = arena_alloc(arena, (size_t)config->n_queues, sizeof(double));
    for (int i = 0; i < config->n_queues; i++) {
        used[i] = ledger->queues[i].n_slots;
    }
    for (int i = 0; i < config->pools.n_pools; i++) {
        const struct slot_pool *of = &config->pools.pools[i];
        struct slot_member *members = advanced(ledger, i, now_ms);
        for (int k = 0; k < of->n_queues; k++) {
            use[of->queues[k]] = slot_pool_weight(&members[k]);
        }
        free(members);
    }
    snapshot->slot_pools = &config->pools;
    snapshot->queue_used = used;
    snapshot->queue_usage = use;
}

bool slot_pool_ledger_find(const struct slot_pool_ledger *ledger, int queue,
                           int64_t now_ms, struct slot_member *member)
{
    int pool = pool_of(ledger, queue);
    if (pool < 0) {
        return false;
    }
    const struct slot_pool *of = &ledger->config->pools.pools[pool];
    struct slot_member *members = advanced(ledger, pool, now_ms);
    for (int i = 0; i < of->n_queues; i++) {
        if (of->queues[i] == queue) {
            *member = members[i];
        }
    }
    free(members);
    return true;
}
