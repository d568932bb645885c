/* SPDX-License-Identifier: Apache-2.0 */
/* pool_snapshot.c: see pool_table.h. */
#include "broker/pool/pool_table.h"

#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"

struct builder {
    const struct lease_table *leases;
    const struct members *members;
    const struct pool_entry *pool;
    struct pool_snapshot *snapshot;
    int64_t now_ms;
    struct arena *arena;
};

static bool is_sure(const struct lease *lease)
{
    return !lease->poll_state.is_open && member_is_here(lease->provider, ROLE_PROVIDER);
}

/* Its provider was lost not long ago, or is back and has not stated its contracts yet.
 */
static bool is_missed(const struct builder *builder, const struct lease *lease)
{
    const struct member *provider = lease->provider;
    return provider->session != 0 && lease->n_behind == 0 && provider->since_ms != 0 &&
           builder->now_ms - provider->since_ms <
               builder->snapshot->plan->settings.lost_ms;
}

static bool counts(const struct builder *builder, const struct lease *lease)
{
    return (lease->row.state == LEASE_ACTIVE || lease->row.state == LEASE_INACTIVE) &&
           (is_sure(lease) || is_missed(builder, lease));
}

static bool is_of_pool(const struct builder *builder, const struct lease *lease)
{
    return lease->part == LEASE_IDLE &&
           strcmp(lease->row.consumer + strlen("pool:"), builder->pool->name) == 0 &&
           counts(builder, lease);
}

static bool is_same_policy(const struct lease *a, const struct lease *b)
{
    return a->provider == b->provider && strcmp(a->row.policy, b->row.policy) == 0;
}

/* The host's place among those of the policy, which begin at `first`; it is added if
 * all of it is granted. */
static struct pool_host *see_host(struct builder *builder, int first,
                                  struct lease *idle_lease, const char *host)
{
    struct pool_snapshot *snapshot = builder->snapshot;
    for (int i = first; i < snapshot->n_hosts; i++) {
        if (strcmp(snapshot->hosts[i].host, host) == 0) {
            return &snapshot->hosts[i];
        }
    }
    snapshot->hosts[snapshot->n_hosts] =
        (struct pool_host){.idle_lease = idle_lease, .host = host};
    return &snapshot->hosts[snapshot->n_hosts++];
}

/* The idle part lists all hosts of a policy. A leaf's part has some of them, usually in
 * the same order. */
static struct pool_host *find_host(struct builder *builder, int first, int *hint,
                                   struct lease *idle_lease, const char *host)
{
    const struct pool_snapshot *snapshot = builder->snapshot;
    for (int i = *hint; i < snapshot->n_hosts; i++) {
        if (strcmp(snapshot->hosts[i].host, host) == 0) {
            *hint = i + 1;
            return &builder->snapshot->hosts[i];
        }
    }
    return see_host(builder, first, idle_lease, host);
}

static void add_idle(struct builder *builder, struct lease *lease)
{
    struct pool_snapshot *snapshot = builder->snapshot;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        int n_slots = split->is_down ? 0 : split->n_slots;
        snapshot->hosts[snapshot->n_hosts++] = (struct pool_host){
            lease, split->host, n_slots, is_sure(lease) ? n_slots : 0};
        snapshot->n_slots += n_slots;
    }
}

static void add_grant(struct builder *builder, const struct lease *lease, int first,
                      struct lease *idle_lease)
{
    int hint = first;
    for (int i = 0; i < lease->grant.n_hosts; i++) {
        const struct host_slots *more = &lease->grant.hosts[i];
        find_host(builder, first, &hint, idle_lease, more->host)->n_idle -=
            more->n_slots;
    }
}

/* What its site says that it has sent there is used too: it may not have come yet. */
static void add_leaf(struct builder *builder, struct lease *lease, int first,
                     struct lease *idle_lease)
{
    struct pool_snapshot *snapshot = builder->snapshot;
    int leaf = pool_table_find_leaf(snapshot->plan, lease->node, lease->consumer->name);
    struct plan_use *use = leaf != PLAN_NO_NODE ? &snapshot->uses[leaf] : NULL;
    int hint = first, used = 0, held = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        if (split->is_down) {
            continue;
        }
        find_host(builder, first, &hint, idle_lease, split->host)->n_slots +=
            split->n_slots;
        snapshot->n_slots += split->n_slots;
        held += split->n_slots;
        used += split->provider_used + split->consumer_used;
    }
    add_grant(builder, lease, first, idle_lease);
    snapshot->parts[snapshot->n_parts++] =
        (struct pool_contract){lease, leaf, !is_sure(lease)};
    if (use == NULL) {
        return; /* its slots exist, but no node of the plan has them */
    }
    int64_t age_ms = builder->now_ms - lease->rebalance_clock.moved_ms;
    bool is_young = lease->rebalance_clock.moved_ms != 0 &&
                    age_ms < snapshot->plan->settings.min_hold_ms;
    int young = is_young ? lease->grant.n_young : 0;
    use->alloc += held + lease->grant.n_slots;
    use->recalled += lease_recalls_count_usable(lease);
    use->waiting += lease_recalls_count_waiting(lease, builder->now_ms);
    use->young += (young < held ? young : held) + lease->grant.n_slots;
    snapshot->activity[leaf].n_used += used;
    if (lease->consumer != lease->provider) {
        use->borrowed += held + lease->grant.n_slots;
        snapshot->activity[leaf].n_borrowed += used;
    }
    snapshot->activity[leaf].n_granted += lease->grant.n_slots;
}

/* Ids of one policy are consecutive, the leaves' before and after the idle part's. */
static void add_policy(struct builder *builder, int place, struct lease *idle_lease)
{
    const struct lease_table *leases = builder->leases;
    int first = builder->snapshot->n_hosts, from = place;
    add_idle(builder, idle_lease);
    while (from > 0 && is_same_policy(leases->items[from - 1], idle_lease)) {
        from--;
    }
    for (int i = from;
         i < leases->count && is_same_policy(leases->items[i], idle_lease); i++) {
        if (leases->items[i]->part == LEASE_LEAF && counts(builder, leases->items[i])) {
            add_leaf(builder, leases->items[i], first, idle_lease);
        }
    }
}

static int64_t demand_of(const struct builder *builder, int leaf)
{
    const struct plan_node *node = &builder->snapshot->plan->nodes[leaf];
    const struct member *site =
        node->site != NULL ? members_find(builder->members, node->site) : NULL;
    int64_t waiting = 0;
    if (site != NULL && site->is_here) {
        waiting = member_count_waiting(site, node->queues, node->n_queues);
    }
    return plan_min(builder->snapshot->activity[leaf].n_used + waiting, PLAN_SLOTS_MAX);
}

/* Idle slots on hosts of the site. */
static int64_t count_idle_of(const struct pool_snapshot *snapshot, const char *site)
{
    int64_t n_idle = 0;
    for (int i = 0; site != NULL && i < snapshot->n_hosts; i++) {
        const struct pool_host *host = &snapshot->hosts[i];
        bool is_of_site = strcmp(host->idle_lease->provider->name, site) == 0;
        n_idle += is_of_site && host->n_idle > 0 ? host->n_idle : 0;
    }
    return n_idle;
}

/* Leaves whose HOURS are used up want no more borrowed slots than they use. */
static void apply_hours(const struct builder *builder)
{
    const struct pool_snapshot *snapshot = builder->snapshot;
    const struct plan *plan = snapshot->plan;
    const struct plan_hours *hours =
        pool_hours_of(builder->pool, plan, builder->now_ms, builder->arena);
    for (int i = 0; hours != NULL && i < plan->n_nodes; i++) {
        struct plan_use *use = &snapshot->uses[i];
        use->spent_by = hours[i].spent_by;
        if (use->spent_by != NULL && plan_is_leaf(&plan->nodes[i])) {
            int64_t own = use->alloc - use->borrowed +
                          count_idle_of(snapshot, plan->nodes[i].site);
            int64_t borrowed = snapshot->activity[i].n_borrowed;
            use->demand = borrowed + plan_min(use->demand - borrowed, own);
        }
    }
}

/* What it has beyond what it may keep from its earlier policy (pool_switch.h). */
static void set_forced(const struct builder *builder)
{
    const struct plan *plan = builder->snapshot->plan;
    for (int i = 0, at = 0; i < plan->n_nodes; i++) {
        int node = plan->by_name[i];
        struct plan_use *use = &builder->snapshot->uses[node];
        const struct pool_record *record =
            pool_table_next_record(builder->pool, &at, plan->nodes[node].name);
        if (record != NULL && plan_is_leaf(&plan->nodes[node])) {
            use->forced = plan_max(use->alloc - record->carried, 0);
            use->is_switching = record->carried != PLAN_UNLIMITED;
        }
    }
}

/* Each host has a place for each contract that may name it, at most. */
static void make_room(struct builder *builder)
{
    const struct lease_table *leases = builder->leases;
    size_t n_hosts = 0, n_parts = 0;
    for (int i = 0; i < leases->count; i++) {
        bool is_part = leases->items[i]->part != LEASE_WHOLE;
        n_hosts += is_part ? (size_t)leases->items[i]->row.n_hosts +
                                 (size_t)leases->items[i]->grant.n_hosts
                           : 0;
        n_parts += is_part;
    }
    builder->snapshot->hosts =
        arena_alloc(builder->arena, n_hosts, sizeof(struct pool_host));
    builder->snapshot->parts =
        arena_alloc(builder->arena, n_parts, sizeof(struct pool_contract));
}

static int compare_parts(const void *left, const void *right)
{
    const struct pool_contract *a = left, *b = right;
    int order = (a->leaf > b->leaf) - (a->leaf < b->leaf);
    return order != 0 ? order : strcmp(a->lease->row.id, b->lease->row.id);
}

static void measure_hosts(struct pool_snapshot *snapshot)
{
    int least = 0, most = 0;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        int n_slots = snapshot->hosts[i].n_slots;
        least = n_slots > 0 && (least == 0 || n_slots < least) ? n_slots : least;
        most = n_slots > most ? n_slots : most;
    }
    snapshot->least_slots = least;
    snapshot->host_slots = least == most ? least : 0;
}

void pool_snapshot_take(const struct lease_table *leases, const struct members *members,
                        const struct pool_entry *pool, const struct plan *plan,
                        int64_t now_ms, struct arena *arena,
                        struct pool_snapshot *snapshot)
{
    size_t n_nodes = (size_t)plan->n_nodes;
    *snapshot = (struct pool_snapshot){.plan = plan};
    snapshot->uses = arena_alloc(arena, n_nodes, sizeof(*snapshot->uses));
    snapshot->activity = arena_alloc(arena, n_nodes, sizeof(*snapshot->activity));
    struct builder builder = {leases, members, pool, snapshot, now_ms, arena};
    make_room(&builder);
    for (int i = 0; i < leases->count; i++) {
        if (is_of_pool(&builder, leases->items[i])) {
            add_policy(&builder, i, leases->items[i]);
        }
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan_is_leaf(&plan->nodes[i])) {
            struct plan_use *use = &snapshot->uses[i];
            use->demand = demand_of(&builder, i);
            use->recalled = plan_min(use->recalled, use->alloc);
            use->waiting = plan_min(use->waiting, use->recalled);
            use->young = plan_min(use->young, use->alloc);
        }
    }
    apply_hours(&builder);
    set_forced(&builder);
    qsort(snapshot->parts, (size_t)snapshot->n_parts, sizeof(*snapshot->parts),
          compare_parts);
    measure_hosts(snapshot);
}

/* ---------------------------------------------------------------- the decision */

/* If hosts differ in size, no host is smaller than the smallest: a node that wants
 * fewer slots wants that host. */
static struct plan_use *round_demands(const struct pool_snapshot *snapshot,
                                      struct arena *arena)
{
    size_t size = (size_t)snapshot->plan->n_nodes * sizeof(*snapshot->uses);
    struct plan_use *uses = arena_copy(arena, snapshot->uses, size);
    int64_t least = plan_max(snapshot->least_slots, 1);
    for (int i = 0; i < snapshot->plan->n_nodes; i++) {
        int64_t whole = (uses[i].demand + least - 1) / least * least;
        uses[i].demand = plan_min(whole, PLAN_SLOTS_MAX);
    }
    return uses;
}

/* If hosts differ in size, a leaf gets those that fit into its quota (pool_place.c). */
void pool_snapshot_decide(const struct pool_snapshot *snapshot,
                          struct pool_cycle *cycle, struct arena *arena)
{
    const struct plan *plan = snapshot->plan;
    if (plan->settings.placement != PLAN_EXCLUSIVE) {
        pool_cycle(plan, snapshot->n_slots, snapshot->uses, cycle, arena);
    } else if (snapshot->host_slots > 0) {
        pool_cycle_hosts(plan, snapshot->n_slots / snapshot->host_slots,
                         snapshot->host_slots, snapshot->uses, cycle, arena);
    } else {
        pool_cycle(plan, snapshot->n_slots, round_demands(snapshot, arena), cycle,
                   arena);
        cycle->uses =
            plan_quota_sum(plan, snapshot->uses, arena); /* as they are, to show */
    }
}
