/* SPDX-License-Identifier: Apache-2.0 */
/* broker_messages.c: which peer may send which message, and what the broker does about
 * it.
 *
 * One table says for each message which peers may send it and which function handles
 * it. The consequences for one lease are applied at once. Those for many leases (a site
 * is here, is lost, or has a new reclaim delay) are left to their timers, so that the
 * work of a step is bounded. */
#include <string.h>

#include <utlist.h>

#include "broker/broker_parts.h"
#include "broker/push/push.h"

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
        outbox_refuse(effects, event, ERR_BOUNDS,
                      "session 0, expected a number above 0");
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
        broker_presence_begin(broker, member, event->now_ms, effects);
    }
}

/* All leases of that consumer. */
static void make_due(struct broker *broker, struct lease *borrowed, int64_t now_ms)
{
    struct lease *lease;
    DL_FOREACH2(borrowed, lease, next_borrowed)
    {
        broker_due_set(broker, lease, now_ms);
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
        broker->n_asked_nodes += pool_clock_ask(&broker->pools, member, event->now_ms);
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
        broker_due_run(broker, lease, false, event->now_ms, effects);
    }
}

static void handle_contract_ack(struct broker *broker, struct member *member,
                                const struct event *event, struct effects *effects)
{
    const struct msg_contract_ack *ack = &event->msg->contract_ack;
    struct lease *lease = lease_table_find(&broker->leases, ack->lease);
    if (lease != NULL && lease->consumer == member) {
        push_contract_acknowledge(lease, ack->revision);
        broker_due_run(broker, lease, false, event->now_ms, effects);
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
        broker_due_set_delay(broker, lease, event->now_ms);
        if (lease->rebalance_clock.delay_ms != before) {
            broker_due_set(broker, lease, event->now_ms);
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
    {MSG_LEDGER_ASK, SENDER_SESSION, relay_to_other},
    {MSG_LEDGER, SENDER_SESSION, relay_to_other},
    {MSG_STREAM_DOWN, SENDER_CONSUMER, relay_to_provider},
    {MSG_STREAM_UP, SENDER_PROVIDER, relay_to_consumer},
    {MSG_QUERY, SENDER_ANYONE, broker_requests_query},
    {MSG_SET_RECLAIM, SENDER_ANYONE, handle_set_reclaim},
    {MSG_SET_DRAIN, SENDER_ANYONE, broker_drain_set},
    {MSG_REBALANCE, SENDER_ANYONE, broker_rebalance},
    {MSG_SNAPSHOT, SENDER_ANYONE, broker_requests_snapshot},
    {MSG_RECONFIG, SENDER_ANYONE, broker_requests_reconfig},
    {MSG_STEP_DOWN, SENDER_ANYONE, broker_requests_step_down},
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

bool broker_messages_is_relayed(enum msg_kind kind)
{
    int i = find_handler(kind);
    return i >= 0 && (handlers[i].handle == relay_to_provider ||
                      handlers[i].handle == relay_to_consumer ||
                      handlers[i].handle == relay_to_other);
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
        broker_presence_begin(broker, member, now_ms, effects);
    }
}

void broker_messages_step(struct broker *broker, const struct event *event,
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
