/* SPDX-License-Identifier: Apache-2.0 */
/* pool_view.c: see pool.h. */
#include "broker/pool/pool.h"

enum { SCHEMA_VERSION = 1 };

void pool_view_add_count(struct arena *arena, struct value *row, const char *key,
                         int64_t slots)
{
    value_add_known(arena, row, key, slots != PLAN_UNLIMITED, slots);
}

static void add_node(const struct pool_cycle *cycle, int node, bool with_why,
                     struct value *rows, struct arena *arena)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct plan_quota *share = &cycle->shares[node];
    const struct pool_move *move = &cycle->moves[node];
    struct value *row = value_add(arena, rows, NULL, value_object(arena));
    value_add_text(arena, row, "node", of->name);
    value_add_int(arena, row, "owned", of->own);
    value_add_int(arena, row, "scaled", share->scaled);
    value_add_int(arena, row, "reserve", of->reserve);
    pool_view_add_count(arena, row, "limit", of->limit);
    pool_view_add_count(arena, row, "demand", cycle->uses[node].demand);
    pool_view_add_count(arena, row, "claim", share->claim);
    value_add_int(arena, row, "quota", share->quota);
    value_add_int(arena, row, "alloc", cycle->uses[node].alloc);
    value_add_int(arena, row, "grant", move->grant);
    value_add_int(arena, row, "recall", move->recall);
    value_add_int(arena, row, "free", move->free);
    if (with_why) {
        value_add_text(arena, row, "rule", pool_explain_rule(share->rule));
        value_add_text(arena, row, "why", pool_explain(cycle, node, arena));
    }
}

struct value *pool_view_cycle(const struct pool_cycle *cycle, bool with_why,
                              struct arena *arena)
{
    struct value *root = value_object(arena);
    value_add_int(arena, root, "schema_version", SCHEMA_VERSION);
    value_add_int(arena, root, "slots", cycle->slots);
    struct value *rows = value_add(arena, root, "nodes", value_array(arena));
    for (int pos = 0; pos < cycle->plan->n_nodes; pos++) {
        add_node(cycle, cycle->plan->by_pos[pos], with_why, rows, arena);
    }
    return root;
}
