/* SPDX-License-Identifier: Apache-2.0 */
/* pool_execute.c: executes a cycle: grants for the contracts of leaves, and recalls
 * from them.
 *
 * A leaf that only the plan of another window has gives back all its slots. A leaf that
 * has to give back some gives idle slots first, then those of its least important
 * queue, and of the same importance first those of other providers and last those of
 * its own site. A cancel goes the other way round. If hosts are exclusive, a
 * leaf is asked for whole hosts only, and may keep what is less than a host.
 *
 * Order: leaves as in the plan. */
#include "broker/pool/pool_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/whole_hosts.h"
#include "broker/lease/lease.h"
#include "broker/push/push.h"

struct orders {
    const struct pool_world *world;
    const struct pool_entry *pool;
    struct pool_snapshot *snapshot;
    const struct pool_cycle *cycle;
    int64_t now_ms;
    struct effects *effects;
};

static void set_due(const struct orders *orders, struct lease *lease)
{
    timer_heap_set(&orders->world->leases->timers, &lease->timer, orders->now_ms);
}

/* ---------------------------------------------------------------- grants */

/* The leaf's contract with the policy that has these idle slots; if there is none, a
 * new contract that is not registered yet. NULL: there is no room, or the id is too
 * long. */
static struct lease *contract_of(const struct orders *orders, int leaf,
                                 const struct lease *idle_lease)
{
    const struct plan_node *node = &orders->cycle->plan->nodes[leaf];
    struct lease_table *leases = orders->world->leases;
    struct lease_id id = {.part = LEASE_LEAF};
    char text[LEASE_ID_SIZE];
    int length = snprintf(text, sizeof(text), "%s/%s/%s:%s", idle_lease->row.provider,
                          idle_lease->row.policy, node->site, node->name);
    if (length < 0 || (size_t)length >= sizeof(text)) {
        effects_log(orders->effects, LOG_LEVEL_ERROR,
                    "pool %s: %s/%s/%s:%s is too long for a lease id, expected at most "
                    "%d bytes: shorten the node's path or the policy's name",
                    orders->pool->name, idle_lease->row.provider,
                    idle_lease->row.policy, node->site, node->name, LEASE_ID_SIZE - 1);
        return NULL;
    }
    struct lease *lease = lease_table_find(leases, text);
    struct member *consumer = members_find(orders->world->members, node->site);
    if (lease != NULL || consumer == NULL || !lease_parse_id(text, &id)) {
        return lease;
    }
    if (!lease_table_make_room(leases, idle_lease->provider)) {
        return NULL;
    }
    lease = lease_new(&id, idle_lease->provider, consumer);
    lease_table_add(leases, lease);
    pool_table_update_lease(orders->world->pools, lease);
    lease->plan_price = plan_price(orders->cycle->plan, leaf);
    return lease;
}

static void grant_of_policy(const struct orders *orders, int leaf,
                            const struct pool_pick *picks, int n_picks)
{
    const struct pool_host *hosts = orders->snapshot->hosts;
    struct arena *arena = &orders->effects->arena;
    struct lease *lease = contract_of(orders, leaf, hosts[picks[0].host].idle_lease);
    if (lease == NULL || lease->row.state == LEASE_INACTIVE || lease->row.is_drained) {
        return;
    }
    struct host_slots *more = arena_alloc(arena, (size_t)n_picks, sizeof(*more));
    int n_slots = 0;
    for (int i = 0; i < n_picks; i++) {
        more[i] = (struct host_slots){hosts[picks[i].host].host, picks[i].n_slots};
        n_slots += picks[i].n_slots;
    }
    char reason[REASON_SIZE];
    snprintf(reason, sizeof(reason), "%d slots granted: %s has a quota of %lld",
             n_slots, orders->cycle->plan->nodes[leaf].name,
             (long long)orders->cycle->shares[leaf].quota);
    push_grant_set(lease, more, n_picks, reason, orders->now_ms);
    set_due(orders, lease);
}

/* The picks of one policy are consecutive. */
static void grant(const struct orders *orders, struct pool_place *place, int leaf)
{
    const struct plan_node *node = &orders->cycle->plan->nodes[leaf];
    const struct pool_host *hosts = orders->snapshot->hosts;
    struct pool_pick *picks;
    if (node->site == NULL) {
        return;
    }
    bool only_own = orders->cycle->uses[leaf].spent_by != NULL;
    int n_picks =
        pool_place_pick(place, node->site, only_own, orders->cycle->moves[leaf].grant,
                        &orders->effects->arena, &picks);
    for (int from = 0, to; from < n_picks; from = to) {
        const struct lease *idle_lease = hosts[picks[from].host].idle_lease;
        for (to = from; to < n_picks && hosts[picks[to].host].idle_lease == idle_lease;
             to++) {
        }
        grant_of_policy(orders, leaf, &picks[from], to - from);
    }
}

/* ---------------------------------------------------------------- recalls */

struct part_list {
    struct pool_contract *items;
    int count;
};

static struct part_list parts_of(const struct orders *orders, int leaf)
{
    struct part_list list = {orders->snapshot->parts, 0};
    int at = 0, behind = orders->snapshot->n_parts;
    while (at < behind) {
        int middle = at + (behind - at) / 2;
        if (list.items[middle].leaf < leaf) {
            at = middle + 1;
        } else {
            behind = middle;
        }
    }
    list.items += at;
    while (at + list.count < orders->snapshot->n_parts &&
           list.items[list.count].leaf == leaf) {
        list.count++;
    }
    return list;
}

static bool is_own(const struct lease *lease)
{
    return lease->consumer == lease->provider;
}

/* Idle slots that are not recalled yet. */
static int idle_of(const struct lease *lease)
{
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    int idle =
        split.provider.idle + split.consumer.idle - lease_recalls_count_usable(lease);
    return idle > 0 ? idle : 0;
}

/* Its slots on hosts that are up. */
static int count_usable(const struct lease *lease)
{
    int n_slots = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        n_slots += lease->row.hosts[i].is_down ? 0 : lease->row.hosts[i].n_slots;
    }
    return n_slots;
}

static bool is_whole(const struct orders *orders)
{
    return orders->cycle->plan->settings.placement == PLAN_EXCLUSIVE;
}

/* How many slots of its whole hosts fit into `n_slots`. */
static int count_whole(const struct orders *orders, const struct lease *lease,
                       bool only_idle, int64_t n_slots)
{
    struct arena *arena = &orders->effects->arena;
    int n_hosts = lease->row.n_hosts;
    struct whole_host *hosts = arena_alloc(arena, (size_t)n_hosts, sizeof(*hosts));
    for (int i = 0; i < n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        hosts[i].n_used = split->provider_used + split->consumer_used;
        hosts[i].n_slots = only_idle && hosts[i].n_used > 0 ? 0 : split->n_slots;
    }
    return whole_hosts_pick(hosts, n_hosts, (int)n_slots, arena);
}

/* How many of `left` slots the contract can give, besides those it is asked for. */
static int64_t can_give(const struct orders *orders, const struct lease *lease,
                        bool only_idle, int n_wanted, int64_t left)
{
    if (!is_whole(orders)) {
        int n_usable = lease_recalls_count_usable(lease) + n_wanted;
        int most =
            only_idle ? idle_of(lease) - n_wanted : count_usable(lease) - n_usable;
        return plan_min(most, left);
    }
    int n_asked = lease_recalls_count(lease) + n_wanted;
    return only_idle ? count_whole(orders, lease, true, left)
                     : count_whole(orders, lease, false, n_asked + left) - n_asked;
}

/* Idle slots of hosts that are down go back too. Else they would be taken in place of
 * slots that others can use. */
static int with_idle_down(const struct orders *orders, const struct lease *lease,
                          int n_slots)
{
    int n_more = lease_recalls_count_idle_down(lease) - lease_recalls_count(lease);
    return is_whole(orders) || n_more <= 0 ? n_slots : n_slots + n_more;
}

static void recall_of(const struct orders *orders, struct lease *lease, int n_slots,
                      const char *why, int64_t grace_ms)
{
    const struct lease_recalls_order order = {
        .pool = orders->pool->name,
        .n_slots = with_idle_down(orders, lease, n_slots),
        .is_whole = is_whole(orders),
        .why = why,
        .deadline_ms = orders->now_ms + grace_ms,
    };
    push_recall_add(lease, &order, orders->now_ms, orders->effects);
    set_due(orders, lease);
}

/* ---------------------------------------------------------------- by priority */

/* Jobs of one priority on one contract of a leaf. */
struct rank {
    int part; /* place in the list */
    int priority, n_slots;
    bool is_own;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    int order = (a->priority > b->priority) - (a->priority < b->priority);
    order = order != 0 ? order : (int)a->is_own - (int)b->is_own;
    return order != 0 ? order : (a->part < b->part) - (a->part > b->part);
}

static struct rank *list_ranks(const struct part_list *list, struct arena *arena,
                               int *n_ranks)
{
    int n_uses = 0;
    *n_ranks = 0;
    for (int i = 0; i < list->count; i++) {
        int n;
        const struct lease *lease = list->items[i].lease;
        member_find_uses(lease->consumer, lease->row.id, &n);
        n_uses += n;
    }
    struct rank *ranks = arena_alloc(arena, (size_t)n_uses, sizeof(*ranks));
    for (int i = 0; i < list->count; i++) {
        int n;
        const struct lease *lease = list->items[i].lease;
        const struct priority_use *uses =
            member_find_uses(lease->consumer, lease->row.id, &n);
        n = list->items[i].is_missed ? 0 : n;
        for (int k = 0; k < n; k++) {
            ranks[(*n_ranks)++] =
                (struct rank){i, uses[k].priority, uses[k].n_slots, is_own(lease)};
        }
    }
    qsort(ranks, (size_t)*n_ranks, sizeof(*ranks), compare_ranks);
    return ranks;
}

/* Slots in use that earlier recalls take already. */
static int asked_of_jobs(const struct lease *lease)
{
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    int asked =
        lease_recalls_count_usable(lease) - split.provider.idle - split.consumer.idle;
    return asked > 0 ? asked : 0;
}

/* The least important queue gives first, over all contracts. Its site chooses jobs of
 * each contract by the same rule (site/exchange/recall_victims.h), so that what is
 * asked for already counts as slots of the least important jobs there. */
static int64_t recall_by_priority(const struct orders *orders,
                                  const struct part_list *list, int *wanted,
                                  int64_t left)
{
    struct arena *arena = &orders->effects->arena;
    int n_ranks;
    const struct rank *ranks = list_ranks(list, arena, &n_ranks);
    int *asked = arena_alloc(arena, (size_t)list->count, sizeof(*asked));
    for (int i = 0; i < list->count; i++) {
        asked[i] = asked_of_jobs(list->items[i].lease);
    }
    for (int k = 0; k < n_ranks && left > 0; k++) {
        int part = ranks[k].part;
        int64_t passed = plan_min(asked[part], ranks[k].n_slots);
        int64_t n = plan_min(
            can_give(orders, list->items[part].lease, false, wanted[part], left),
            ranks[k].n_slots - passed);
        asked[part] -= (int)passed;
        if (n > 0) {
            wanted[part] += (int)n;
            left -= n;
        }
    }
    return left;
}

/* What each contract gives is added up first, so that it gets one RECALL. */
static void recall(const struct orders *orders, int leaf, int64_t left,
                   int64_t grace_ms)
{
    struct part_list list = parts_of(orders, leaf);
    int *wanted =
        arena_alloc(&orders->effects->arena, (size_t)list.count, sizeof(*wanted));
    for (int round = 0; round < 4 && left > 0; round++) {
        if (round == 2 && !is_whole(orders)) {
            left = recall_by_priority(orders, &list, wanted, left);
        }
        bool only_idle = round < 2, own = round % 2 == 1;
        for (int i = list.count - 1; i >= 0 && left > 0; i--) {
            struct lease *lease = list.items[i].lease;
            int64_t n = is_own(lease) == own && !list.items[i].is_missed
                            ? can_give(orders, lease, only_idle, wanted[i], left)
                            : 0;
            if (n > 0) {
                wanted[i] += (int)n;
                left -= n;
            }
        }
    }
    for (int i = 0; i < list.count; i++) {
        if (wanted[i] > 0) {
            recall_of(orders, list.items[i].lease, wanted[i],
                      pool_why_text(pool_why(orders->cycle, leaf)), grace_ms);
        }
    }
}

static void cancel(const struct orders *orders, int leaf)
{
    struct part_list list = parts_of(orders, leaf);
    int64_t left = orders->cycle->moves[leaf].cancel;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < list.count && left > 0; i++) {
            struct lease *lease = list.items[i].lease;
            int64_t n = plan_min(lease_recalls_count_usable(lease), left);
            if (is_own(lease) == (round == 0) && n > 0) {
                push_recall_cancel(lease, (int)n, orders->now_ms);
                set_due(orders, lease);
                left -= n;
            }
        }
    }
}

/* Slots that go home when their jobs end are the last bound of a contract. So it is
 * removed before the other bounds change, and stated anew after that. Returns how many
 * are left to be stated. */
static int64_t clear_waits(const struct orders *orders, int leaf)
{
    const struct pool_move *move = &orders->cycle->moves[leaf];
    int64_t n_waiting = orders->cycle->uses[leaf].waiting;
    bool is_kept = move->recall == 0 && move->cancel == 0 && move->wait >= n_waiting;
    struct part_list list = parts_of(orders, leaf);
    for (int i = 0; i < list.count && n_waiting > 0 && !is_kept; i++) {
        struct lease *lease = list.items[i].lease;
        int n = lease_recalls_count_waiting(lease, orders->now_ms);
        if (n > 0) {
            push_recall_cancel(lease, n, orders->now_ms);
            set_due(orders, lease);
        }
    }
    return is_kept ? move->wait - n_waiting : move->wait;
}

/* HOURS of the leaf are used up: it gives back all that it has borrowed as its jobs
 * end, and gets nothing that is still on its way. */
static void recall_borrowed(const struct orders *orders, int leaf)
{
    struct part_list list = parts_of(orders, leaf);
    for (int i = 0; i < list.count; i++) {
        struct lease *lease = list.items[i].lease;
        int n_left = lease_recalls_count_held(lease) - lease_recalls_count(lease);
        if (is_own(lease) || list.items[i].is_missed) {
            continue;
        }
        if (n_left > 0) {
            const struct lease_recalls_order order = {
                .pool = orders->pool->name,
                .n_slots = n_left,
                .is_whole = is_whole(orders),
                .why = pool_why_text(POOL_WHY_HOURS),
                .deadline_ms = orders->now_ms + RECALL_AT_END_MS,
            };
            push_recall_add(lease, &order, orders->now_ms, orders->effects);
            set_due(orders, lease);
        }
    }
}

/* Recalls all slots of leaves that the plan of this window does not have. */
static void recall_strays(const struct orders *orders)
{
    struct part_list list = parts_of(orders, PLAN_NO_NODE);
    for (int i = 0; i < list.count; i++) {
        struct lease *lease = list.items[i].lease;
        int n_held = lease_count_slots(lease) - lease_recalls_count(lease);
        if (n_held > 0) {
            recall_of(orders, lease, n_held, pool_why_text(POOL_WHY_UNPLANNED),
                      lease->grant.grace_ms);
        }
    }
}

/* A leaf pays nothing for hosts of its own site. */
static void set_prices(const struct orders *orders)
{
    for (int i = 0; i < orders->snapshot->n_parts; i++) {
        const struct pool_contract *part = &orders->snapshot->parts[i];
        if (part->leaf != PLAN_NO_NODE && !is_own(part->lease)) {
            push_price_set(part->lease, plan_price(orders->cycle->plan, part->leaf),
                           orders->now_ms);
            set_due(orders, part->lease);
        }
    }
}

void pool_execute(const struct pool_world *world, const struct pool_entry *pool,
                  struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                  int64_t now_ms, struct effects *effects)
{
    struct orders orders = {world, pool, snapshot, cycle, now_ms, effects};
    const struct plan *plan = cycle->plan;
    struct pool_place *place =
        pool_place_new(snapshot, plan->settings.placement, &effects->arena);
    recall_strays(&orders);
    set_prices(&orders);
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct pool_move *move = &cycle->moves[i];
        if (!plan_is_leaf(&plan->nodes[i])) {
            continue;
        }
        bool is_spent = cycle->uses[i].spent_by != NULL;
        bool is_kept = is_spent && move->cancel == 0 && move->recall == 0;
        int64_t n_waiting = is_kept ? 0 : clear_waits(&orders, i);
        if (move->cancel > 0) {
            cancel(&orders, i);
        }
        if (move->recall > 0) {
            recall(&orders, i, move->recall, plan_grace_ms(plan, i));
        }
        if (is_spent) {
            recall_borrowed(&orders, i);
        } else if (n_waiting > 0) {
            recall(&orders, i, n_waiting, RECALL_AT_END_MS);
        }
        if (move->grant > 0) {
            grant(&orders, place, i);
        }
    }
}

void pool_execute_grants(const struct pool_world *world, const struct pool_entry *pool,
                         struct pool_snapshot *snapshot, const struct pool_cycle *cycle,
                         int64_t now_ms, struct effects *effects)
{
    struct orders orders = {world, pool, snapshot, cycle, now_ms, effects};
    const struct plan *plan = cycle->plan;
    struct pool_place *place =
        pool_place_new(snapshot, plan->settings.placement, &effects->arena);
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan_is_leaf(&plan->nodes[i]) && cycle->moves[i].grant > 0) {
            grant(&orders, place, i);
        }
    }
}
