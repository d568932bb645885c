/* SPDX-License-Identifier: Apache-2.0 */
/* plan_level.c: see plan_level.h.
 *
 * Example: 60 slots; /a owns 10 with LIMIT 12, /b 20, /c 30, /z nothing; /c is idle.
 *
 *           weight   lo   hi     level 2          then /z
 *     /a      10     10   12     12 (limit)
 *     /b      20     20   inf    40 -> 48
 *     /c      30      0    0      0
 *     /z                                          0: /b still wants more
 *
 * lo is the least that a node gets: its reserve, and its scaled ownership as far as it
 * wants that. hi is the claim. base/max_min_fill.h finds the level and rounds by rank.
 *
 * Even mode, with /a and /b without limit: owners get at most what they own: 10, 20, 0.
 * The other 30 are shared in equal parts by /a, /b and /z, which then have 20, 30, 10.
 *
 * Nodes of share policy come between owners and nodes that own nothing: of what owners
 * leave, each has a part by its ratio. Below such a node its children share by theirs.
 *
 * ROUND=largest_remainder and ROUND=sticky distribute the slots that rounding left in
 * another order than by rank. Each goes to a node with a fraction, at most one per
 * node.
 */
#include "broker/plan/plan_level.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- odd slots */

struct candidate {
    int item;
    bool is_holder; /* has the slot already */
    int64_t rest;
};

static int compare_remainders(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = (a->rest < b->rest) - (a->rest > b->rest);
    return order != 0 ? order : (a->item > b->item) - (a->item < b->item);
}

static int compare_holders(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = (a->is_holder < b->is_holder) - (a->is_holder > b->is_holder);
    return order != 0 ? order : (a->item > b->item) - (a->item < b->item);
}

/* Takes the odd slots back and gives them out in another order. */
static void round_again(const struct plan_level *level, int n_items)
{
    enum plan_round round = level->plan->settings.round;
    if (round == PLAN_ROUND_RANK) {
        return;
    }
    struct candidate *candidates = mem_alloc((size_t)n_items + 1, sizeof(*candidates));
    int n_candidates = 0, n_odd = 0;
    for (int i = 0; i < n_items; i++) {
        struct max_min_fill_item *item = &level->items[i];
        if (item->rest == 0) {
            continue;
        }
        n_odd += item->is_odd;
        item->share -= item->is_odd;
        item->is_odd = false;
        int node = level->members[i];
        int64_t given = level->shares[node].quota + item->share;
        candidates[n_candidates++] =
            (struct candidate){i, level->uses[node].alloc > given, item->rest};
    }
    qsort(candidates, (size_t)n_candidates, sizeof(*candidates),
          round == PLAN_ROUND_STICKY ? compare_holders : compare_remainders);
    for (int i = 0; i < n_odd; i++) {
        level->items[candidates[i].item].share++;
        level->items[candidates[i].item].is_odd = true;
    }
    free(candidates);
}

/* ---------------------------------------------------------------- tiers */

static void add_item(const struct plan_level *level, int *n_items, int node,
                     int64_t weight, int64_t lo, int64_t hi)
{
    level->items[*n_items] =
        (struct max_min_fill_item){.weight = weight, .lo = lo, .hi = hi};
    level->members[*n_items] = node;
    ++*n_items;
}

/* If a plan owns more than there is, reserves are served first. If there is not enough
 * for all reserves, the amount is shared in proportion to them. */
static void fit(const struct plan_level *level, int64_t amount, int n_items)
{
    int64_t floors = 0, reserves = 0;
    for (int i = 0; i < n_items; i++) {
        floors += level->items[i].lo;
        reserves += plan_min(level->items[i].lo, level->shares[level->members[i]].res);
    }
    if (floors <= amount) {
        return;
    }
    for (int i = 0; i < n_items; i++) {
        struct max_min_fill_item *item = &level->items[i];
        item->lo = plan_min(item->lo, level->shares[level->members[i]].res);
        if (reserves > amount) {
            item->hi = item->lo;
            item->weight = plan_max(item->lo, 1);
            item->lo = 0;
        }
    }
}

/* The rule that set the share; `rule` for a node that got a part of the amount. */
static enum plan_rule rule_of(const struct plan_level *level,
                              const struct max_min_fill_item *item, int node,
                              enum plan_rule rule)
{
    const struct plan_quota *share = &level->shares[node];
    int64_t demand = level->uses[node].demand;
    if (share->quota == share->claim) {
        return share->claim > demand   ? PLAN_RULE_RESERVE
               : share->claim < demand ? PLAN_RULE_LIMIT
               : demand == 0           ? PLAN_RULE_NONE
                                       : PLAN_RULE_DEMAND;
    }
    if (rule == PLAN_RULE_LEVEL && item->lo > 0 && item->share == item->lo &&
        item->rest == 0) {
        return share->quota == share->res ? PLAN_RULE_RESERVE : PLAN_RULE_FLOOR;
    }
    return share->quota == 0 && level->plan->nodes[node].own == 0 ? PLAN_RULE_LAST
                                                                  : rule;
}

/* Shares the amount over the items; returns what it gave. */
static int64_t share_out(const struct plan_level *level, int64_t amount, int n_items,
                         enum plan_rule rule)
{
    int64_t given = max_min_fill_shares(amount, level->items, n_items);
    round_again(level, n_items);
    for (int i = 0; i < n_items; i++) {
        const struct max_min_fill_item *item = &level->items[i];
        int node = level->members[i];
        struct plan_quota *share = &level->shares[node];
        bool is_first = share->rule == PLAN_RULE_NONE;
        share->quota += item->share;
        if (item->share > 0 || is_first) {
            share->rule = rule_of(level, item, node, rule);
            share->is_odd = item->is_odd;
            share->rest = item->rest;
            share->whole = item->whole;
        }
    }
    return given;
}

/* Nodes of the first level that are not shared out with the others: of ownership
 * policy, and in the tiers of owners and of nodes that own nothing, of share policy. */
static bool is_apart(const struct plan_node *node)
{
    return node->parent == PLAN_NO_NODE && node->policy != PLAN_HYBRID;
}

/* Below the first level all siblings have one policy. */
static bool is_even(const struct plan_level *level, int first)
{
    return level->plan->settings.is_even &&
           (level->plan->nodes[first].parent == PLAN_NO_NODE ||
            level->plan->nodes[first].policy == PLAN_HYBRID);
}

static int collect_owners(const struct plan_level *level, int first, int count)
{
    bool evenly = is_even(level, first);
    int n_items = 0;
    for (int i = first; i < first + count; i++) {
        const struct plan_node *node = &level->plan->nodes[i];
        const struct plan_quota *share = &level->shares[i];
        if (node->own == 0 || is_apart(node)) {
            continue;
        }
        int64_t own = node->own / level->plan->unit;
        int64_t lo = evenly
                         ? share->res
                         : plan_max(share->res, plan_min(share->scaled, share->claim));
        int64_t hi =
            evenly ? plan_max(share->res, plan_min(share->claim, own)) : share->claim;
        add_item(level, &n_items, i, node->own, lo, hi);
    }
    return n_items;
}

/* Nodes of the first level of share policy have what owners leave, by their ratio. */
static int collect_sharers(const struct plan_level *level, int first, int count)
{
    int n_items = 0;
    for (int i = first; i < first + count; i++) {
        const struct plan_node *node = &level->plan->nodes[i];
        if (node->parent == PLAN_NO_NODE && node->policy == PLAN_SHARE &&
            node->own > 0) {
            add_item(level, &n_items, i, node->own, 0, level->shares[i].claim);
        }
    }
    return n_items;
}

/* In even mode all nodes that may own slots; else those that own nothing, and those
 * with a ratio of 0. */
static int collect_others(const struct plan_level *level, int first, int count)
{
    bool evenly = is_even(level, first);
    int n_items = 0;
    for (int i = first; i < first + count; i++) {
        const struct plan_node *node = &level->plan->nodes[i];
        const struct plan_quota *share = &level->shares[i];
        if ((node->own != 0 && (!evenly || node->policy == PLAN_SHARE)) ||
            (node->parent == PLAN_NO_NODE && node->policy == PLAN_OWNERSHIP)) {
            continue;
        }
        add_item(level, &n_items, i, 1, 0, share->claim - share->quota);
    }
    return n_items;
}

void plan_level_hybrid(const struct plan_level *level, int64_t amount, int first,
                       int count)
{
    int n_items = collect_owners(level, first, count);
    fit(level, amount, n_items);
    amount -= share_out(level, amount, n_items, PLAN_RULE_LEVEL);
    n_items = collect_sharers(level, first, count);
    amount -= share_out(level, amount, n_items, PLAN_RULE_LEVEL);
    n_items = collect_others(level, first, count);
    share_out(level, amount, n_items, PLAN_RULE_EVEN);
}

/* ---------------------------------------------------------------- ownership */

void plan_level_ownership(const struct plan_level *level, int64_t amount, int first,
                          int count)
{
    enum { RESERVES, OWN, BORROWED };
    int last = level->plan->settings.keeps_idle ? OWN : BORROWED;
    for (int round = 0; round <= last; round++) {
        for (int i = first; i < first + count && amount > 0; i++) {
            struct plan_quota *share = &level->shares[i];
            int64_t most =
                round == RESERVES ? share->res
                : round == OWN
                    ? plan_max(share->res, plan_min(share->scaled, share->claim))
                    : share->claim;
            int64_t given = plan_min(amount, most - share->quota);
            share->quota += given;
            amount -= given;
            if (given > 0) {
                share->rule =
                    round == BORROWED ? PLAN_RULE_BORROWED : PLAN_RULE_OWNERSHIP;
            }
        }
    }
}
