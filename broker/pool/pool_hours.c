/* SPDX-License-Identifier: Apache-2.0 */
/* pool_hours.c: see pool_table.h.
 *
 * A provider's count only grows within a month, so that the largest one that was told
 * is the latest, in whatever order messages come. A provider that has lost its journal
 * begins another count, with a later beginning, which is added.
 *
 * A level is one of what was told, never of what is expected. At the instant at which a
 * level is expected, the providers are asked.
 *
 * Counts of contracts stay when the contract ends or its leaf leaves the plan: they
 * count for the nodes above that path until the month is over. */
#include "broker/pool/pool_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "broker/lease/lease.h"
#include "model/dup.h"

#define MONTH_MAX_MS (31 * 24 * QUOTA_HOUR_MS)

enum {
    /* Adding up 10,000 contracts below as many nodes takes some milliseconds. A pool of
     * that size is looked at five times a second. */
    ADDED_A_MS = 100,
    ASK_MS = 1000, /* between two questions to the providers of a pool */
};

/* What a provider has counted of a contract in a month. */
struct pool_count {
    const char *lease;
    const char *node; /* its path, within the id */
    int64_t since_ms, month_ms, used_ms;
    int64_t told_ms; /* when; 0: before the start */
    bool is_stored;
    const struct plan *plan; /* of which this is its place: */
    int at;                  /* a node or PLAN_NO_NODE */
};

/* The level of a node that was last recorded, if it is not QUOTA_FREE. */
struct pool_level {
    char *node;
    enum quota_level level;
};

struct pool_hours {
    struct pool_count **counts; /* by lease, beginning and month */
    int n_counts, counts_capacity;
    struct pool_level **levels; /* by node */
    int n_levels, levels_capacity;
    int64_t wake_ms, judged_ms, asked_ms;
};

struct pool_hours *pool_hours_new(void)
{
    return mem_alloc(1, sizeof(struct pool_hours));
}

static void free_count(struct pool_count *count)
{
    dup_free(count->lease);
    free(count);
}

static void free_level(struct pool_level *level)
{
    dup_free(level->node);
    free(level);
}

void pool_hours_free(struct pool_hours *hours)
{
    for (int i = 0; hours != NULL && i < hours->n_counts; i++) {
        free_count(hours->counts[i]);
    }
    for (int i = 0; hours != NULL && i < hours->n_levels; i++) {
        free_level(hours->levels[i]);
    }
    if (hours != NULL) {
        free(hours->counts);
        free(hours->levels);
        free(hours);
    }
}

/* ---------------------------------------------------------------- counts */

static int compare_count(const void *left, const void *right)
{
    const struct pool_count *a = left, *b = right;
    int order = strcmp(a->lease, b->lease);
    order =
        order != 0 ? order : (a->since_ms > b->since_ms) - (a->since_ms < b->since_ms);
    return order != 0 ? order
                      : (a->month_ms > b->month_ms) - (a->month_ms < b->month_ms);
}

/* A new count, or the one that is there; it never falls. `told_ms` 0: it is from disk.
 */
static void learn(struct pool_hours *hours, const char *lease, int64_t since_ms,
                  int64_t month_ms, int64_t used_ms, int64_t told_ms)
{
    struct pool_count key = {
        .lease = lease, .since_ms = since_ms, .month_ms = month_ms};
    struct pool_count *count =
        sorted_find(hours->counts, hours->n_counts, &key, compare_count);
    if (count == NULL) {
        count = mem_alloc(1, sizeof(*count));
        *count = key;
        count->lease = dup_text(lease);
        count->node = strchr(count->lease, ':') + 1; /* it is an id of a leaf */
        hours->counts =
            sorted_add(hours->counts, &hours->n_counts, &hours->counts_capacity, count,
                       compare_count, count);
    } else if (used_ms < count->used_ms) {
        return;
    } else if (used_ms == count->used_ms) {
        count->told_ms = told_ms;
        return;
    }
    count->used_ms = used_ms;
    count->told_ms = told_ms;
    count->is_stored = told_ms == 0;
    hours->wake_ms = 0;
}

static void store(const char *pool, const char *name, const struct pool_count *count,
                  enum quota_level level, bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_HOURS};
    row.hours = (struct row_hours){.pool = arena_str(&effects->arena, pool),
                                   .name = arena_str(&effects->arena, name),
                                   .since_ms = count != NULL ? count->since_ms : 0,
                                   .month_ms = count != NULL ? count->month_ms : 0,
                                   .used_ms = count != NULL ? count->used_ms : 0,
                                   .level = (int)level,
                                   .is_gone = is_gone};
    effects_store(effects, &row);
}

static void store_counts(const struct pool_entry *pool, struct effects *effects)
{
    for (int i = 0; i < pool->hours->n_counts; i++) {
        struct pool_count *count = pool->hours->counts[i];
        if (!count->is_stored) {
            store(pool->name, count->lease, count, QUOTA_FREE, false, effects);
            count->is_stored = true;
        }
    }
}

/* Months that are over count for nothing. */
static void drop_months(const struct pool_entry *pool, int64_t month_ms,
                        struct effects *effects)
{
    struct pool_hours *hours = pool->hours;
    int n_left = 0;
    for (int i = 0; i < hours->n_counts; i++) {
        struct pool_count *count = hours->counts[i];
        if (count->month_ms >= month_ms) {
            hours->counts[n_left++] = count;
            continue;
        }
        if (count->is_stored) {
            store(pool->name, count->lease, count, QUOTA_FREE, true, effects);
        }
        free_count(count);
    }
    hours->n_counts = n_left;
}

/* ---------------------------------------------------------------- what is told */

void pool_hours_learn(struct pool_entry *pool, const struct lease *lease,
                      const struct msg_state *state, int64_t now_ms)
{
    int64_t latest_ms = quota_month_ms(now_ms + 24 * QUOTA_HOUR_MS);
    bool is_month = state->hours_month_ms >= quota_month_ms(now_ms) &&
                    state->hours_month_ms <= latest_ms;
    if (state->hours_since_ms != 0 && is_month) {
        learn(pool->hours, lease->row.id, state->hours_since_ms, state->hours_month_ms,
              state->hours_ms, now_ms);
    } /* else the month is over, or a clock is wrong by more than a day */
}

/* ---------------------------------------------------------------- levels */

static bool has_hours(const struct pool_entry *pool)
{
    int n_plans = pool->n_windows > 0 ? pool->n_windows : 1;
    for (int i = 0; i < n_plans; i++) {
        if (plan_hours_has_any(&pool->plans[i])) {
            return true;
        }
    }
    return false;
}

/* The node of the count, or the nearest one above it that is in the plan. */
static int find_nearest(const struct plan *plan, const char *path)
{
    char name[PLAN_PATH_SIZE];
    size_t length = strlen(path);
    int node = PLAN_NO_NODE;
    while (node == PLAN_NO_NODE && length > 0 && length < sizeof(name)) {
        memcpy(name, path, length);
        name[length] = '\0';
        node = plan_find(plan, name);
        length = (size_t)(strrchr(name, '/') - name);
    }
    return node;
}

static int place_of(const struct plan *plan, struct pool_count *count)
{
    if (count->plan != plan) {
        count->plan = plan;
        count->at = find_nearest(plan, count->node);
    }
    return count->at;
}

const struct plan_hours *pool_hours_of(const struct pool_entry *pool,
                                       const struct plan *plan, int64_t now_ms,
                                       struct arena *arena)
{
    if (!plan_hours_has_any(plan)) {
        return NULL;
    }
    int64_t month_ms = quota_month_ms(now_ms);
    int64_t *used_ms = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*used_ms));
    for (int i = 0; i < pool->hours->n_counts; i++) {
        struct pool_count *count = pool->hours->counts[i];
        int node = count->month_ms == month_ms ? place_of(plan, count) : PLAN_NO_NODE;
        if (node != PLAN_NO_NODE) {
            used_ms[node] += count->used_ms;
        }
    }
    return plan_hours_all(plan, used_ms, arena);
}

static int compare_level(const void *key, const void *item)
{
    return strcmp(key, ((const struct pool_level *)item)->node);
}

static enum quota_level level_of(const struct pool_hours *hours, const char *node)
{
    const struct pool_level *level =
        sorted_find(hours->levels, hours->n_levels, node, compare_level);
    return level != NULL ? level->level : QUOTA_FREE;
}

static void set_level(struct pool_hours *hours, const char *node, enum quota_level to)
{
    struct pool_level *level =
        sorted_find(hours->levels, hours->n_levels, node, compare_level);
    if (to == QUOTA_FREE) {
        sorted_remove(hours->levels, &hours->n_levels, node, compare_level);
        if (level != NULL) {
            free_level(level);
        }
        return;
    }
    if (level == NULL) {
        level = mem_alloc(1, sizeof(*level));
        level->node = dup_text(node);
        hours->levels = sorted_add(hours->levels, &hours->n_levels,
                                   &hours->levels_capacity, node, compare_level, level);
    }
    level->level = to;
}

static void record(const char *pool, const struct plan *plan,
                   const struct plan_node *node, const struct plan_hours *hours,
                   int64_t now_ms, struct effects *effects)
{
    enum quota_level level = hours->level;
    char text[QUOTA_TEXT_SIZE];
    quota_format(&(struct quota){.n_hours = node->hours,
                                 .hour_ms = plan->settings.hour_ms,
                                 .month_ms = quota_month_ms(now_ms),
                                 .used_ms = hours->used_ms},
                 text);
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){
        .at_ms = now_ms,
        .lease = "",
        .site = "",
        .event = HISTORY_HOURS,
        .reason = arena_printf(&effects->arena, "%s are used%s", text,
                               level == QUOTA_SPENT
                                   ? "; no leaf below borrows until the month is over"
                                   : ""),
        .pool = arena_str(&effects->arena, pool),
        .node = arena_str(&effects->arena, node->name),
    };
    effects_store(effects, &row);
    effects_log(effects, level == QUOTA_FREE ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING,
                "pool %s: %s: %s", pool, node->name, row.history.reason);
}

/* Without HOURS a node has no level, and none is recorded when it loses them. */
static bool judge_node(const struct pool_entry *pool, const struct plan *plan,
                       const struct plan_node *node, const struct plan_hours *hours,
                       int64_t now_ms, struct effects *effects)
{
    enum quota_level before = level_of(pool->hours, node->name);
    if (hours->level == before) {
        return false;
    }
    if (node->hours > 0) {
        record(pool->name, plan, node, hours, now_ms, effects);
    }
    set_level(pool->hours, node->name, hours->level);
    store(pool->name, node->name, NULL, hours->level, hours->level == QUOTA_FREE,
          effects);
    return (before == QUOTA_SPENT) != (hours->level == QUOTA_SPENT);
}

static bool judge_nodes(const struct pool_entry *pool, const struct plan *plan,
                        int64_t now_ms, struct effects *effects)
{
    const struct plan_hours *hours = pool_hours_of(pool, plan, now_ms, &effects->arena);
    const struct plan_hours none = {0};
    bool has_changed = false;
    for (int i = 0; i < plan->n_nodes; i++) {
        has_changed |= judge_node(pool, plan, &plan->nodes[i],
                                  hours != NULL ? &hours[i] : &none, now_ms, effects);
    }
    return has_changed;
}

/* ---------------------------------------------------------------- what is expected */

/* Slots in use of the count's contract, by its provider's latest STATE; 0: it is away.
 */
static int count_used(const struct pool_world *world, const struct pool_count *count)
{
    const struct lease *lease = lease_table_find(world->leases, count->lease);
    bool is_known = lease != NULL && lease_is_open(lease) && count->told_ms != 0 &&
                    member_is_here(lease->provider, ROLE_PROVIDER);
    return is_known
               ? lease_split_sum(lease->row.hosts, lease->row.n_hosts).consumer.used
               : 0;
}

static void ask(const struct pool_world *world, const struct pool_hours *hours,
                struct effects *effects)
{
    for (int i = 0; i < hours->n_counts; i++) {
        const struct pool_count *count = hours->counts[i];
        if (count_used(world, count) > 0) {
            const struct lease *lease = lease_table_find(world->leases, count->lease);
            struct msg msg = {.kind = MSG_STATE_ASK};
            msg.state_ask.lease = lease->row.id;
            outbox_send(effects, lease->provider, "", &msg);
        }
    }
}

/* A provider states a lease once a minute if nothing changes. When a level is expected,
 * by the slots in use that were told last, it is asked. Returns when that is. */
static int64_t expect(const struct pool_world *world, struct pool_entry *pool,
                      const struct plan *plan, int64_t now_ms, struct effects *effects)
{
    struct pool_hours *hours = pool->hours;
    struct plan_hours_use *uses =
        arena_alloc(&effects->arena, (size_t)plan->n_nodes, sizeof(*uses));
    const struct plan_hours *told = pool_hours_of(pool, plan, now_ms, &effects->arena);
    for (int i = 0; i < hours->n_counts && told != NULL; i++) {
        struct pool_count *count = hours->counts[i];
        int node = place_of(plan, count);
        if (node != PLAN_NO_NODE && count->month_ms == quota_month_ms(now_ms)) {
            int64_t n_used = count_used(world, count);
            uses[node].n_used += n_used;
            uses[node].more_ms += n_used * plan_max(now_ms - count->told_ms, 0);
        }
    }
    int64_t next_ms =
        told != NULL ? plan_hours_next_ms(plan, told, uses, now_ms, &effects->arena)
                     : INT64_MAX;
    if (next_ms <= now_ms && now_ms - hours->asked_ms >= ASK_MS) {
        hours->asked_ms = now_ms;
        ask(world, hours, effects);
    }
    return plan_max(next_ms, hours->asked_ms + ASK_MS);
}

bool pool_hours_judge(const struct pool_world *world, struct pool_entry *pool,
                      const struct plan *plan, int64_t now_ms, struct effects *effects)
{
    struct pool_hours *hours = pool->hours;
    bool has_clock_gone_back = now_ms < hours->judged_ms;
    if (now_ms < pool_hours_wake_ms(pool) && !has_clock_gone_back) {
        return false;
    }
    int64_t month_ms = quota_month_ms(now_ms);
    drop_months(pool, month_ms, effects);
    hours->judged_ms = now_ms;
    hours->asked_ms = plan_min(hours->asked_ms, now_ms);
    hours->wake_ms = quota_month_ms(month_ms + MONTH_MAX_MS);
    if (!has_hours(pool) && hours->n_levels == 0) {
        return false; /* counts wait for HOURS, and are stored then */
    }
    store_counts(pool, effects);
    bool has_changed = judge_nodes(pool, plan, now_ms, effects);
    hours->wake_ms =
        plan_min(hours->wake_ms, expect(world, pool, plan, now_ms, effects));
    return has_changed;
}

int64_t pool_hours_wake_ms(const struct pool_entry *pool)
{
    int paced_ms = (pool->plans[0].n_nodes + pool->hours->n_counts) / ADDED_A_MS;
    return plan_max(pool->hours->wake_ms, pool->hours->judged_ms + paced_ms);
}

void pool_hours_reload(struct pool_hours *hours)
{
    hours->wake_ms = 0;
    for (int i = 0; i < hours->n_counts; i++) {
        hours->counts[i]->plan = NULL;
    }
}

/* ---------------------------------------------------------------- from disk */

void pool_hours_load(struct pool_hours *hours, const struct row_hours *row)
{
    if (row->name[0] == '/') {
        set_level(hours, row->name, (enum quota_level)row->level);
    } else {
        learn(hours, row->name, row->since_ms, row->month_ms, row->used_ms, 0);
    }
}

void pool_hours_drop(const struct pool_hours *hours, const char *pool,
                     struct effects *effects)
{
    for (int i = 0; i < hours->n_counts; i++) {
        store(pool, hours->counts[i]->lease, hours->counts[i], QUOTA_FREE, true,
              effects);
    }
    for (int i = 0; i < hours->n_levels; i++) {
        store(pool, hours->levels[i]->node, NULL, QUOTA_FREE, true, effects);
    }
}
