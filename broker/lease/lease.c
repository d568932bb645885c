/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: see lease.h. */
#include "broker/lease/lease.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "model/record.h"

/* The allowed moves, and the name of each in history. */
static const struct {
    enum lease_state from;
    enum lease_move move;
    enum lease_state to;
    enum history_event event;
} moves[] = {
    {LEASE_ENDED, LEASE_REGISTER, LEASE_PENDING, HISTORY_REGISTERED},

    {LEASE_PENDING, LEASE_MADE, LEASE_ACTIVE, HISTORY_MADE},
    {LEASE_PENDING, LEASE_EPOCH, LEASE_PENDING, HISTORY_CHANGED},
    {LEASE_PENDING, LEASE_WITHDRAW, LEASE_DRAINING, HISTORY_DRAINING},
    {LEASE_PENDING, LEASE_END, LEASE_ENDED, HISTORY_ENDED},

    {LEASE_ACTIVE, LEASE_FREEZE, LEASE_INACTIVE, HISTORY_INACTIVE},
    {LEASE_ACTIVE, LEASE_EPOCH, LEASE_ACTIVE, HISTORY_CHANGED},
    {LEASE_ACTIVE, LEASE_WITHDRAW, LEASE_DRAINING, HISTORY_DRAINING},
    {LEASE_ACTIVE, LEASE_END, LEASE_ENDED, HISTORY_ENDED},

    {LEASE_INACTIVE, LEASE_EPOCH, LEASE_ACTIVE, HISTORY_ACTIVE},
    {LEASE_INACTIVE, LEASE_THAW, LEASE_ACTIVE, HISTORY_ACTIVE},
    {LEASE_INACTIVE, LEASE_WITHDRAW, LEASE_DRAINING, HISTORY_DRAINING},
    {LEASE_INACTIVE, LEASE_END, LEASE_ENDED, HISTORY_ENDED},

    {LEASE_DRAINING, LEASE_MADE, LEASE_DRAINING, HISTORY_MADE},
    {LEASE_DRAINING, LEASE_EPOCH, LEASE_DRAINING, HISTORY_CHANGED},
    {LEASE_DRAINING, LEASE_RESTORE, LEASE_ACTIVE, HISTORY_CHANGED},
    {LEASE_DRAINING, LEASE_REOPEN, LEASE_PENDING, HISTORY_CHANGED},
    {LEASE_DRAINING, LEASE_END, LEASE_ENDED, HISTORY_ENDED},
};

enum { N_MOVES = sizeof(moves) / sizeof(moves[0]) };

/* The row of the table, or -1. */
static int find_move(enum lease_state from, enum lease_move move)
{
    for (int i = 0; i < N_MOVES; i++) {
        if (moves[i].from == from && moves[i].move == move) {
            return i;
        }
    }
    return -1;
}

/* Copies the part up to `end`; false if it is empty or too long. */
static bool take_part(const char *start, const char *end, char part[NAME_SIZE])
{
    size_t length = (size_t)(end - start);
    if (length == 0 || length >= NAME_SIZE) {
        return false;
    }
    memcpy(part, start, length);
    part[length] = '\0';
    return true;
}

/* "pool:NAME", or "SITE:/PATH". */
static bool take_pool_part(const char *text, const char *colon, struct lease_id *id)
{
    const char *end = colon + strlen(colon);
    if (colon[1] == '/') {
        id->part = LEASE_LEAF;
        size_t length = (size_t)(end - colon) - 1;
        if (length >= sizeof(id->node)) {
            return false;
        }
        memcpy(id->node, colon + 1, length + 1);
        return take_part(text, colon, id->consumer);
    }
    id->part = LEASE_IDLE;
    return strncmp(text, "pool:", 5) == 0 && end - colon > 1 &&
           take_part(text, end, id->consumer) && strchr(colon, '/') == NULL;
}

bool lease_parse_id(const char *text, struct lease_id *id)
{
    const char *first = strchr(text, '/');
    const char *second = first != NULL ? strchr(first + 1, '/') : NULL;
    const char *colon = second != NULL ? strchr(second, ':') : NULL;
    *id = (struct lease_id){.part = LEASE_WHOLE};
    if (second == NULL || !take_part(text, first, id->provider) ||
        !take_part(first + 1, second, id->policy)) {
        return false;
    }
    if (colon != NULL) {
        return take_pool_part(second + 1, colon, id);
    }
    return strchr(second + 1, '/') == NULL &&
           take_part(second + 1, second + 1 + strlen(second + 1), id->consumer);
}

struct lease *lease_new(const struct lease_id *id, struct member *provider,
                        struct member *consumer)
{
    struct lease *lease = mem_alloc(1, sizeof(*lease));
    size_t policy_size = strlen(id->policy) + 1, pool_size = strlen(id->consumer) + 1;
    size_t id_size =
        strlen(id->provider) + policy_size + pool_size + strlen(id->node) + 3;
    lease->texts = mem_alloc(1, id_size + policy_size + pool_size);
    lease->withheld = dup_text("");
    char *policy = lease->texts + id_size, *pool = policy + policy_size;
    snprintf(lease->texts, id_size, "%s/%s/%s%s%s", id->provider, id->policy,
             id->consumer, id->part == LEASE_LEAF ? ":" : "", id->node);
    memcpy(policy, id->policy, policy_size);
    memcpy(pool, id->consumer, pool_size);
    lease->row =
        (struct row_lease){.id = lease->texts,
                           .provider = provider->name,
                           .policy = policy,
                           .consumer = id->part == LEASE_IDLE ? pool : consumer->name,
                           .state = LEASE_ENDED,
                           .reason = lease->reason};
    lease->part = id->part;
    lease->plan_price = -1;
    lease->node = strchr(lease->texts, ':');
    lease->node = id->part == LEASE_LEAF ? lease->node + 1 : "";
    lease->timer.key = lease->row.id;
    lease->provider = provider;
    lease->consumer = consumer;
    lease->rebalance_clock = rebalance_clock_unset();
    return lease;
}

/* Cut, if need be, before a character rather than inside it. */
static void set_reason(struct lease *lease, const char *reason)
{
    size_t length = strnlen(reason, REASON_SIZE);
    if (length == REASON_SIZE) {
        length--;
        while (length > 0 && ((unsigned char)reason[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memmove(lease->reason, reason, length); /* it may be the lease's own */
    lease->reason[length] = '\0';
}

struct lease *lease_restore(const struct row_lease *row, struct member *provider,
                            struct member *consumer)
{
    struct lease_id id;
    bool is_id = lease_parse_id(row->id, &id);
    assert(is_id); /* it was one when it was stored */
    (void)is_id;
    struct lease *lease = lease_new(&id, provider, consumer);
    struct row_lease own = lease->row;
    lease->row = *row;
    lease->row.id = own.id;
    lease->row.provider = own.provider;
    lease->row.policy = own.policy;
    lease->row.consumer = own.consumer;
    lease->row.reason = own.reason;
    lease->row.hosts = NULL;
    lease->row.n_hosts = 0;
    lease->row.resources = NULL;
    lease->row.n_resources = 0;
    set_reason(lease, row->reason);
    lease_set_hosts(lease, row->hosts, row->n_hosts);
    lease_set_resources(lease, row->resources, row->n_resources);
    provider->n_leases += lease_is_open(lease);
    return lease;
}

void lease_free(struct lease *lease)
{
    if (lease == NULL) {
        return;
    }
    lease->provider->n_leases -= lease_is_open(lease);
    lease->provider->n_lease_hosts -= lease->row.n_hosts;
    lease_grant_clear(&lease->grant);
    free(lease->handover.proposal);
    free(lease->hosts);
    free(lease->resources);
    free(lease->texts);
    dup_free(lease->withheld);
    free(lease);
}

void lease_set_hosts(struct lease *lease, const struct host_split *hosts, int n_hosts)
{
    if (lease_split_has_same_hosts(lease->hosts, lease->row.n_hosts, hosts, n_hosts)) {
        for (int i = 0; i < n_hosts; i++) { /* most often: only the counts differ */
            const char *name = lease->hosts[i].host;
            lease->hosts[i] = hosts[i];
            lease->hosts[i].host = name;
        }
        return;
    }
    struct host_split *copy = lease_split_dup(hosts, n_hosts);
    free(lease->hosts);
    lease->provider->n_lease_hosts += n_hosts - lease->row.n_hosts;
    lease->hosts = copy;
    lease->row.hosts = copy;
    lease->row.n_hosts = n_hosts;
}

void lease_set_resources(struct lease *lease, const struct lease_resource *resources,
                         int n_resources)
{
    if (record_is_same_list(&schema_lease_resource, lease->resources,
                            lease->row.n_resources, resources, n_resources)) {
        return;
    }
    struct lease_resource *copy =
        record_dup_list(&schema_lease_resource, resources, n_resources);
    free(lease->resources);
    lease->resources = copy;
    lease->row.resources = copy;
    lease->row.n_resources = n_resources;
}

bool lease_is_open(const struct lease *lease)
{
    return lease->row.state != LEASE_ENDED;
}

int lease_count_slots(const struct lease *lease)
{
    int n_slots = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        n_slots += lease->row.hosts[i].is_down ? 0 : lease->row.hosts[i].n_slots;
    }
    return n_slots;
}

bool lease_is_disconnected(const struct lease *lease)
{
    return !member_is_here(lease->provider, ROLE_PROVIDER) ||
           (lease->consumer != lease->provider &&
            !member_is_here(lease->consumer, ROLE_CONSUMER));
}

/* What the latest USAGE does not name waits for nothing. */
int lease_consumer_waiting(const struct lease *lease)
{
    bool is_latest = lease->usage_number == lease->consumer->n_usages;
    return is_latest ? lease->consumer_waiting : 0;
}

void lease_raise_mark(struct lease *lease)
{
    const struct journal_mark mark = {.commits = lease->row.commits};
    msg_raise_mark(&lease->provider->mark, &mark);
}

void lease_store(const struct lease *lease, struct effects *effects)
{
    struct row row = {.kind = ROW_LEASE, .lease = lease->row};
    effects_store(effects, &row);
}

void lease_store_judged(const struct lease *lease, struct effects *effects)
{
    struct row row = {.kind = ROW_LEASE, .lease = lease->row};
    row.lease.hosts = NULL;
    row.lease.resources = NULL;
    row.lease.n_hosts = row.lease.n_resources = 0;
    row.lease.keeps_lists = true;
    effects_store(effects, &row);
}

static struct row_history history_of(const struct lease *lease,
                                     enum history_event event, int64_t now_ms)
{
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    return (struct row_history){
        .at_ms = now_ms,
        .lease = lease->row.id,
        .event = event,
        .state = msg_lease_state_name(lease->row.state),
        .epoch = lease->row.epoch,
        .provider_available = split.provider.available,
        .provider_used = split.provider.used,
        .consumer_available = split.consumer.available,
        .consumer_used = split.consumer.used,
        .reason = lease->row.reason,
    };
}

static void store_history(const struct row_history *history, struct effects *effects)
{
    struct row row = {.kind = ROW_HISTORY, .history = *history};
    effects_store(effects, &row);
}

void lease_record_recall(const struct lease *lease, enum history_event event,
                         const char *why, int n_slots, int64_t deadline_ms,
                         int64_t now_ms, struct effects *effects)
{
    struct row_history history = history_of(lease, event, now_ms);
    history.site = "";
    history.reason = why;
    history.pool = lease->recalls.pool;
    history.node = lease->node;
    history.slots = n_slots;
    history.deadline_ms = recall_waits(deadline_ms - now_ms) ? 0 : deadline_ms;
    store_history(&history, effects);
}

void lease_record_order(const struct lease *lease, enum history_event event,
                        const char *why, int64_t now_ms, struct effects *effects)
{
    struct row_history history = history_of(lease, event, now_ms);
    history.reason = why;
    store_history(&history, effects);
}

void lease_notify_consumer(struct lease *lease, int64_t now_ms)
{
    lease->push_contract.revision = 0;
    resend_begin(&lease->push_contract.resend, now_ms);
}

bool lease_may_move(const struct lease *lease, enum lease_move move)
{
    return find_move(lease->row.state, move) >= 0;
}

void lease_move(struct lease *lease, enum lease_move move, const char *reason,
                int64_t now_ms, struct effects *effects)
{
    int row = find_move(lease->row.state, move);
    assert(row >= 0);
    lease->provider->n_leases -= lease_is_open(lease);
    lease->row.state = moves[row].to;
    lease->provider->n_leases += lease_is_open(lease);
    lease->ended_session =
        lease_is_open(lease) ? lease->ended_session : lease->provider->session;
    lease->row.changed_ms = now_ms;
    set_reason(lease, reason);
    lease_store(lease, effects);
    struct row_history history = history_of(lease, moves[row].event, now_ms);
    store_history(&history, effects);
}
