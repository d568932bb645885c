/* SPDX-License-Identifier: Apache-2.0 */
/* plan_view.c: the nodes of a pool's plan with their quotas as they are now, and what
 * was last done about them.
 *
 * Quotas are computed by what leaves have and want at this moment; the next cycle acts
 * by the same rule. A row is an object, or, if the query names fields, an array of
 * their values: a table of 100,000 nodes needs a tenth of the bytes then. Order: as in
 * the file. Source: docs/design/interfaces.md "JSON", "HTTP". */
#include <stdlib.h>
#include <string.h>

#include "broker/broker_parts.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_table.h"
#include "broker/view/broker_view.h"

/* A node that is shown. */
struct shown {
    const struct pool_entry *pool;
    const struct pool_cycle *cycle;
    int node;
    const struct plan_node *of;
    const struct plan_quota *share;
    const struct plan_use *use;
    const struct pool_record *record; /* NULL: there is none */
    const struct plan_hours *hours;   /* NULL: no node has HOURS */
};

/* ---------------------------------------------------------------- fields */

/* What it owns, scaled, and does not have though it wants more. */
static int64_t shortfall(const struct shown *shown)
{
    const struct plan_use *use = shown->use;
    int64_t missing = shown->share->scaled - use->alloc;
    return use->demand > use->alloc ? plan_max(missing, 0) : 0;
}

static void add_queues(const struct shown *shown, struct value *row, const char *key,
                       struct arena *arena)
{
    struct value *queues = value_add(arena, row, key, value_array(arena));
    for (int i = 0; i < shown->of->n_queues; i++) {
        value_add_text(arena, queues, NULL, shown->of->queues[i]);
    }
}

/* Of a node without HOURS, what is used counts for those above it. */
static bool has_hours_used(const struct shown *shown)
{
    return shown->hours != NULL;
}

static void add_hours(const struct shown *shown, struct value *row, const char *key,
                      struct arena *arena)
{
    value_add_known(arena, row, key, shown->of->hours > 0, shown->of->hours);
}

static void add_hours_used(const struct shown *shown, struct value *row,
                           const char *key, struct arena *arena)
{
    value_add_known(arena, row, key, has_hours_used(shown),
                    has_hours_used(shown) ? shown->hours->used_ms / QUOTA_HOUR_MS : 0);
}

static const char *hours_level(const struct shown *shown)
{
    static const char *const names[] = {"free", "low", "spent"};
    return shown->of->hours > 0 ? names[shown->hours->level] : NULL;
}

#define ADD(field, add, what)                                                          \
    static void add_##field(const struct shown *shown, struct value *row,              \
                            const char *key, struct arena *arena)                      \
    {                                                                                  \
        add(arena, row, key, what);                                                    \
    }
ADD(pool, value_add_text, shown->pool->name)
ADD(node, value_add_text, shown->of->name)
ADD(site, value_add_text, shown->of->site)
ADD(rank, value_add_int, shown->of->rank)
ADD(owned, value_add_int, shown->of->own)
ADD(scaled, value_add_int, shown->share->scaled)
ADD(reserve, value_add_int, shown->of->reserve)
ADD(limit, pool_explain_add_count, shown->of->limit)
ADD(grace_s, value_add_duration, plan_grace_ms(shown->cycle->plan, shown->node))
ADD(demand, pool_explain_add_count, shown->use->demand)
ADD(claim, pool_explain_add_count, shown->share->claim)
ADD(quota, value_add_int, shown->share->quota)
ADD(alloc, value_add_int, shown->use->alloc)
ADD(recalled, value_add_int, shown->use->recalled)
ADD(free, value_add_int, shown->cycle->moves[shown->node].free)
ADD(shortfall, value_add_int, shortfall(shown))
ADD(rule, value_add_text, pool_explain_rule(shown->share->rule))
ADD(why, value_add_text, pool_explain(shown->cycle, shown->node, arena))
ADD(price, value_add_int, plan_price(shown->cycle->plan, shown->node))
ADD(hours_level, value_add_text, hours_level(shown))
ADD(spent_by, value_add_text, shown->use->spent_by)
ADD(moved_at, value_add_instant, shown->record != NULL ? shown->record->moved_ms : 0)
ADD(moved, value_add_text, shown->record != NULL ? shown->record->moved_why : NULL)
#undef ADD

static const struct field {
    const char *name;
    void (*add)(const struct shown *shown, struct value *row, const char *key,
                struct arena *arena);
} fields[] = {
#define FIELD(field)                                                                   \
    {                                                                                  \
#field, add_##field                                                            \
    }
    FIELD(pool),        FIELD(node),     FIELD(site),     FIELD(queues),
    FIELD(rank),        FIELD(owned),    FIELD(scaled),   FIELD(reserve),
    FIELD(limit),       FIELD(grace_s),  FIELD(demand),   FIELD(claim),
    FIELD(quota),       FIELD(alloc),    FIELD(recalled), FIELD(free),
    FIELD(shortfall),   FIELD(rule),     FIELD(why),      FIELD(moved_at),
    FIELD(moved),       FIELD(price),    FIELD(hours),    FIELD(hours_used),
    FIELD(hours_level), FIELD(spent_by),
#undef FIELD
};
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

/* NULL: there is none of that name. */
static const struct field *find_field(const char *name, size_t length)
{
    for (int i = 0; i < N_FIELDS; i++) {
        if (strlen(fields[i].name) == length &&
            memcmp(fields[i].name, name, length) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- rows */

/* What rows show: all fields, as objects, or those that the query names. */
struct form {
    const struct field *const *chosen; /* NULL in it: of an unknown name */
    int n_chosen;                      /* 0: all */
};

static struct form choose_fields(const char *names, struct page *page)
{
    struct arena *arena = page->arena;
    const struct field **chosen = arena_alloc(arena, N_FIELDS, sizeof(*chosen));
    struct form form = {.chosen = chosen};
    if (names[0] != '\0') {
        struct value *shown =
            value_add(arena, page->root, "fields", value_array(arena));
        for (size_t length; *names != '\0' && form.n_chosen < N_FIELDS;
             names += length + (names[length] == ',')) {
            length = strcspn(names, ",");
            value_add_text(arena, shown, NULL, arena_strn(arena, names, length));
            chosen[form.n_chosen++] = find_field(names, length);
        }
    }
    return form;
}

static struct value *make_row(const struct form *form, const struct shown *shown,
                              struct arena *arena)
{
    if (form->n_chosen == 0) {
        struct value *row = value_object(arena);
        for (int i = 0; i < N_FIELDS; i++) {
            fields[i].add(shown, row, fields[i].name, arena);
        }
        return row;
    }
    struct value *row = value_array(arena);
    for (int i = 0; i < form->n_chosen; i++) {
        if (form->chosen[i] != NULL) {
            form->chosen[i]->add(shown, row, NULL, arena);
        } else {
            value_add_null(arena, row, NULL);
        }
    }
    return row;
}

static void show_node(struct page *page, const struct form *form,
                      const struct pool_entry *pool, const struct pool_cycle *cycle,
                      const struct plan_hours *hours, int node)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct shown shown = {
        .pool = pool,
        .cycle = cycle,
        .node = node,
        .of = of,
        .share = &cycle->shares[node],
        .use = &cycle->uses[node],
        .record = pool_table_find_record(pool, of->name),
        .hours = hours != NULL ? &hours[node] : NULL,
    };
    page_add(page, of->name, make_row(form, &shown, page->arena));
}

/* ---------------------------------------------------------------- pages */

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
                       const struct msg_query *query, struct page *page, int64_t now_ms)
{
    const struct plan *plan =
        pool_table_plan(pool, now_ms + broker->pools.utc_offset_ms);
    const struct pool_look *look =
        pool_clock_shown(&broker->leases, &broker->members, pool, plan,
                         page_text(query->after)[0] != '\0', now_ms);
    const struct form form = choose_fields(page_text(query->fields), page);
    const struct plan_hours *hours = pool_hours_of(pool, plan, now_ms, page->arena);
    value_add_int(page->arena, page->root, "n_nodes", plan->n_nodes);
    if (page_text(query->host)[0] != '\0') {
        int node = plan_find(plan, query->host);
        if (node != PLAN_NO_NODE) {
            show_node(page, &form, pool, &look->cycle, hours, node);
        }
        return;
    }
    for (int pos = first_of(plan, page_text(query->after));
         pos < plan->n_nodes && !page->is_full; pos++) {
        show_node(page, &form, pool, &look->cycle, hours, plan->by_pos[pos]);
    }
}

struct value *plan_view_page(const struct broker *broker, struct arena *arena,
                             const struct msg_query *query, int64_t now_ms,
                             const char **next)
{
    const struct pool_entry *pool =
        pool_table_find(&broker->pools, page_text(query->name));
    struct page page;
    page_init(&page, arena, "nodes", query);
    if (pool != NULL) {
        list_nodes(broker, pool, query, &page, now_ms);
    }
    *next = page_next(&page);
    return page.root;
}
