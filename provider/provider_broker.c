/* SPDX-License-Identifier: Apache-2.0 */
/* provider_broker.c: the broker's requests about a contract, checked against the ledger
 * alone: FREEZE [2] and PROPOSE [4]. Those about contracts of a pool are passed on to
 * leaf_contract.c and lease_recall.c. The answer is always the whole STATE.
 *
 * FREEZE is accepted if it is based on the lease's epoch and its number is above all
 * that were accepted before. That number is in memory only: after a restart the lease
 * is not frozen, and even a late FREEZE from before is accepted. That costs at most one
 * freeze timeout and no slot, as a freeze moves nothing. A PROPOSE, with or without a
 * freeze, must pass three tests: it is based on the lease's epoch (so at most one
 * proposal is accepted on each epoch), it adds up to what is exported now, and what
 * each side uses now fits into it.
 *
 * The counts of a provider that prepares are exact only while the site holds the idle
 * hosts of a frozen lease. So its lease is frozen when the site says that they are
 * held, and a PROPOSE without a freeze gives the consumer nothing. */
#include "provider/provider_parts.h"

#include "provider/leaf_contract.h"
#include "provider/lease_recall.h"

static void freeze(struct provider *provider, struct ledger_lease *lease,
                   const struct msg_freeze *msg, int64_t now_ms)
{
    if (msg->base != lease->epoch || msg->freeze <= lease->freeze || lease->is_ended) {
        return;
    }
    lease->is_preparing = provider->prepares;
    lease->is_frozen = !lease->is_preparing;
    lease->freeze = msg->freeze;
    lease->frozen_until_ms =
        now_ms + provider->freeze_timeout_ms *
                     (lease->is_preparing ? PROVIDER_PREPARE_FREEZES : 1);
}

static bool adds_up(const struct lease_share *entry, const struct host_split *split)
{
    return split->n_slots == entry->n_slots && split->provider >= 0 &&
           split->consumer >= 0 && split->provider <= entry->n_slots &&
           split->provider + split->consumer == entry->n_slots;
}

static bool fits(const struct ledger_lease *lease, const struct lease_share *entry,
                 const struct host_split *split)
{
    bool gives_more = split->consumer > entry->consumer;
    return split->provider >= entry->provider_used &&
           split->consumer >= entry->consumer_used &&
           !(lease->is_withdrawn && gives_more);
}

static bool is_acceptable(const struct ledger_lease *lease,
                          const struct msg_propose *msg, bool may_give)
{
    /* With as many hosts, and each host of the lease, none is foreign or named twice.
     */
    if (msg->base != lease->epoch || msg->n_hosts != lease->n_hosts ||
        lease->is_ended) {
        return false;
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        const struct host_split *split = ledger_find_split(msg, i, entry->host->name);
        if (split == NULL || !adds_up(entry, split) || !fits(lease, entry, split) ||
            (!may_give && split->consumer > entry->consumer)) {
            return false;
        }
    }
    return true;
}

/* Puts the split into the lease; true if it differs. */
static bool apply(struct ledger_lease *lease, const struct msg_propose *msg)
{
    bool differs = false;
    for (int i = 0; i < lease->n_hosts; i++) {
        struct lease_share *entry = &lease->hosts[i];
        const struct host_split *split = ledger_find_split(msg, i, entry->host->name);
        differs = differs || split->consumer != entry->consumer;
        entry->provider = split->provider;
        entry->consumer = split->consumer;
        ledger_count_consumer(entry);
    }
    return differs;
}

static void propose(struct provider *provider, struct ledger_lease *lease,
                    const struct msg_propose *msg, struct effects *effects)
{
    struct ledger *ledger = &provider->ledger;
    if (leaf_contract_is_leaf(lease)) {
        leaf_contract_propose(ledger, lease, msg, effects);
        return;
    }
    if (lease->part == LEDGER_IDLE) {
        return; /* idle slots of a pool change with what its leaves have */
    }
    if (!is_acceptable(lease, msg, !provider->prepares || lease->is_frozen)) {
        return;
    }
    ledger_thaw(lease);
    if (apply(lease, msg)) {
        ledger_begin_epoch(ledger, lease);
        lease->reason[0] = '\0';
        ledger_store(lease, effects);
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        ledger_attribute(lease->hosts[i].host);
    }
}

static const char *lease_of(const struct msg *msg)
{
    if (msg->kind == MSG_FREEZE) {
        return msg->freeze.lease;
    }
    if (msg->kind == MSG_DRAIN) {
        return msg->drain.lease;
    }
    if (msg->kind == MSG_RECALL) {
        return msg->recall.lease;
    }
    return msg->kind == MSG_PROPOSE ? msg->propose.lease : msg->state_ask.lease;
}

void provider_broker_message(struct provider *provider, const struct msg *msg,
                             int64_t now_ms, struct effects *effects)
{
    if (msg->kind != MSG_FREEZE && msg->kind != MSG_PROPOSE && msg->kind != MSG_DRAIN &&
        msg->kind != MSG_STATE_ASK && msg->kind != MSG_LEASE_OPEN &&
        msg->kind != MSG_RECALL) {
        return;
    }
    provider_refresh(provider, now_ms, effects);
    struct ledger_lease *lease = ledger_find(&provider->ledger, lease_of(msg));
    if (msg->kind == MSG_LEASE_OPEN) {
        lease = leaf_contract_open(&provider->ledger, provider->site, &msg->lease_open,
                                   effects);
        if (lease != NULL) {
            provider_quota_set_price(lease, msg->lease_open.price, now_ms, effects);
        }
    }
    if (lease == NULL) {
        provider_send_unknown(provider, lease_of(msg), effects);
        return;
    }
    if (msg->kind == MSG_FREEZE) {
        freeze(provider, lease, &msg->freeze, now_ms);
    } else if (msg->kind == MSG_PROPOSE) {
        propose(provider, lease, &msg->propose, effects);
        provider_refresh(provider, now_ms,
                         effects); /* own jobs may be attributed to other leases */
    } else if (msg->kind == MSG_DRAIN) {
        provider_export_drain(provider, &msg->drain, now_ms, effects);
    } else if (msg->kind == MSG_RECALL && leaf_contract_is_leaf(lease)) {
        lease_recall_accept(lease, &msg->recall, now_ms, effects);
        for (int i = 0; i < lease->n_hosts; i++) {
            ledger_attribute(lease->hosts[i].host);
        }
        provider_refresh(provider, now_ms, effects);
    }
    provider_send_state(provider, lease, now_ms, effects);
}
