/* SPDX-License-Identifier: Apache-2.0 */
/* broker.c: see broker.h. Composes the parts: which peer may send which message, and
 * what is done about each lease when it is due.
 *
 * One table says for each message which peers may send it and which function handles
 * it. The consequences for one lease are applied at once. Those for many leases (a site
 * came, went, or has a new reclaim delay) are left to their timers, so that the work of
 * a step is bounded. */
#include "broker/broker.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

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
    pool_table_update_lease(&broker->pools, lease);
    lease_table_add(&broker->leases, lease);
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
    }
}

/* After a restart a lease on disk is unconfirmed until its provider has sent STATE and
 * its consumer has acknowledged the contract. An administrator who has restarted a
 * broker waits for the log line that says that all are confirmed. */
static void note_confirmed(struct broker *broker, struct lease *lease, int64_t now_ms,
                           struct effects *effects)
{
    bool is_open = lease_is_open(lease) &&
                   (lease_is_disconnected(lease) || lease->poll_state.is_open ||
                    lease->push_contract.resend.is_open);
    if (!lease->is_unconfirmed || is_open) {
        return;
    }
    lease->is_unconfirmed = false;
    if (--broker->n_unconfirmed == 0) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "all contracts are confirmed, %lld ms after the start",
                    (long long)(now_ms - broker->started_ms));
    }
}

static void set_due(struct broker *broker, struct lease *lease, int64_t now_ms)
{
    timer_heap_set(&broker->leases.timers, &lease->timer, now_ms);
}

void broker_start(struct broker *broker, int64_t now_ms, struct effects *effects)
{
    broker->boot++;
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
        set_due(broker, lease, now_ms);
    }
}

/* ---------------------------------------------------------------- one lease */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Does what is due about the lease, and sets its timer for what comes next. The
 * rebalance rule is applied only at the end of a batch (`may_rebalance`), by all that
 * was reported until then. */
static void do_due(struct broker *broker, struct lease *lease, bool may_rebalance,
                   int64_t now_ms, struct effects *effects)
{
    state_apply_check_members(lease, now_ms, effects);
    push_drain_refresh(lease, NULL, now_ms, effects);
    poll_state_tick(lease, now_ms, effects);
    push_drain_tick(lease, now_ms, effects);
    if (may_rebalance) {
        rebalance_clock_tick(lease, &broker->handover_limiter, now_ms, effects);
    }
    pool_clock_recall_unplanned(lease, now_ms, effects);
    push_recall_tick(lease, now_ms, effects);
    push_grant_tick(lease, now_ms, effects);
    push_evict_tick(lease, now_ms, effects);
    push_contract_tick(lease, now_ms, effects);
    handover_tick(lease, now_ms, effects);
    note_confirmed(broker, lease, now_ms, effects);
    int64_t wake_ms =
        earlier(poll_state_wake_ms(lease), rebalance_clock_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_drain_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_evict_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_contract_wake_ms(lease));
    wake_ms = earlier(wake_ms, handover_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_recall_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_grant_wake_ms(lease));
    wake_ms =
        may_rebalance ? wake_ms : earlier(wake_ms, now_ms); /* at the batch's tick */
    timer_heap_set(&broker->leases.timers, &lease->timer, wake_ms);
}

static void refresh_delay(const struct broker *broker, struct lease *lease,
                          int64_t now_ms)
{
    const struct member *provider = lease->provider;
    if (provider->session == 0) {
        return; /* its configuration will be known at its HELLO */
    }
    rebalance_clock_set_delay(lease,
                              reclaim_delay_get_ms(&broker->reclaim_delays,
                                                   lease->row.id, provider->name,
                                                   provider->reclaim_delay_ms, NULL),
                              now_ms);
}

/* ---------------------------------------------------------------- presence */

static void refresh_provided(const struct broker *broker, struct lease *lease,
                             int64_t now_ms)
{
    if (lease_is_open(lease)) {
        poll_state_begin(lease, now_ms);
    }
    push_drain_resume(lease, now_ms);
    push_recall_resume(lease, now_ms);
    refresh_delay(broker, lease, now_ms);
    lease_notify_consumer(lease, now_ms); /* its provider is here */
    if (lease->handover.phase != HANDOVER_NONE) {
        resend_set_next(&lease->handover.resend, now_ms);
    }
}

static void store_presence(const struct member *member, enum history_event what,
                           const char *reason, int64_t now_ms, struct effects *effects)
{
    member_store(member, effects);
    struct row row = {.kind = ROW_HISTORY};
    row.history = (struct row_history){.at_ms = now_ms,
                                       .lease = "",
                                       .site = member->name,
                                       .event = what,
                                       .reason = reason};
    effects_store(effects, &row);
}

/* Neither its first session nor a restart of either side is an event. */
static void note_presence(struct member *member, int64_t now_ms,
                          struct effects *effects)
{
    bool was_silent = member->silent_ms != 0;
    member->silent_ms = 0;
    if (member->is_lost) {
        member->is_lost = false;
        store_presence(member, HISTORY_SITE_BACK, "it is connected again", now_ms,
                       effects);
    } else if (!member->is_known || was_silent) {
        member_store(member, effects);
    }
    member->is_known = true;
}

static void note_absence(struct member *member, int64_t lost_after_ms, int64_t now_ms,
                         struct effects *effects)
{
    const char *reason =
        arena_printf(&effects->arena, "silent for %lld ms", (long long)lost_after_ms);
    member->is_lost = member->is_known = true;
    store_presence(member, HISTORY_SITE_LOST, reason, now_ms, effects);
    effects_log(effects, LOG_LEVEL_WARNING, "site %s is lost: %s", member->name,
                reason);
}

/* Prepares the consequences for the member's leases, which follow when their timers
 * expire. */
static void member_came(struct broker *broker, const struct member *member,
                        int64_t now_ms)
{
    struct lease *lease;
    DL_FOREACH2(member->lent, lease, next_lent)
    {
        refresh_provided(broker, lease, now_ms);
        set_due(broker, lease, now_ms);
    }
    DL_FOREACH2(member->borrowed, lease, next_borrowed)
    {
        lease_notify_consumer(lease, now_ms);
        rebalance_clock_begin_term(lease);
        set_due(broker, lease, now_ms);
    }
}

static void member_went(struct broker *broker, const struct member *member,
                        int64_t now_ms)
{
    struct lease *lease;
    DL_FOREACH2(member->lent, lease, next_lent)
    {
        lease_notify_consumer(lease, now_ms);
        set_due(broker, lease, now_ms);
    }
    DL_FOREACH2(member->borrowed, lease, next_borrowed)
    {
        set_due(broker, lease, now_ms);
    }
}

/* ---------------------------------------------------------------- messages */

/* Which peers may send a message. */
enum sender {
    SENDER_ANYONE,   /* that has a key: requests, outside of sessions */
    SENDER_SITE,     /* a site that is a member, to open a session */
    SENDER_SESSION,  /* a site, in its session */
    SENDER_PROVIDER, /* likewise, and it has that role */
    SENDER_CONSUMER,
};

/* `member` is NULL for SENDER_ANYONE. */
typedef void (*handle_fn)(struct broker *broker, struct member *member,
                          const struct event *event, struct effects *effects);

static void welcome(const struct broker *broker, const struct event *event,
                    const struct member *member, bool is_accepted,
                    struct effects *effects)
{
    struct msg msg = {.kind = MSG_WELCOME, .session = event->msg->session, .site = ""};
    msg.welcome = (struct msg_welcome){
        .is_accepted = is_accepted,
        .min_session = member->session,
        .text = is_accepted ? "" : "another session of this site is open",
        .lost_after_ms = broker->members.lost_after_ms,
        .mark = member->mark,
        .broker_commits = broker->loss.commits,
    };
    effects_send(effects, &event->from, &msg);
}

static void handle_hello(struct broker *broker, struct member *member,
                         const struct event *event, struct effects *effects)
{
    const struct msg_hello *hello = &event->msg->hello;
    if (strcmp(hello->name, member->name) != 0) {
        outbox_refuse(effects, event, ERR_DENIED,
                      "the key is that of \"%s\", not of \"%s\"", member->name,
                      hello->name);
        return;
    }
    if (event->msg->session == 0) {
        outbox_refuse(effects, event, ERR_BOUNDS, "session 0, expected a number above");
        return;
    }
    enum hello_verdict verdict =
        members_hello(&broker->members, member, event->msg->session, event->from.link,
                      hello, event->now_ms);
    if (verdict == HELLO_TOO_SOON) {
        outbox_refuse(effects, event, ERR_FULL,
                      "too many sessions, expected at most one a second");
        return;
    }
    broker_loss_learn(&broker->loss, hello->broker_commits, member->name, effects);
    welcome(broker, event, member, verdict != HELLO_REFUSED, effects);
    if (verdict == HELLO_ACCEPTED) {
        effects_log(effects, LOG_LEVEL_NOTICE, "site %s is connected, session %llu",
                    member->name, (unsigned long long)member->session);
        note_presence(member, event->now_ms, effects);
        member_came(broker, member, event->now_ms);
    }
}

/* All leases of that consumer. */
static void make_due(struct broker *broker, struct lease *borrowed, int64_t now_ms)
{
    struct lease *lease;
    DL_FOREACH2(borrowed, lease, next_borrowed)
    {
        set_due(broker, lease, now_ms);
    }
}

static void take_demand(struct broker *broker, const struct member *member,
                        const struct lease_demand *demand)
{
    struct lease *lease = lease_table_find(&broker->leases, demand->lease);
    if (lease != NULL && lease->consumer == member) {
        lease->consumer_waiting = demand->n_waiting;
        lease->is_unnamed = demand->is_unnamed;
        lease->usage_number = member->n_usages;
    }
}

static void handle_usage(struct broker *broker, struct member *member,
                         const struct event *event, struct effects *effects)
{
    const struct msg_usage *usage = &event->msg->usage;
    struct msg pong = {
        .kind = MSG_PONG,
        .pong = {.seq = usage->seq, .broker_commits = broker->loss.commits},
    };
    outbox_send(effects, member, "", &pong);
    if (member->has_usage && usage->seq < member->usage.seq) {
        return; /* late */
    }
    bool is_first = !member->has_usage;
    int64_t n_waiting = member_count_waiting(member, NULL, 0);
    member_note_mark(member, &usage->mark, event->now_ms, effects);
    member->usage = *usage;
    member->usage.demands = NULL;
    member->usage.n_demands = 0;
    member_set_demand(member, usage);
    if (member_count_waiting(member, NULL, 0) > n_waiting) {
        pool_clock_ask(&broker->pools, member, event->now_ms);
    }
    member->usage.queues = NULL;
    member->usage.n_queues = 0;
    member->usage.uses = NULL;
    member->usage.n_uses = 0;
    member->has_usage = true;
    member->n_usages++;
    for (int i = 0; i < usage->n_demands; i++) {
        take_demand(broker, member, &usage->demands[i]);
    }
    if (is_first) {
        make_due(broker, member->borrowed, event->now_ms); /* see rebalance_clock.c */
    }
}

static void handle_state(struct broker *broker, struct member *member,
                         const struct event *event, struct effects *effects)
{
    struct lease *lease = state_apply(broker, member, event, effects);
    if (lease != NULL) {
        do_due(broker, lease, false, event->now_ms, effects);
    }
}

static void handle_contract_ack(struct broker *broker, struct member *member,
                                const struct event *event, struct effects *effects)
{
    const struct msg_contract_ack *ack = &event->msg->contract_ack;
    struct lease *lease = lease_table_find(&broker->leases, ack->lease);
    if (lease != NULL && lease->consumer == member) {
        push_contract_acknowledge(lease, ack->revision);
        do_due(broker, lease, false, event->now_ms, effects);
    }
}

/* An error is never answered, as two peers that disagree would not stop. */
static void handle_error(struct broker *broker, struct member *member,
                         const struct event *event, struct effects *effects)
{
    (void)broker;
    const struct msg_error *error = &event->msg->error;
    effects_log(effects, LOG_LEVEL_WARNING, "site %s refused %s: %s", member->name,
                msg_kind_name((enum msg_kind)error->about), error->text);
}

static void handle_set_reclaim(struct broker *broker, struct member *member,
                               const struct event *event, struct effects *effects)
{
    (void)member;
    if (!broker_requests_set_reclaim(broker, event, effects)) {
        return;
    }
    for (int i = 0; i < broker->leases.count; i++) {
        struct lease *lease = broker->leases.items[i];
        int64_t before = lease->rebalance_clock.delay_ms;
        refresh_delay(broker, lease, event->now_ms);
        if (lease->rebalance_clock.delay_ms != before) {
            set_due(broker, lease, event->now_ms);
        }
    }
}

/* Which role may send what, to the broker or to the other site of a lease. All else is
 * refused. */
static const struct {
    enum msg_kind kind;
    enum sender sender;
    handle_fn handle;
} handlers[] = {
    {MSG_HELLO, SENDER_SITE, handle_hello},
    {MSG_USAGE, SENDER_SESSION, handle_usage},
    {MSG_ERROR, SENDER_SESSION, handle_error},
    {MSG_STATE, SENDER_PROVIDER, handle_state},
    {MSG_CONTRACT_ACK, SENDER_CONSUMER, handle_contract_ack},
    {MSG_START, SENDER_CONSUMER, relay_to_provider},
    {MSG_ATTEMPT_ASK, SENDER_CONSUMER, relay_to_provider},
    {MSG_ATTEMPT_ACK, SENDER_CONSUMER, relay_to_provider},
    {MSG_ATTEMPT_CONTROL, SENDER_CONSUMER, relay_to_provider},
    {MSG_OUTPUT_ASK, SENDER_CONSUMER, relay_to_provider},
    {MSG_ATTEMPT_STATE, SENDER_PROVIDER, relay_to_consumer},
    {MSG_ATTEMPT_FOUND, SENDER_PROVIDER, relay_to_consumer},
    {MSG_OUTPUT, SENDER_PROVIDER, relay_to_consumer},
    {MSG_LEASE_LOAD, SENDER_PROVIDER, relay_to_consumer},
    {MSG_LEASE_LOAD_ASK, SENDER_CONSUMER, relay_to_provider},
    {MSG_STREAM_DOWN, SENDER_CONSUMER, relay_to_provider},
    {MSG_STREAM_UP, SENDER_PROVIDER, relay_to_consumer},
    {MSG_QUERY, SENDER_ANYONE, broker_requests_query},
    {MSG_SET_RECLAIM, SENDER_ANYONE, handle_set_reclaim},
    {MSG_SET_DRAIN, SENDER_ANYONE, broker_drain_set},
    {MSG_REBALANCE, SENDER_ANYONE, broker_rebalance},
    {MSG_SNAPSHOT, SENDER_ANYONE, broker_requests_snapshot},
    {MSG_RECONFIG, SENDER_ANYONE, broker_requests_reconfig},
};

enum { N_HANDLERS = sizeof(handlers) / sizeof(handlers[0]) };

static int find_handler(enum msg_kind kind)
{
    for (int i = 0; i < N_HANDLERS; i++) {
        if (handlers[i].kind == kind) {
            return i;
        }
    }
    return -1;
}

bool broker_relays(enum msg_kind kind)
{
    int i = find_handler(kind);
    return i >= 0 && (handlers[i].handle == relay_to_provider ||
                      handlers[i].handle == relay_to_consumer);
}

/* The site that the event comes from; NULL, and refused, if it is no member. */
static struct member *find_site(const struct broker *broker, const struct event *event,
                                struct effects *effects)
{
    bool is_site = event->from.kind == PEER_SITE && event->from.name != NULL;
    struct member *member =
        is_site ? members_find(&broker->members, event->from.name) : NULL;
    if (member == NULL || member->roles_allowed == 0) {
        outbox_refuse(effects, event, ERR_DENIED, "from no site of this federation");
        return NULL;
    }
    return member;
}

/* A site whose session is unknown sends HELLO again when it gets this answer. */
static bool check_session(const struct event *event, const struct member *member,
                          struct effects *effects)
{
    if (member->session != 0 && event->msg->session == member->session) {
        return true;
    }
    if (event->msg->kind != MSG_ERROR) {
        outbox_refuse(effects, event, ERR_STALE, "session %llu is not open",
                      (unsigned long long)event->msg->session);
    }
    return false;
}

static bool check_role(const struct event *event, const struct member *member,
                       enum sender sender, struct effects *effects)
{
    int needed = sender == SENDER_PROVIDER   ? ROLE_PROVIDER
                 : sender == SENDER_CONSUMER ? ROLE_CONSUMER
                                             : 0;
    if ((member->roles & needed) == needed) {
        return true;
    }
    outbox_refuse(effects, event, ERR_DENIED, "\"%s\" has no role %s in its session",
                  member->name, sender == SENDER_PROVIDER ? "provider" : "consumer");
    return false;
}

static void note_message(struct broker *broker, struct member *member, int64_t now_ms,
                         struct effects *effects)
{
    if (members_note_message(&broker->members, member, now_ms)) {
        effects_log(effects, LOG_LEVEL_NOTICE, "site %s is back", member->name);
        note_presence(member, now_ms, effects);
        member_came(broker, member, now_ms);
    }
}

static void step_message(struct broker *broker, const struct event *event,
                         struct effects *effects)
{
    int i = find_handler(event->msg->kind);
    if (i < 0) {
        outbox_refuse(effects, event, ERR_STATE, "the broker does not accept %s",
                      msg_kind_name(event->msg->kind));
        return;
    }
    struct member *member = NULL;
    if (handlers[i].sender != SENDER_ANYONE &&
        (member = find_site(broker, event, effects)) == NULL) {
        return;
    }
    if (handlers[i].sender > SENDER_SITE) {
        if (!check_session(event, member, effects)) {
            return;
        }
        note_message(broker, member, event->now_ms, effects);
        if (!check_role(event, member, handlers[i].sender, effects)) {
            return;
        }
    }
    handlers[i].handle(broker, member, event, effects);
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
        note_absence(member, broker->members.lost_after_ms, now_ms, effects);
        member_went(broker, member, now_ms);
    }
    pool_clock_tick(&world, event->utc_offset_ms, now_ms, effects);
    struct lease *lease;
    for (int i = 0; i < LEASES_PER_TICK &&
                    (lease = lease_table_find_due(&broker->leases, now_ms)) != NULL;
         i++) {
        do_due(broker, lease, true, now_ms, effects);
    }
}

void broker_step(struct broker *broker, const struct event *event,
                 struct effects *effects)
{
    if (event->kind == EVENT_MESSAGE) {
        step_message(broker, event, effects);
    } else if (event->kind == EVENT_TICK) {
        step_tick(broker, event, effects);
        broker_loss_count_commit(&broker->loss, effects);
    } /* a closed connection means nothing: only silence does */
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

uint64_t broker_lease_behind(const struct broker *broker, const char *id)
{
    const struct lease *lease = lease_table_find(&broker->leases, id);
    return lease != NULL ? lease->behind_epoch : 0;
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
        set_due(broker, lease, now_ms);
    }
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
