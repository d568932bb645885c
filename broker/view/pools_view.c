/* SPDX-License-Identifier: Apache-2.0 */
/* pools_view.c: the pools of the broker, each with its slots. Order: as configured.
 * Source: docs/design/interfaces.md "JSON", "HTTP". */
#include "broker/view/broker_view.h"

#include <string.h>

#include "broker/broker_parts.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_table.h"

static const char *const placements[] = {
    [PLAN_STACKED] = "stacked",
    [PLAN_BALANCED] = "balanced",
    [PLAN_EXCLUSIVE] = "exclusive",
};

/* ---------------------------------------------------------------- pools */

static int64_t sum_top(const struct pool_cycle *cycle, size_t field)
{
    int64_t sum = 0;
    for (int i = 0; i < cycle->plan->n_top; i++) {
        sum += *(const int64_t *)((const char *)&cycle->uses[i] + field);
    }
    return sum;
}

static int64_t sum_idle(const struct pool_snapshot *snapshot)
{
    int64_t n_idle = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        n_idle += snapshot->hosts[i].n_idle > 0 ? snapshot->hosts[i].n_idle : 0;
    }
    return n_idle;
}

static int count_providers(const struct pool_snapshot *snapshot)
{
    const struct member *last = NULL;
    int count = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        count += snapshot->hosts[i].idle_lease->provider != last;
        last = snapshot->hosts[i].idle_lease->provider;
    }
    return count;
}

static struct value *pool_row(const struct broker *broker,
                              const struct pool_entry *pool, int64_t now_ms,
                              struct arena *arena)
{
    struct value *row = value_object(arena);
    const struct plan *plan =
        pool_table_plan(pool, now_ms + broker->pools.utc_offset_ms);
    const struct pool_look *look =
        pool_clock_shown(&broker->leases, &broker->members, pool, plan, false, now_ms);
    const struct pool_cycle *cycle = &look->cycle;
    value_add_text(arena, row, "pool", pool->name);
    value_add_int(arena, row, "slots", look->snapshot->n_slots);
    value_add_int(arena, row, "configured", plan->configured);
    value_add_int(arena, row, "alloc",
                  sum_top(cycle, offsetof(struct plan_use, alloc)));
    value_add_int(arena, row, "recalled",
                  sum_top(cycle, offsetof(struct plan_use, recalled)));
    value_add_int(arena, row, "idle", sum_idle(look->snapshot));
    value_add_int(arena, row, "demand",
                  sum_top(cycle, offsetof(struct plan_use, demand)));
    value_add_int(arena, row, "hosts", look->snapshot->n_hosts);
    value_add_int(arena, row, "providers", count_providers(look->snapshot));
    value_add_int(arena, row, "nodes", plan->n_nodes);
    value_add_text(arena, row, "placement", placements[plan->settings.placement]);
    value_add_text(arena, row, "window",
                   pool->n_windows > 0 ? pool->windows[plan - pool->plans].name : NULL);
    value_add_duration(arena, row, "cycle_s", plan->settings.cycle_ms);
    value_add_instant(arena, row, "last_cycle_at",
                      pool->has_cycle ? pool->cycle_ms : 0);
    value_add_instant(arena, row, "next_cycle_at",
                      pool->next_ms != INT64_MAX ? pool->next_ms : 0);
    return row;
}

struct value *pools_view_list(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next)
{
    struct page page;
    const char *after = page_text(query->after);
    bool is_behind = after[0] == '\0';
    page_init(&page, arena, "pools", query);
    for (int i = 0; i < broker->pools.count && !page.is_full; i++) {
        const struct pool_entry *pool = &broker->pools.items[i];
        bool is_asked_for = page_is_named(pool->name, query->name);
        if (is_behind && is_asked_for) {
            page_add(&page, pool->name, pool_row(broker, pool, now_ms, arena));
        }
        is_behind |= strcmp(pool->name, after) == 0;
    }
    *next = page_next(&page);
    return page.root;
}
