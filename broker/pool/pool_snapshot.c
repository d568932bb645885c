/* SPDX-License-Identifier: Apache-2.0 */
/* pool_snapshot.c: see pool_snapshot.h. */
#include "broker/pool/pool_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "broker/broker_parts.h"
#include "broker/member/demand.h"

struct painter {
    const struct broker *broker;
    const struct pool_entry *pool;
    struct pool_snapshot *picture;
    int64_t now_ms;
    struct arena *arena;
    int64_t *used; /* by leaf */
};

static bool counts(const struct lease *lease)
{
    return (lease->row.state == LEASE_ACTIVE || lease->row.state == LEASE_INACTIVE) &&
           !lease->asking.is_open && member_is_here(lease->provider, ROLE_PROVIDER);
}

static bool is_of_pool(const struct painter *painter, const struct lease *lease)
{
    return lease->part == LEASE_IDLE &&
           strcmp(lease->row.consumer + strlen("pool:"), painter->pool->name) == 0 &&
           counts(lease);
}

static bool is_same_policy(const struct lease *a, const struct lease *b)
{
    return a->provider == b->provider && strcmp(a->row.policy, b->row.policy) == 0;
}

/* The host's place among those of the policy, which begin at `first`; it is added where
 * all of it is granted. */
static struct pool_host *see_host(struct painter *painter, int first,
                                  struct lease *idle_lease, const char *host)
{
    struct pool_snapshot *picture = painter->picture;
    for (int i = first; i < picture->n_hosts; i++) {
        if (strcmp(picture->hosts[i].host, host) == 0) {
            return &picture->hosts[i];
        }
    }
    picture->hosts[picture->n_hosts] =
        (struct pool_host){.idle_lease = idle_lease, .host = host};
    return &picture->hosts[picture->n_hosts++];
}

/* A policy's hosts stand in the idle part, all of them, in its order; a leaf's part has
 * some, most often in the same order. */
static struct pool_host *find_host(struct painter *painter, int first, int *hint,
                                   struct lease *idle_lease, const char *host)
{
    const struct pool_snapshot *picture = painter->picture;
    for (int i = *hint; i < picture->n_hosts; i++) {
        if (strcmp(picture->hosts[i].host, host) == 0) {
            *hint = i + 1;
            return &painter->picture->hosts[i];
        }
    }
    return see_host(painter, first, idle_lease, host);
}

static void paint_idle(struct painter *painter, struct lease *lease)
{
    struct pool_snapshot *picture = painter->picture;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        int n_slots = split->is_down ? 0 : split->n_slots;
        picture->hosts[picture->n_hosts++] =
            (struct pool_host){lease, split->host, n_slots, n_slots};
        picture->n_slots += n_slots;
    }
}

static void paint_grant(struct painter *painter, const struct lease *lease, int first,
                        struct lease *idle_lease)
{
    int hint = first;
    for (int i = 0; i < lease->granting.n_hosts; i++) {
        const struct host_slots *more = &lease->granting.hosts[i];
        find_host(painter, first, &hint, idle_lease, more->host)->n_idle -=
            more->n_slots;
    }
}

/* What its site says that it has sent there is used too: it may not have come yet. */
static void paint_leaf(struct painter *painter, struct lease *lease, int first,
                       struct lease *idle_lease)
{
    struct pool_snapshot *picture = painter->picture;
    int leaf = pool_table_find_leaf(painter->pool, picture->plan, lease->node,
                                    lease->consumer->name);
    struct plan_use *use = leaf != PLAN_NO_NODE ? &picture->uses[leaf] : NULL;
    int hint = first, used = 0, held = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        if (split->is_down) {
            continue;
        }
        find_host(painter, first, &hint, idle_lease, split->host)->n_slots +=
            split->n_slots;
        picture->n_slots += split->n_slots;
        held += split->n_slots;
        used += split->provider_used + split->consumer_used;
    }
    paint_grant(painter, lease, first, idle_lease);
    picture->parts[picture->n_parts++] = (struct pool_contract){lease, leaf};
    if (use == NULL) {
        return; /* its slots exist, and are nobody's that the plan knows */
    }
    int64_t age_ms = painter->now_ms - lease->judging.moved_ms;
    bool is_young =
        lease->judging.moved_ms != 0 && age_ms < picture->plan->settings.min_hold_ms;
    int young = is_young ? lease->granting.n_young : 0;
    use->alloc += held + push_grant_count(lease);
    use->recalled += push_recall_count(lease);
    use->young += (young < held ? young : held) + push_grant_count(lease);
    painter->used[leaf] += used;
}

/* Ids of one policy stand together, the leaves' on both sides of the idle part's. */
static void paint_policy(struct painter *painter, int place, struct lease *idle_lease)
{
    const struct lease_table *leases = &painter->broker->leases;
    int first = painter->picture->n_hosts, from = place;
    paint_idle(painter, idle_lease);
    while (from > 0 && is_same_policy(leases->items[from - 1], idle_lease)) {
        from--;
    }
    for (int i = from;
         i < leases->count && is_same_policy(leases->items[i], idle_lease); i++) {
        if (leases->items[i]->part == LEASE_LEAF && counts(leases->items[i])) {
            paint_leaf(painter, leases->items[i], first, idle_lease);
        }
    }
}

static int64_t demand_of(const struct painter *painter, int leaf)
{
    const struct plan_node *node = &painter->picture->plan->nodes[leaf];
    const struct member *site =
        node->site != NULL ? members_find(&painter->broker->sessions, node->site)
                           : NULL;
    int64_t waiting = 0;
    if (site != NULL && site->is_here) {
        waiting = demand_waiting(site, node->queues, node->n_queues);
    }
    return plan_min(painter->used[leaf] + waiting, PLAN_SLOTS_MAX);
}

/* What it has beyond what it keeps of its policy before (pool_switch.h). */
static int64_t forced_of(const struct painter *painter, int leaf)
{
    const struct plan_use *use = &painter->picture->uses[leaf];
    const struct pool_record *told =
        pool_table_find_record(painter->pool, painter->picture->plan->nodes[leaf].name);
    return told != NULL ? plan_max(use->alloc - told->keeps, 0) : 0;
}

/* Each host has a place for each contract that may name it, at most. */
static void make_room(struct painter *painter)
{
    const struct lease_table *leases = &painter->broker->leases;
    size_t n_hosts = 0, n_parts = 0;
    for (int i = 0; i < leases->count; i++) {
        bool is_part = leases->items[i]->part != LEASE_WHOLE;
        n_hosts += is_part ? (size_t)leases->items[i]->row.n_hosts +
                                 (size_t)leases->items[i]->granting.n_hosts
                           : 0;
        n_parts += is_part;
    }
    painter->picture->hosts =
        arena_alloc(painter->arena, n_hosts, sizeof(struct pool_host));
    painter->picture->parts =
        arena_alloc(painter->arena, n_parts, sizeof(struct pool_contract));
}

static int compare_parts(const void *left, const void *right)
{
    const struct pool_contract *a = left, *b = right;
    int order = (a->leaf > b->leaf) - (a->leaf < b->leaf);
    return order != 0 ? order : strcmp(a->lease->row.id, b->lease->row.id);
}

static void measure_hosts(struct pool_snapshot *picture)
{
    int least = 0, most = 0;
    for (int i = 0; i < picture->n_hosts; i++) {
        int n_slots = picture->hosts[i].n_slots;
        least = n_slots > 0 && (least == 0 || n_slots < least) ? n_slots : least;
        most = n_slots > most ? n_slots : most;
    }
    picture->least_slots = least;
    picture->host_slots = least == most ? least : 0;
}

void pool_snapshot_take(const struct broker *broker, const struct pool_entry *pool,
                        const struct plan *plan, int64_t now_ms, struct arena *arena,
                        struct pool_snapshot *picture)
{
    size_t n_nodes = (size_t)plan->n_nodes;
    *picture = (struct pool_snapshot){.plan = plan};
    picture->uses = arena_alloc(arena, n_nodes, sizeof(*picture->uses));
    struct painter painter = {broker,  pool,
                              picture, now_ms,
                              arena,   arena_alloc(arena, n_nodes, sizeof(int64_t))};
    make_room(&painter);
    for (int i = 0; i < broker->leases.count; i++) {
        if (is_of_pool(&painter, broker->leases.items[i])) {
            paint_policy(&painter, i, broker->leases.items[i]);
        }
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan_is_leaf(&plan->nodes[i])) {
            struct plan_use *use = &picture->uses[i];
            use->demand = demand_of(&painter, i);
            use->recalled = plan_min(use->recalled, use->alloc);
            use->young = plan_min(use->young, use->alloc);
            use->forced = forced_of(&painter, i);
        }
    }
    qsort(picture->parts, (size_t)picture->n_parts, sizeof(*picture->parts),
          compare_parts);
    measure_hosts(picture);
}
