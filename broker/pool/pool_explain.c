/* SPDX-License-Identifier: Apache-2.0 */
/* pool_explain.c: what a cycle gives each node, as a row for programs; why a node has
 * its quota, and why the cycle moves its slots, as a sentence for people.
 *
 * Ownership: texts live in the arena given. All of it is read off the cycle's numbers.
 */
#include "broker/pool/pool.h"

#include <inttypes.h>

#define N PRId64

static const char *const rule_names[] = {
    [PLAN_RULE_NONE] = "none",       [PLAN_RULE_DEMAND] = "demand",
    [PLAN_RULE_LIMIT] = "limit",     [PLAN_RULE_RESERVE] = "reserve",
    [PLAN_RULE_FLOOR] = "floor",     [PLAN_RULE_LEVEL] = "level",
    [PLAN_RULE_EVEN] = "even",       [PLAN_RULE_LAST] = "last",
    [PLAN_RULE_OWNERSHIP] = "owned", [PLAN_RULE_BORROWED] = "borrowed",
};

const char *pool_explain_rule(enum plan_rule rule)
{
    return rule_names[rule];
}

static const char *count(int64_t slots, struct arena *arena)
{
    return slots == PLAN_UNLIMITED ? "any number" : arena_printf(arena, "%" N, slots);
}

/* The share before rounding, "7.500", in hosts where these are exclusive. */
static const char *exact(const struct pool_cycle *cycle, int node, struct arena *arena)
{
    const struct plan_quota *share = &cycle->shares[node];
    int64_t whole = share->quota / cycle->unit - share->is_odd;
    return arena_printf(arena, "%" N ".%03" N "%s", whole,
                        share->rest * 1000 / share->whole,
                        cycle->unit > 1 ? " hosts" : "");
}

static const char *limit_reason(const struct plan_node *node,
                                const struct plan_quota *share, struct arena *arena)
{
    if (node->limit != PLAN_UNLIMITED && share->claim >= node->limit) {
        return arena_printf(arena, "its LIMIT is %" N, node->limit);
    }
    return plan_is_leaf(node) ? "its LIMIT allows no more whole hosts"
                              : "the limits below it allow no more";
}

static const char *rule_reason(const struct pool_cycle *cycle, int node,
                               struct arena *arena)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct plan_quota *share = &cycle->shares[node];
    switch (share->rule) {
    case PLAN_RULE_NONE:
        return "it has no demand";
    case PLAN_RULE_DEMAND:
        return "all of its demand";
    case PLAN_RULE_LIMIT:
        return limit_reason(of, share, arena);
    case PLAN_RULE_RESERVE:
        return arena_printf(arena, "its RESERVE keeps %" N, share->res);
    case PLAN_RULE_FLOOR:
        return arena_printf(arena,
                            "its scaled ownership, OWNED %" N " being %" N
                            " now; what is left goes to others",
                            of->own, share->scaled);
    case PLAN_RULE_LEVEL:
        return arena_printf(arena, "its share by OWNED %" N " is %s", of->own,
                            exact(cycle, node, arena));
    case PLAN_RULE_EVEN:
        return arena_printf(arena, "an equal part of what is left makes %s",
                            exact(cycle, node, arena));
    case PLAN_RULE_LAST:
        return of->own == 0 && share->rest == 0
                   ? "it owns nothing, and its siblings take all"
                   : arena_printf(arena, "an equal part of what is left is %s",
                                  exact(cycle, node, arena));
    case PLAN_RULE_OWNERSHIP:
        return arena_printf(arena, "it owns %" N ", by policy neither more nor less",
                            share->scaled);
    case PLAN_RULE_BORROWED:
        return arena_printf(arena,
                            "it owns %" N ", the others are idle slots of siblings",
                            share->scaled);
    }
    return "";
}

static const char *round_reason(const struct pool_cycle *cycle, int node)
{
    static const char *const words[] = {
        [PLAN_ROUND_RANK] = "by rank",
        [PLAN_ROUND_LARGEST_REMAINDER] = "by the largest remainder",
        [PLAN_ROUND_STICKY] = "since it has one already, or by rank",
    };
    const struct plan_quota *share = &cycle->shares[node];
    bool is_part = share->rule == PLAN_RULE_LEVEL || share->rule == PLAN_RULE_EVEN;
    return !share->is_odd || !is_part ? "" : words[cycle->plan->settings.round];
}

static const char *grant_reason(const struct pool_cycle *cycle, int node,
                                struct arena *arena)
{
    const struct plan_use *use = &cycle->uses[node];
    int64_t held = pool_held(cycle, node), quota = cycle->shares[node].quota;
    int64_t waits = plan_min(quota, use->demand) - held;
    if (cycle->moves[node].grant > 0 && waits <= 0) {
        return arena_printf(arena, "; gets %" N " idle slots now",
                            cycle->moves[node].grant);
    }
    if (waits > 0) {
        return arena_printf(
            arena, "; gets %" N " idle slots now, %" N " when they are returned",
            cycle->moves[node].grant, waits);
    }
    return held < quota
               ? arena_printf(arena, "; %" N " are kept idle for it", quota - held)
               : "";
}

static const char *recall_reason(const struct pool_cycle *cycle, int node,
                                 struct arena *arena)
{
    const struct plan_use *use = &cycle->uses[node];
    const struct pool_move *move = &cycle->moves[node];
    int64_t recalled =
        use->recalled - use->waiting + move->recall - move->cancel + move->wait;
    const char *text = "";
    if (move->recall > 0) {
        const char *grace = plan_is_leaf(&cycle->plan->nodes[node])
                                ? arena_printf(arena, " within %" N " s",
                                               plan_grace_ms(cycle->plan, node) / 1000)
                                : "";
        text = arena_printf(arena, "; %" N " are recalled%s, as %s", move->recall,
                            grace, pool_why_text(pool_why(cycle, node)));
    } else if (move->cancel > 0) {
        text = arena_printf(arena, "; the recall of %" N " is cancelled", move->cancel);
    }
    if (move->wait > 0) {
        text =
            arena_printf(arena, "%s; %" N " %s returned when the %s there end%s", text,
                         move->wait, move->wait == 1 ? "is" : "are",
                         move->wait == 1 ? "job" : "jobs", move->wait == 1 ? "s" : "");
    }
    int64_t above = pool_held(cycle, node) - cycle->shares[node].quota - recalled;
    return above <= 0 ? text
                      : arena_printf(arena, "%s; keeps %" N " above its quota for now",
                                     text, above);
}

const char *pool_explain_move(const struct pool_cycle *cycle, int node,
                              struct arena *arena)
{
    const struct pool_move *move = &cycle->moves[node];
    if (move->grant > 0) {
        return arena_printf(arena, "%" N " idle slot%s granted, as its quota is %" N,
                            move->grant, move->grant == 1 ? "" : "s",
                            cycle->shares[node].quota);
    }
    if (move->recall > 0) {
        return arena_printf(arena, "%" N " slot%s recalled, as %s", move->recall,
                            move->recall == 1 ? "" : "s",
                            pool_why_text(pool_why(cycle, node)));
    }
    return arena_printf(arena,
                        "recall of %" N " slot%s cancelled, since no node lacks slots",
                        move->cancel, move->cancel == 1 ? "" : "s");
}

const char *pool_explain(const struct pool_cycle *cycle, int node, struct arena *arena)
{
    const char *odd = round_reason(cycle, node);
    return arena_printf(
        arena, "%" N " of %s wanted: %s%s%s%s%s%s", cycle->shares[node].quota,
        count(cycle->uses[node].demand, arena), rule_reason(cycle, node, arena),
        cycle->uses[node].is_capped
            ? ", without jobs that could not start on the slots it had"
        : cycle->uses[node].is_fitted
            ? ", without jobs that need more slots at once than it may have"
        : cycle->uses[node].spent_by != NULL
            ? arena_printf(arena, ", as the slot hours of %s are used up (HOURS)",
                           cycle->uses[node].spent_by)
            : "",
        odd[0] != '\0' ? ", rounded up " : "", odd, grant_reason(cycle, node, arena),
        recall_reason(cycle, node, arena));
}

/* ---- rows */

enum { SCHEMA_VERSION = 1 };

void pool_explain_add_count(struct arena *arena, struct value *row, const char *key,
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
    pool_explain_add_count(arena, row, "limit", of->limit);
    pool_explain_add_count(arena, row, "demand", cycle->uses[node].demand);
    pool_explain_add_count(arena, row, "claim", share->claim);
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

struct value *pool_explain_cycle(const struct pool_cycle *cycle, bool with_why,
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
