/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_pool.c: the bounds of docs/design/plans.md "Invariants" for cycles of
 * running pools: I1 to I5, I8, I14, I15. tests/prop checks all of them for random
 * plans.
 *
 * Quotas that are rounded to whole hosts, and branches by ownership policy, follow
 * other rules: for these only the moves are checked. */
#include "sim/invariant/invariant_state.h"

struct look {
    const char *pool;
    const struct pool_cycle *cycle;
    struct invariants_text *text;
};

static const char *name_of(struct look *look, int node)
{
    return node == PLAN_NO_NODE ? "/" : look->cycle->plan->nodes[node].name;
}

static bool must(struct look *look, bool holds, const char *what, int node)
{
    return holds || invariant_state_fail(look->text, "pool %s, %s: %s", look->pool,
                                         name_of(look, node), what);
}

/* In whole hosts, a node retains only the hosts that it owns entirely. */
static int64_t floor_of(const struct pool_cycle *cycle, int node)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    int64_t quota = cycle->shares[node].quota, own = of->own - of->own % cycle->unit;
    bool is_kept = cycle->plan->settings.keeps_scaled &&
                   cycle->slots < cycle->plan->configured && of->policy != PLAN_SHARE;

    return is_kept ? plan_max(quota, plan_min(own, of->limit)) : quota;
}

/* I15 */
static bool check_move(struct look *look, int node)
{
    const struct pool_cycle *cycle = look->cycle;
    const struct plan_use *use = &cycle->uses[node];
    const struct pool_move *move = &cycle->moves[node];
    int64_t recalled = use->recalled - use->waiting + move->recall - move->cancel;
    int64_t held = use->alloc + move->grant;
    bool is_whole = cycle->plan->settings.placement == PLAN_EXCLUSIVE;

    return must(look, move->grant == 0 || held <= cycle->shares[node].quota,
                "granted more than its quota", node) &&
           must(look, move->grant == 0 || is_whole || held <= use->demand,
                "granted more than it wants", node) &&
           must(look,
                move->cancel <= use->recalled && recalled + move->wait <= use->alloc,
                "recalled more than it has", node) &&
           must(look,
                move->wait == 0 || use->forced > 0 || is_whole ||
                    use->spent_by != NULL ||
                    use->alloc - recalled - move->wait >= cycle->shares[node].quota,
                "gives slots below its quota as jobs end", node) &&
           must(look,
                move->recall == 0 || use->forced > 0 ||
                    use->alloc - recalled >= floor_of(cycle, node),
                "recalled below its quota", node);
}

/* I2 to I5 */
static bool check_bounds(struct look *look, int node, bool owns_all)
{
    const struct plan *plan = look->cycle->plan;
    const struct plan_node *of = &plan->nodes[node];
    const struct plan_quota *share = &look->cycle->shares[node];
    int64_t wanted = plan_max(look->cycle->uses[node].demand, share->res);
    int64_t own = plan->settings.is_even ? of->own : share->scaled;

    return must(look, share->quota <= of->limit, "a quota above its limit", node) &&
           must(look, !plan_is_leaf(of) || share->quota <= wanted,
                "a quota of more than it wants", node) &&
           must(look, plan->settings.may_overcommit || share->quota >= share->res,
                "less than its reserve", node) &&
           must(look,
                plan->settings.may_overcommit ||
                    (plan->settings.is_even && !owns_all) ||
                    share->quota >= plan_min(own, share->claim),
                "less than it owns", node);
}

/* I1, I8, for the nodes below `parent`. */
static bool check_siblings(struct look *look, int parent)
{
    const struct plan *plan = look->cycle->plan;
    bool is_top = parent == PLAN_NO_NODE;
    int first = is_top ? 0 : plan->nodes[parent].first_child;
    int end = first + (is_top ? plan->n_top : plan->nodes[parent].n_children);
    int64_t room = is_top ? look->cycle->slots : look->cycle->shares[parent].quota;
    int64_t quotas = 0, claims = 0;
    bool has_hungry_owner = false, is_lent = false;

    for (int i = first; i < end; i++) {
        const struct plan_quota *share = &look->cycle->shares[i];
        bool is_owner = plan->nodes[i].own > 0;

        quotas += share->quota;
        claims += share->claim;
        has_hungry_owner |= is_owner && share->quota < share->claim;
        is_lent |= !is_owner && share->quota > 0;
    }
    return must(look, first == end || quotas == plan_min(room, claims),
                "quotas that do not add up", parent) &&
           must(look, plan->settings.is_even || !has_hungry_owner || !is_lent,
                "an owner lacks what another has who owns nothing", parent);
}

/* What the node's branch reserves, as far as the quotas go, and does not have. */
static int64_t missing_reserve(const struct pool_cycle *cycle, int node)
{
    const struct plan_node *of = &cycle->plan->nodes[node];
    const struct plan_quota *share = &cycle->shares[node];
    int64_t below = 0;

    for (int i = 0; i < of->n_children; i++) {
        below += missing_reserve(cycle, of->first_child + i);
    }
    return plan_max(plan_min(share->res, share->quota) - pool_held(cycle, node), below);
}

/* I14 */
static bool check_reserves(struct look *look)
{
    const struct pool_cycle *cycle = look->cycle;
    int64_t idle = cycle->slots, missing = 0, recalled = 0, young = 0;

    for (int i = 0; i < cycle->plan->n_top; i++) {
        idle -= pool_held(cycle, i);
        missing += missing_reserve(cycle, i);
        recalled +=
            cycle->uses[i].recalled + cycle->moves[i].recall - cycle->moves[i].cancel;
        young += cycle->uses[i].young;
    }
    return must(look,
                idle >= missing || recalled > 0 || young > 0 ||
                    cycle->plan->settings.keeps_scaled,
                "a reserve that is neither idle nor recalled", PLAN_NO_NODE);
}

static bool is_plain(const struct plan *plan)
{
    bool is_hybrid = plan->settings.placement != PLAN_EXCLUSIVE;

    for (int i = 0; i < plan->n_nodes; i++) {
        is_hybrid = is_hybrid && plan->nodes[i].policy == PLAN_HYBRID;
    }
    return is_hybrid;
}

static bool check_quotas(struct look *look)
{
    const struct plan *plan = look->cycle->plan;
    int64_t own = 0;
    bool holds = check_siblings(look, PLAN_NO_NODE) && check_reserves(look);

    for (int i = 0; i < plan->n_top; i++) {
        own += plan->nodes[i].own;
    }
    for (int i = 0; holds && i < plan->n_nodes; i++) {
        holds = check_bounds(look, i, look->cycle->slots >= own) &&
                (plan_is_leaf(&plan->nodes[i]) || check_siblings(look, i));
    }
    return holds;
}

bool invariant_pool_check(const char *pool, const struct pool_cycle *cycle,
                          struct invariants_text *text)
{
    struct look look = {pool, cycle, text};
    bool holds = true;

    for (int i = 0; holds && i < cycle->plan->n_nodes; i++) {
        holds = !plan_is_leaf(&cycle->plan->nodes[i]) || check_move(&look, i);
    }
    return holds && (!is_plain(cycle->plan) || check_quotas(&look));
}
