/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: see pool.h. The steps in their order, and the same counted in hosts. */
#include "broker/pool/pool.h"

#include "broker/pool/pool_steps.h"

/* Recalls are the leaves' until here. */
static void sum_recalls(struct pool_cycle *cycle)
{
    for (int i = cycle->plan->n_nodes - 1; i >= 0; i--) {
        int parent = cycle->plan->nodes[i].parent;
        if (parent != PLAN_NO_NODE) {
            cycle->moves[parent].recall += cycle->moves[i].recall;
            cycle->moves[parent].cancel += cycle->moves[i].cancel;
            cycle->moves[parent].wait += cycle->moves[i].wait;
        }
    }
}

void pool_cycle(const struct plan *plan, int64_t slots, const struct plan_use *uses,
                struct pool_cycle *cycle, struct arena *arena)
{
    const struct plan_use *sums = plan_quota_sum(plan, uses, arena);
    *cycle = (struct pool_cycle){
        .plan = plan,
        .slots = slots,
        .unit = plan->unit,
        .uses = sums,
        .shares = plan_quota_all(plan, slots, sums, arena),
        .moves = arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*cycle->moves)),
    };
    pool_grant(cycle, arena);
    pool_recall(cycle, arena);
    sum_recalls(cycle);
    pool_free(cycle, arena);
}

enum pool_why pool_why(const struct pool_cycle *cycle, int node)
{
    if (cycle->uses[node].forced > 0) {
        return POOL_WHY_SWITCH;
    }
    return cycle->uses[node].alloc > cycle->plan->nodes[node].limit ? POOL_WHY_LIMIT
                                                                    : POOL_WHY_SHORT;
}

const char *pool_why_text(enum pool_why why)
{
    static const char *const texts[] = {
        [POOL_WHY_SHORT] = "others have less than their quota",
        [POOL_WHY_LIMIT] = "it is above its LIMIT",
        [POOL_WHY_SWITCH] = "its policy has changed with the time window",
        [POOL_WHY_UNPLANNED] = "the current plan does not have it",
        [POOL_WHY_HOURS] = "its slot hours of the month are used up (HOURS)",
    };
    return texts[why];
}

/* ---------------------------------------------------------------- whole hosts */

static int64_t hosts_for(int64_t slots, int64_t host_slots)
{
    return slots == PLAN_UNLIMITED ? PLAN_UNLIMITED
                                   : (slots + host_slots - 1) / host_slots;
}

static struct plan_use *uses_in_hosts(const struct plan *plan, int64_t host_slots,
                                      const struct plan_use *uses, struct arena *arena)
{
    struct plan_use *in_hosts =
        arena_copy(arena, uses, (size_t)plan->n_nodes * sizeof(*uses));
    for (int i = 0; i < plan->n_nodes; i++) {
        in_hosts[i].demand = hosts_for(uses[i].demand, host_slots);
        in_hosts[i].alloc = hosts_for(uses[i].alloc, host_slots);
        in_hosts[i].recalled = uses[i].recalled / host_slots;
        in_hosts[i].waiting = uses[i].waiting / host_slots;
        in_hosts[i].young = hosts_for(uses[i].young, host_slots);
        in_hosts[i].forced = uses[i].forced / host_slots;
        in_hosts[i].borrowed = hosts_for(uses[i].borrowed, host_slots);
    }
    return in_hosts;
}

/* What a node has on a host is the host. */
static struct plan_use *uses_in_whole_hosts(const struct plan *plan, int64_t host_slots,
                                            const struct plan_use *uses,
                                            struct arena *arena)
{
    struct plan_use *whole = uses_in_hosts(plan, host_slots, uses, arena);
    for (int i = 0; i < plan->n_nodes; i++) {
        whole[i].demand = uses[i].demand;
        whole[i].alloc *= host_slots;
        whole[i].recalled *= host_slots;
        whole[i].waiting *= host_slots;
        whole[i].young *= host_slots;
        whole[i].forced *= host_slots;
        whole[i].borrowed *= host_slots;
    }
    return whole;
}

static void move_to_slots(struct pool_move *move, int64_t host_slots)
{
    move->grant *= host_slots;
    move->recall *= host_slots;
    move->cancel *= host_slots;
    move->wait *= host_slots;
    move->free *= host_slots;
}

static void share_to_slots(struct plan_quota *share, int64_t host_slots)
{
    share->res *= host_slots;
    share->quota *= host_slots;
    share->claim = plan_min(share->claim * host_slots, PLAN_UNLIMITED);
}

void pool_cycle_hosts(const struct plan *plan, int64_t n_hosts, int64_t host_slots,
                      const struct plan_use *uses, struct pool_cycle *cycle,
                      struct arena *arena)
{
    struct plan *in_hosts = arena_alloc(arena, 1, sizeof(*in_hosts));
    plan_in_hosts(plan, host_slots, in_hosts, arena);
    pool_cycle(in_hosts, n_hosts, uses_in_hosts(plan, host_slots, uses, arena), cycle,
               arena);
    /* Ownership is a number of slots, whole hosts or not. */
    struct plan_quota *scaled =
        arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*scaled));
    plan_scale(plan, n_hosts * host_slots, scaled, arena);
    for (int i = 0; i < plan->n_nodes; i++) {
        move_to_slots(&cycle->moves[i], host_slots);
        share_to_slots(&cycle->shares[i], host_slots);
        cycle->shares[i].scaled = scaled[i].scaled;
    }
    cycle->plan = plan;
    cycle->slots = n_hosts * host_slots;
    cycle->uses =
        plan_quota_sum(plan, uses_in_whole_hosts(plan, host_slots, uses, arena), arena);
}
