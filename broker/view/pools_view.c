/* SPDX-License-Identifier: Apache-2.0 */
/* pools_view.c: the pools of the broker: each with its slots, and the nodes of its plan
 * with their quotas as they are now, and what was last done about them.
 *
 * Quotas are computed by what leaves have and want at this moment; the next cycle acts
 * by the same rule. Order: pools as configured, nodes as in the file. Source:
 * docs/design/interfaces.md "JSON", "HTTP". */
#include "broker/view/broker_view.h"

#include <stdlib.h>
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

/* ---------------------------------------------------------------- nodes */

static void add_place(struct arena *arena, struct value *row,
                      const struct plan_node *node)
{
    value_add_text(arena, row, "site", node->site);
    struct value *queues = value_add(arena, row, "queues", value_array(arena));
    for (int i = 0; i < node->n_queues; i++) {
        value_add_text(arena, queues, NULL, node->queues[i]);
    }
    value_add_int(arena, row, "rank", node->rank);
}

/* What it owns, scaled, and does not have though it wants more. */
static int64_t shortfall(const struct pool_cycle *cycle, int node)
{
    const struct plan_use *use = &cycle->uses[node];
    int64_t missing = cycle->shares[node].scaled - use->alloc;
    return use->demand > use->alloc ? plan_max(missing, 0) : 0;
}

static struct value *node_row(const struct pool_entry *pool,
                              const struct pool_cycle *cycle, int node,
                              struct arena *arena)
{
    struct value *row = value_object(arena);
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct plan_quota *share = &cycle->shares[node];
    const struct plan_use *use = &cycle->uses[node];
    value_add_text(arena, row, "pool", pool->name);
    value_add_text(arena, row, "node", of->name);
    add_place(arena, row, of);
    value_add_int(arena, row, "owned", of->own);
    value_add_int(arena, row, "scaled", share->scaled);
    value_add_int(arena, row, "reserve", of->reserve);
    pool_view_add_count(arena, row, "limit", of->limit);
    value_add_duration(arena, row, "grace_s", plan_grace_ms(cycle->plan, node));
    pool_view_add_count(arena, row, "demand", use->demand);
    pool_view_add_count(arena, row, "claim", share->claim);
    value_add_int(arena, row, "quota", share->quota);
    value_add_int(arena, row, "alloc", use->alloc);
    value_add_int(arena, row, "recalled", use->recalled);
    value_add_int(arena, row, "free", cycle->moves[node].free);
    value_add_int(arena, row, "shortfall", shortfall(cycle, node));
    value_add_text(arena, row, "rule", pool_explain_rule(share->rule));
    value_add_text(arena, row, "why", pool_explain(cycle, node, arena));
    const struct pool_record *record = pool_table_find_record(pool, of->name);
    value_add_instant(arena, row, "moved_at", record != NULL ? record->moved_ms : 0);
    value_add_text(arena, row, "moved", record != NULL ? record->moved_why : NULL);
    return row;
}

/* The place in the file of the first row of the page: after a node, or after so many
 * rows, which a client may ask for before it knows their names. */
static int first_of(const struct plan *plan, const char *after)
{
    if (after[0] >= '0' && after[0] <= '9') {
        long n_before = strtol(after, NULL, 10);
        return n_before < plan->n_nodes ? (int)n_before : plan->n_nodes;
    }
    int node = after[0] != '\0' ? plan_find(plan, after) : PLAN_NO_NODE;
    return node != PLAN_NO_NODE ? plan->nodes[node].pos + 1 : 0;
}

static void list_nodes(const struct broker *broker, const struct pool_entry *pool,
                       const struct msg_query *query, struct page *page, int64_t now_ms,
                       struct arena *arena)
{
    const struct plan *plan =
        pool_table_plan(pool, now_ms + broker->pools.utc_offset_ms);
    const struct pool_look *look =
        pool_clock_shown(&broker->leases, &broker->members, pool, plan,
                         page_text(query->after)[0] != '\0', now_ms);
    if (page_text(query->host)[0] != '\0') {
        int node = plan_find(plan, query->host);
        if (node != PLAN_NO_NODE) {
            page_add(page, plan->nodes[node].name,
                     node_row(pool, &look->cycle, node, arena));
        }
        return;
    }
    for (int pos = first_of(plan, page_text(query->after));
         pos < plan->n_nodes && !page->is_full; pos++) {
        int node = plan->by_pos[pos];
        page_add(page, plan->nodes[node].name,
                 node_row(pool, &look->cycle, node, arena));
    }
}

struct value *pools_view_plan(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next)
{
    const struct pool_entry *pool =
        pool_table_find(&broker->pools, page_text(query->name));
    struct page page;
    page_init(&page, arena, "nodes", query);
    if (pool != NULL) {
        list_nodes(broker, pool, query, &page, now_ms, arena);
    }
    *next = page_next(&page);
    return page.root;
}
