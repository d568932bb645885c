/* SPDX-License-Identifier: Apache-2.0 */
/* broker.c: see broker.h. Composes the parts: what is loaded, what happens at a tick,
 * and what readers are shown. */
#include "broker/broker.h"

#include <stdlib.h>
#include <string.h>

#include "broker/broker_parts.h"
#include "broker/pool/pool_table.h"
#include "broker/push/push.h"

enum {
    /* Of one tick: some milliseconds of work. The rest is due at once, after the shell
     * has looked for messages. */
    LEASES_PER_TICK = 256,
    MEMBERS_PER_TICK = 64,
};

static const char boot_counter[] = "boot";

/* ---------------------------------------------------------------- life */

struct broker *broker_new(const struct broker_config *config)
{
    struct broker *broker = mem_alloc(1, sizeof(*broker));
    members_init(&broker->members, config);
    lease_table_init(&broker->leases);
    reclaim_delay_init(&broker->reclaim_delays);
    pool_table_init(&broker->pools, config);
    streams_init(&broker->streams, STREAMS_ALL_PER_S);
    broker->hour_ms = config->hour_ms;
    return broker;
}

void broker_free(struct broker *broker)
{
    if (broker == NULL) {
        return;
    }
    pool_table_release(&broker->pools);
    reclaim_delay_release(&broker->reclaim_delays);
    lease_table_release(&broker->leases);
    members_release(&broker->members);
    free(broker);
}

static void load_lease(struct broker *broker, const struct row_lease *row)
{
    struct member *provider = members_find_or_retire(&broker->members, row->provider);
    if (row->state == LEASE_ENDED &&
        !lease_table_make_room(&broker->leases, provider)) {
        return; /* it is in history */
    }
    bool is_idle = strncmp(row->consumer, "pool:", 5) == 0;
    struct member *consumer =
        is_idle ? provider : members_find_or_retire(&broker->members, row->consumer);
    struct lease *lease = lease_restore(row, provider, consumer);
    rebalance_clock_restore(lease);
    lease_raise_mark(lease);
    pool_table_update_lease(&broker->pools, lease);
    lease_table_add(&broker->leases, lease);
}

static void load_hours(struct broker *broker, const struct row_hours *row)
{
    if (row->pool[0] != '\0') {
        pool_persist_load_hours(&broker->pools, row);
        return;
    }
    struct lease *lease = lease_table_find(&broker->leases, row->name);
    if (lease != NULL) {
        lease->hours_level = (enum quota_level)row->level;
    }
}

void broker_load(struct broker *broker, const struct row *row)
{
    if (row->kind == ROW_COUNTER && strcmp(row->counter.name, boot_counter) == 0) {
        broker->boot = row->counter.value;
    } else if (row->kind == ROW_COUNTER) {
        broker_loss_load(&broker->loss, &row->counter);
    } else if (row->kind == ROW_OVERRIDE) {
        reclaim_delay_set(&broker->reclaim_delays, row->override.scope,
                          row->override.name, row->override.delay_ms);
    } else if (row->kind == ROW_SITE) {
        members_load(&broker->members, &row->site);
    } else if (row->kind == ROW_LEASE) {
        load_lease(broker, &row->lease);
    } else if (row->kind == ROW_POOL) {
        pool_persist_load_pool(&broker->pools, &row->pool);
    } else if (row->kind == ROW_KEPT) {
        pool_persist_load_carried(&broker->pools, &row->kept);
    } else if (row->kind == ROW_HOURS) {
        load_hours(broker, &row->hours);
    }
}

void broker_start(struct broker *broker, int64_t now_ms, struct effects *effects)
{
    broker->boot++;
    broker->has_started = true;
    struct row row = {.kind = ROW_COUNTER};
    row.counter = (struct row_counter){.name = boot_counter, .value = broker->boot};
    effects_store(effects, &row);
    broker_loss_start(&broker->loss, effects);
    members_start(&broker->members, now_ms, effects);
    pool_clock_start(&broker->pools, broker->members.lost_after_ms, now_ms);
    broker->started_ms = now_ms;
    for (int i = 0; i < broker->leases.count; i++) {
        struct lease *lease = broker->leases.items[i];
        lease_notify_consumer(lease, now_ms);
        push_drain_resume(lease, now_ms);
        if (lease->row.state == LEASE_INACTIVE) {
            handover_resume(lease, now_ms);
        }
        lease->is_unconfirmed = lease_is_open(lease);
        broker->n_unconfirmed += lease->is_unconfirmed;
        broker_due_set(broker, lease, now_ms);
    }
}

/* ---------------------------------------------------------------- time */

static void step_tick(struct broker *broker, const struct event *event,
                      struct effects *effects)
{
    int64_t now_ms = event->now_ms;
    struct pool_world world = {&broker->pools, &broker->leases, &broker->members};
    struct member *member;
    for (int i = 0; i < MEMBERS_PER_TICK &&
                    (member = members_lose(&broker->members, now_ms)) != NULL;
         i++) {
        broker_presence_end(broker, member, now_ms, effects);
    }
    pool_clock_tick(&world, event->utc_offset_ms, now_ms, effects);
    struct lease *lease;
    for (int i = 0; i < LEASES_PER_TICK &&
                    (lease = lease_table_find_due(&broker->leases, now_ms)) != NULL;
         i++) {
        broker_due_run(broker, lease, true, now_ms, effects);
    }
}

void broker_step(struct broker *broker, const struct event *event,
                 struct effects *effects)
{
    if (event->kind == EVENT_MESSAGE) {
        broker_messages_step(broker, event, effects);
    } else if (event->kind == EVENT_TICK) {
        step_tick(broker, event, effects);
        broker_loss_count_commit(&broker->loss, effects);
    } /* a closed connection means nothing: only silence does */
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t broker_wake_ms(const struct broker *broker)
{
    return earlier(earlier(members_wake_ms(&broker->members),
                           timer_heap_wake_ms(&broker->leases.timers)),
                   pool_clock_wake_ms(&broker->pools));
}

/* ---------------------------------------------------------------- for readers */

uint64_t broker_look(struct broker *broker)
{
    return revision_look(broker);
}

bool broker_has_pool(const struct broker *broker, const char *name)
{
    return pool_table_find(&broker->pools, name) != NULL;
}

uint64_t broker_boot(const struct broker *broker)
{
    return broker->boot;
}

int broker_count_pools(const struct broker *broker)
{
    return broker->pools.count;
}

const struct pool_cycle *broker_pool_cycle(const struct broker *broker, int index,
                                           const char **name, int64_t *at_ms)
{
    const struct pool_entry *pool = &broker->pools.items[index];
    *name = pool->name;
    *at_ms = pool->cycle_ms;
    return pool->has_cycle ? &pool->cycle : NULL;
}

int64_t broker_site_last_message_ms(const struct broker *broker, const char *site)
{
    const struct member *member = members_find(&broker->members, site);
    return member != NULL && member->session != 0 ? member->last_message_ms : 0;
}

bool broker_site_after(const struct broker *broker, const char *name, bool with_it,
                       struct peer *site, uint64_t *session)
{
    for (int i = 0; i < broker->members.count; i++) {
        const struct member *member = broker->members.items[i];
        if (strcmp(member->name, name) >= (with_it ? 0 : 1) &&
            (member->roles_allowed & (ROLE_PROVIDER | ROLE_CONSUMER)) != 0) {
            *site = (struct peer){.kind = PEER_SITE,
                                  .name = member->name,
                                  .link = member->link,
                                  .roles = member->roles_allowed};
            *session = member->is_lost ? 0 : member->session;
            return true;
        }
    }
    return false;
}

uint64_t broker_lease_behind(const struct broker *broker, const char *id)
{
    const struct lease *lease = lease_table_find(&broker->leases, id);
    return lease != NULL ? lease->behind_epoch : 0;
}

static double hours_ratio(int64_t used_ms, int64_t n_hours)
{
    return n_hours > 0 ? (double)used_ms / (double)(n_hours * QUOTA_HOUR_MS) : -1;
}

double broker_lease_hours_ratio(const struct broker *broker, const char *id)
{
    const struct lease *lease = lease_table_find(&broker->leases, id);
    return lease != NULL ? hours_ratio(lease->hours_ms, lease->n_hours) : -1;
}

void broker_each_hours(const struct broker *broker, int64_t now_ms, struct arena *arena,
                       broker_hours_fn see, void *arg)
{
    for (int i = 0; i < broker->pools.count; i++) {
        const struct pool_entry *pool = &broker->pools.items[i];
        const struct plan *plan =
            pool_table_plan(pool, now_ms + broker->pools.utc_offset_ms);
        const struct plan_hours *hours = pool_hours_of(pool, plan, now_ms, arena);
        for (int k = 0; hours != NULL && k < plan->n_nodes; k++) {
            const struct plan_node *node = &plan->nodes[k];
            if (node->hours > 0) {
                see(arg, pool->name, node->name,
                    hours_ratio(hours[k].used_ms, node->hours));
            }
        }
    }
}

int64_t broker_take_asked_nodes(struct broker *broker)
{
    int64_t n_nodes = broker->n_asked_nodes;
    broker->n_asked_nodes = 0;
    return n_nodes;
}

void broker_site_streams(const struct broker *broker, const char *site,
                         uint64_t *n_bytes, uint64_t *n_dropped)
{
    const struct member *member = members_find(&broker->members, site);
    *n_bytes = member != NULL ? member->streams.n_bytes : 0;
    *n_dropped = member != NULL ? member->streams.n_dropped : 0;
}

/* ---------------------------------------------------------------- reload */

void broker_reload(struct broker *broker, const struct broker_config *config,
                   int64_t now_ms)
{
    members_reload(&broker->members, config, now_ms);
    pool_clock_reload(&broker->pools, config, now_ms);
    for (int i = 0; i < broker->leases.count; i++) {
        struct lease *lease = broker->leases.items[i];
        pool_table_update_lease(&broker->pools, lease);
        lease_notify_consumer(lease, now_ms); /* a provider may be gone */
        broker_due_set(broker, lease, now_ms);
    }
}

void broker_record_reload(const char *who, int64_t now_ms, struct effects *effects)
{
    member_record(
        "", HISTORY_RELOAD,
        arena_printf(&effects->arena, "The configuration is reloaded. By %s.", who),
        now_ms, effects);
}

/* ---------------------------------------------------------------- for invariants */

bool broker_find_lease(const struct broker *broker, const char *id,
                       struct row_lease *lease)
{
    const struct lease *found = lease_table_find(&broker->leases, id);
    if (found != NULL) {
        *lease = found->row;
    }
    return found != NULL;
}

int broker_count_leases(const struct broker *broker)
{
    return broker->leases.count;
}

const char *broker_lease_id(const struct broker *broker, int index)
{
    return broker->leases.items[index]->row.id;
}

int broker_find_lease_after(const struct broker *broker, const char *id)
{
    return lease_table_find_after(&broker->leases, id);
}
