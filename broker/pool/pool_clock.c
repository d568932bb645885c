/* SPDX-License-Identifier: Apache-2.0 */
/* pool_clock.c: see pool_table.h. */
#include "broker/pool/pool_table.h"

#include "broker/lease/lease.h"
#include "broker/member/member.h"
#include "broker/pool/pool.h"
#include "broker/pool/pool_fit.h"
#include "broker/pool/pool_switch.h"
#include "broker/push/push.h"

enum {
    ASKED_MS = 1000,     /* between two looks at grants on demand ... */
    ASKED_NODES = 10000, /* ... for each so many nodes of the plan */
    LISTED_MS = 60000,   /* a listing takes no longer */
    SHOWN_MS = 1000,     /* a large plan is computed for views at most so often ... */
    SHOWN_NODES = 1000,  /* ... if it has so many nodes, and a plan of more nodes more
                            seldom: after a millisecond for each so many nodes */
    SHOWN_NODES_A_MS = 20,
};

/* ---------------------------------------------------------------- time */

static int64_t cycle_of(const struct pool_entry *pool, int64_t local_ms)
{
    return pool_table_plan(pool, local_ms)->settings.cycle_ms;
}

/* On a fixed grid of cycles, so that a restart or a window does not shift it. */
static void set_next(struct pool_entry *pool, int64_t utc_offset_ms, int64_t now_ms)
{
    int64_t local_ms = now_ms + utc_offset_ms, cycle_ms = cycle_of(pool, local_ms);
    int64_t next_ms = now_ms - now_ms % cycle_ms + cycle_ms;
    int64_t window_ms = plan_window_end_ms(pool->windows, pool->n_windows, local_ms);
    if (window_ms != INT64_MAX && window_ms - utc_offset_ms < next_ms) {
        next_ms = window_ms - utc_offset_ms;
    }
    pool->next_ms = next_ms;
}

void pool_clock_start(struct pool_table *pools, int64_t lost_after_ms, int64_t now_ms)
{
    pools->waits_until_ms = now_ms + lost_after_ms;
    for (int i = 0; i < pools->count; i++) {
        set_next(&pools->items[i], pools->utc_offset_ms, now_ms);
    }
}

/* The records of a pool that is still configured. */
static void copy_records(const struct pool_entry *from, struct pool_entry *to)
{
    if (from->n_records > 0) {
        to->records = arena_alloc(pool_table_arena(to), (size_t)from->n_records,
                                  sizeof(*to->records));
    }
    for (int i = 0; i < from->n_records; i++) {
        to->records[i] = from->records[i];
        to->records[i].node = arena_str(to->arena, from->records[i].node);
        to->records[i].moved_why = arena_str(to->arena, from->records[i].moved_why);
        to->records[i].unused = (struct pool_unused){0}; /* another plan is tried */
    }
    to->n_records = from->n_records;
}

static void move_hours(struct pool_entry *from, struct pool_entry *to)
{
    struct pool_hours *unused = to->hours;
    to->hours = from->hours;
    from->hours = unused;
    pool_hours_reload(to->hours);
}

void pool_clock_reload(struct pool_table *pools, const struct broker_config *config,
                       int64_t now_ms)
{
    struct pool_table old = *pools;
    pool_table_init(pools, config);
    pools->waits_until_ms = old.waits_until_ms;
    pools->utc_offset_ms = old.utc_offset_ms;
    for (int i = 0; i < pools->count; i++) {
        struct pool_entry *before = pool_table_find(&old, pools->items[i].name);
        if (before != NULL) {
            copy_records(before, &pools->items[i]);
            move_hours(before, &pools->items[i]);
        }
        set_next(&pools->items[i], pools->utc_offset_ms, now_ms);
    }
    for (struct pool_removed *gone = old.removed; gone != NULL; gone = gone->next) {
        pool_persist_drop(pools, gone->name, gone->hours);
        gone->hours = NULL;
    }
    for (int i = 0; i < old.count; i++) {
        if (pool_table_find(pools, old.items[i].name) == NULL) {
            pool_persist_drop(pools, old.items[i].name, old.items[i].hours);
            old.items[i].hours = NULL;
        }
    }
    pool_table_release(&old);
}

static bool is_moved(const struct pool_cycle *cycle, int node)
{
    const struct pool_move *move = &cycle->moves[node];
    return move->grant > 0 || move->recall > 0 || move->cancel > 0;
}

/* When slots of the node were last moved, and why. */
static void note_move(const struct pool_cycle *cycle, int node,
                      const struct pool_record *before, struct arena *memory,
                      struct pool_record *record, int64_t now_ms)
{
    if (is_moved(cycle, node)) {
        record->moved_ms = now_ms;
        record->moved_why = pool_explain_move(cycle, node, memory);
    } else if (before != NULL) {
        record->moved_ms = before->moved_ms;
        record->moved_why = arena_str(memory, before->moved_why);
    }
}

/* After a change of policy a node may keep what is not forced back; the record says so
 * until the node has come down to that. */
static int64_t carried_of(const struct plan_use *use)
{
    return use->forced > 0 ? use->alloc - use->forced : PLAN_UNLIMITED;
}

static void store_quota(const char *pool, const struct pool_record *record,
                        const char *why, int64_t now_ms, struct effects *effects)
{
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){
        .at_ms = now_ms,
        .lease = "",
        .site = "",
        .event = HISTORY_QUOTA,
        .reason = why,
        .pool = pool,
        .node = record->node,
        .quota = record->quota,
        .demand = record->demand,
    };
    effects_store(effects, &row);
}

/* A quota or a demand that has changed goes into history. */
static void record_quotas(const struct pool_entry *pool, const struct plan_use *uses,
                          const struct pool_cycle *cycle, struct arena *memory,
                          struct pool_record *records, int64_t now_ms,
                          struct effects *effects)
{
    const struct plan *plan = cycle->plan;
    for (int i = 0, at = 0; i < plan->n_nodes; i++) {
        int node = plan->by_name[i];
        const struct pool_record *before =
            pool_table_next_record(pool, &at, plan->nodes[node].name);
        records[i] = (struct pool_record){
            .node = arena_str(memory, plan->nodes[node].name),
            .quota = cycle->shares[node].quota,
            .demand = cycle->uses[node].demand,
            .carried = carried_of(&uses[node]),
        };
        bool is_new = before == NULL ? records[i].quota != 0 || records[i].demand != 0
                                     : before->quota != records[i].quota ||
                                           before->demand != records[i].demand;
        note_move(cycle, node, before, memory, &records[i], now_ms);
        if (is_new) {
            store_quota(pool->name, &records[i], pool_explain(cycle, node, memory),
                        now_ms, effects);
        }
    }
}

/* The first cycle by another plan than the one before: of another time window. */
static void switch_plans(const struct pool_entry *pool, struct pool_snapshot *snapshot,
                         struct arena *memory)
{
    const struct plan *plan = snapshot->plan, *before = pool->latest.plan;
    if (before == NULL || before == plan || !plan->settings.rebalances) {
        return;
    }
    int *was = arena_alloc(memory, (size_t)plan->n_nodes, sizeof(*was));
    for (int i = 0; i < plan->n_nodes; i++) {
        was[i] = plan_find(before, plan->nodes[i].name);
    }
    pool_switch_force(pool->latest, was, plan, snapshot->n_slots, snapshot->uses,
                      memory);
}

/* Hosts that are given back whole cannot be given back in part. */
static void round_forced(struct pool_snapshot *snapshot)
{
    bool is_whole = snapshot->plan->settings.placement == PLAN_EXCLUSIVE;
    for (int i = 0; i < snapshot->plan->n_nodes && is_whole; i++) {
        struct plan_use *use = &snapshot->uses[i];
        use->forced -= use->forced % plan_max(snapshot->host_slots, 1);
    }
}

/* Some leaf whose whole demand counts gets less than it wants. */
static bool is_contended(const struct pool_cycle *cycle,
                         const struct pool_unused *unused)
{
    const struct plan *plan = cycle->plan;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (plan_is_leaf(node) && !unused[i].is_capped &&
            plan_min(cycle->uses[i].demand, node->limit) > cycle->shares[i].quota) {
            return true;
        }
    }
    return false;
}

/* Leaves whose jobs cannot use what they get want what they use, if slots are short. */
static void apply_caps(struct pool_snapshot *snapshot, const struct pool_unused *unused,
                       struct pool_cycle *cycle, struct arena *memory)
{
    bool has_capped = false;
    for (int i = 0; i < snapshot->plan->n_nodes && !has_capped; i++) {
        has_capped = unused[i].is_capped;
    }
    if (!has_capped || !is_contended(cycle, unused)) {
        return;
    }
    for (int i = 0; i < snapshot->plan->n_nodes; i++) {
        struct plan_use *use = &snapshot->uses[i];
        if (unused[i].is_capped && unused[i].cap < use->demand) {
            use->demand = unused[i].cap;
            use->is_capped = true;
        }
    }
    pool_snapshot_decide(snapshot, cycle, memory);
}

static struct pool_unused *list_unused(const struct pool_entry *pool,
                                       const struct plan *plan, struct arena *memory)
{
    struct pool_unused *unused =
        arena_alloc(memory, (size_t)plan->n_nodes, sizeof(*unused));
    for (int i = 0, at = 0; i < plan->n_nodes; i++) {
        int node = plan->by_name[i];
        const struct pool_record *record =
            pool_table_next_record(pool, &at, plan->nodes[node].name);
        if (record != NULL && plan_is_leaf(&plan->nodes[node])) {
            unused[node] = record->unused;
        }
    }
    return unused;
}

void pool_clock_look(const struct lease_table *leases, const struct members *members,
                     const struct pool_entry *pool, const struct plan *plan,
                     int64_t now_ms, struct arena *arena,
                     struct pool_snapshot *snapshot, struct pool_cycle *cycle)
{
    pool_snapshot_take(leases, members, pool, plan, now_ms, arena, snapshot);
    pool_fit_decide(members, snapshot, cycle, arena);
    apply_caps(snapshot, list_unused(pool, plan, arena), cycle, arena);
}

const struct pool_look *pool_clock_shown(const struct lease_table *leases,
                                         const struct members *members,
                                         const struct pool_entry *pool,
                                         const struct plan *plan, bool is_next_page,
                                         int64_t now_ms)
{
    struct pool_look *look = pool->look;
    int64_t kept_ms = is_next_page ? LISTED_MS
                      : plan->n_nodes >= SHOWN_NODES
                          ? plan_max(SHOWN_MS, plan->n_nodes / SHOWN_NODES_A_MS)
                          : 0;
    if (look->plan != plan || now_ms - look->at_ms >= kept_ms) {
        arena_clear(&look->arena);
        look->plan = plan;
        look->at_ms = now_ms;
        look->n_computed++;
        look->snapshot = arena_alloc(&look->arena, 1, sizeof(*look->snapshot));
        pool_clock_look(leases, members, pool, plan, now_ms, &look->arena,
                        look->snapshot, &look->cycle);
    }
    return look;
}

static struct pool_unused_look look_at_leaf(const struct members *members,
                                            const struct pool_snapshot *snapshot,
                                            const struct pool_cycle *cycle, int leaf,
                                            int64_t news, int64_t now_ms)
{
    const struct plan_node *node = &snapshot->plan->nodes[leaf];
    const struct pool_activity *activity = &snapshot->activity[leaf];
    int64_t n_idle = snapshot->uses[leaf].alloc - activity->n_used;
    struct pool_unused_look look = {
        .n_used = activity->n_used,
        .n_granted = activity->n_granted,
        .quota = cycle->shares[leaf].quota,
        .n_pool = snapshot->n_slots,
        .news = news,
        .cycle_ms = snapshot->plan->settings.cycle_ms,
        .now_ms = now_ms,
    };
    const struct member *site =
        node->site != NULL ? members_find(members, node->site) : NULL;
    if (site != NULL) {
        look.needs = pool_fit_needs(site, node);
        look.session = site->session;
        look.is_collecting = snapshot->uses[leaf].alloc < look.quota && n_idle > 0 &&
                             pool_fit_usable(site, node, n_idle) == 0;
    }
    return look;
}

/* Decides with the demand of all; if slots are short then, again without the demand of
 * leaves whose jobs cannot use what they get (pool_unused.h). */
static struct pool_unused *decide(const struct members *members,
                                  const struct pool_entry *pool,
                                  struct pool_snapshot *snapshot,
                                  struct pool_cycle *cycle, int64_t news,
                                  int64_t now_ms, struct arena *memory)
{
    const struct plan *plan = snapshot->plan;
    struct pool_unused *unused = list_unused(pool, plan, memory);
    pool_fit_decide(members, snapshot, cycle, memory);
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan_is_leaf(&plan->nodes[i])) {
            struct pool_unused_look look =
                look_at_leaf(members, snapshot, cycle, i, news, now_ms);
            unused[i] = pool_unused_next(&unused[i], &snapshot->uses[i], &look);
        }
    }
    apply_caps(snapshot, unused, cycle, memory);
    return unused;
}

static void run_cycle(const struct pool_world *world, struct pool_entry *pool,
                      int64_t local_ms, int64_t now_ms, struct effects *effects)
{
    const struct plan *plan = pool_table_plan(pool, local_ms);
    struct arena *memory = pool_table_new_arena();
    struct pool_record *records =
        arena_alloc(memory, (size_t)plan->n_nodes, sizeof(*records));
    struct pool_snapshot snapshot;
    pool_snapshot_take(world->leases, world->members, pool, plan, now_ms, memory,
                       &snapshot);
    switch_plans(pool, &snapshot, memory);
    round_forced(&snapshot);
    struct pool_cycle cycle;
    struct pool_news news = pool_news_next(&pool->news, &snapshot, memory);
    const struct pool_unused *unused =
        decide(world->members, pool, &snapshot, &cycle, news.count, now_ms, memory);
    pool_execute(world, pool, &snapshot, &cycle, now_ms, effects);
    /* pool_cycle_hosts() counts by a plan of its own; the nodes are the same. */
    cycle.plan = plan;
    record_quotas(pool, snapshot.uses, &cycle, memory, records, now_ms, effects);
    for (int i = 0; i < plan->n_nodes; i++) {
        records[i].unused = unused[plan->by_name[i]];
    }
    pool_persist_store(pool, plan, cycle.slots, records, effects);
    pool_table_set_cycle(pool, &cycle, memory, records, now_ms);
    pool->news = news;
}

/* ---------------------------------------------------------------- on demand */

int64_t pool_clock_ask(struct pool_table *pools, struct member *site, int64_t now_ms)
{
    int64_t n_nodes = 0;
    site->asked_ms = now_ms;
    for (int i = 0; i < pools->count; i++) {
        struct pool_entry *pool = &pools->items[i];
        n_nodes += pool->has_cycle && !pool->is_asked ? pool->cycle.plan->n_nodes : 0;
        pool->is_asked = pool->has_cycle;
    }
    return n_nodes;
}

static void set_asked(struct pool_entry *pool, int64_t now_ms)
{
    pool->is_asked = false;
    pool->look_ms = now_ms;
    pool->asked_ms =
        now_ms + ASKED_MS + pool->cycle.plan->n_nodes / ASKED_NODES * (int64_t)ASKED_MS;
}

static bool asks(const struct members *members, const struct plan_node *node,
                 int64_t since_ms)
{
    const struct member *site = plan_is_leaf(node) && node->site != NULL
                                    ? members_find(members, node->site)
                                    : NULL;
    return site != NULL && site->asked_ms > since_ms;
}

/* Grants for leaves that ask, up to what they own or reserve. Returns how many slots.
 */
static int64_t keep_owned_grants(const struct members *members,
                                 struct pool_cycle *cycle, int64_t since_ms)
{
    int64_t n_slots = 0;
    for (int i = 0; i < cycle->plan->n_nodes; i++) {
        struct pool_move *move = &cycle->moves[i];
        int64_t mine = plan_max(cycle->shares[i].scaled, cycle->shares[i].res);
        move->grant =
            move->grant > 0 && asks(members, &cycle->plan->nodes[i], since_ms)
                ? plan_max(plan_min(move->grant, mine - cycle->uses[i].alloc), 0)
                : 0;
        move->recall = move->cancel = 0;
        n_slots += move->grant;
    }
    return n_slots;
}

/* The records are those of the latest cycle, which was by the same plan. */
static void note_grants(const struct pool_entry *pool, const struct pool_cycle *cycle,
                        int64_t now_ms)
{
    for (int i = 0; i < pool->n_records; i++) {
        int node = cycle->plan->by_name[i];
        if (cycle->moves[node].grant > 0) {
            pool->records[i].moved_ms = now_ms;
            pool->records[i].moved_why = pool_explain_move(cycle, node, pool->arena);
        }
    }
}

static void grant_on_demand(const struct pool_world *world, struct pool_entry *pool,
                            int64_t local_ms, int64_t now_ms, struct effects *effects)
{
    const struct plan *plan = pool_table_plan(pool, local_ms);
    struct pool_snapshot snapshot;
    struct pool_cycle cycle;
    int64_t since_ms = pool->look_ms;
    set_asked(pool, now_ms);
    if (plan != pool->latest.plan) {
        return; /* the cycle that begins the window comes first */
    }
    pool_clock_look(world->leases, world->members, pool, plan, now_ms, &effects->arena,
                    &snapshot, &cycle);
    cycle.plan = plan; /* as in run_cycle() */
    if (keep_owned_grants(world->members, &cycle, since_ms) > 0) {
        pool_execute_grants(world, pool, &snapshot, &cycle, now_ms, effects);
        note_grants(pool, &cycle, now_ms);
    }
}

void pool_clock_recall_unplanned(struct lease *lease, int64_t now_ms,
                                 struct effects *effects)
{
    int n_held = lease_count_slots(lease) - lease_recalls_count(lease);
    if (lease->part != LEASE_LEAF || !lease->is_unplanned || !lease_is_open(lease) ||
        lease->poll_state.is_open || n_held <= 0) {
        return;
    }
    const struct lease_recalls_order order = {
        .pool = lease->recalls.pool,
        .n_slots = n_held,
        .why = pool_why_text(POOL_WHY_UNPLANNED),
        .deadline_ms = now_ms + lease->grant.grace_ms,
    };
    push_recall_add(lease, &order, now_ms, effects);
}

/* The slots of a provider that has not come back since the start must not look as if
 * they were gone. */
static bool is_waiting(const struct pool_world *world, int64_t now_ms)
{
    const struct lease_table *leases = world->leases;
    for (int i = 0; i < leases->count && now_ms < world->pools->waits_until_ms; i++) {
        const struct lease *lease = leases->items[i];
        if (lease->part != LEASE_WHOLE && lease_is_open(lease) &&
            (lease->provider->session == 0 || lease->poll_state.is_open)) {
            return true;
        }
    }
    return false;
}

/* Leaves whose hours are used up get nothing that is still on its way to them, also
 * where the provider is away. */
static void drop_grants(const struct pool_world *world, const struct pool_entry *pool,
                        const struct plan *plan, int64_t now_ms, struct arena *arena)
{
    const struct plan_hours *hours = pool_hours_of(pool, plan, now_ms, arena);
    for (int i = 0; i < world->leases->count && hours != NULL; i++) {
        struct lease *lease = world->leases->items[i];
        bool has_grant = lease->part == LEASE_LEAF && lease->grant.hosts != NULL &&
                         lease->consumer != lease->provider;
        int leaf =
            has_grant && pool_table_find_of(world->pools, world->leases, lease) == pool
                ? pool_table_find_leaf(plan, lease->node, lease->consumer->name)
                : PLAN_NO_NODE;
        if (leaf != PLAN_NO_NODE && hours[leaf].spent_by != NULL) {
            lease_grant_clear(&lease->grant);
        }
    }
}

void pool_clock_tick(const struct pool_world *world, int64_t utc_offset_ms,
                     int64_t now_ms, struct effects *effects)
{
    struct pool_table *pools = world->pools;
    pools->utc_offset_ms = utc_offset_ms;
    pool_persist_tick(pools, effects);
    for (int i = 0; i < pools->count; i++) {
        struct pool_entry *pool = &pools->items[i];
        int64_t local_ms = now_ms + utc_offset_ms;
        const struct plan *plan = pool_table_plan(pool, local_ms);
        if (pool_hours_judge(world, pool, plan, now_ms, effects)) {
            drop_grants(world, pool, plan, now_ms, &effects->arena);
            pool->next_ms = now_ms;
        }
        if (pool->next_ms > now_ms) {
            if (pool->is_asked && pool->asked_ms <= now_ms) {
                grant_on_demand(world, pool, local_ms, now_ms, effects);
            }
            continue;
        }
        set_next(pool, utc_offset_ms, now_ms);
        if (!is_waiting(world, now_ms)) {
            run_cycle(world, pool, local_ms, now_ms, effects);
            set_asked(pool, now_ms);
        }
    }
}

int64_t pool_clock_wake_ms(const struct pool_table *pools)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < pools->count; i++) {
        const struct pool_entry *pool = &pools->items[i];
        wake_ms = plan_min(wake_ms, plan_min(pool->next_ms, pool_hours_wake_ms(pool)));
        wake_ms = pool->is_asked && pool->asked_ms < wake_ms ? pool->asked_ms : wake_ms;
    }
    return wake_ms;
}
