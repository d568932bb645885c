/* SPDX-License-Identifier: Apache-2.0 */
/* provider_broker.c: what the broker asks about a contract, judged by the ledger alone:
 * FREEZE [2] and PROPOSE [4]; what is asked about parts of pools goes on to
 * leaf_contract.c and recall_book.c. Whatever comes, the answer is the whole STATE.
 *
 * FREEZE counts when it is based on the book's own epoch and its number is above every
 * one that was accepted before. That number is kept in memory only. After a restart the
 * book is not frozen and any number counts as new, also that of a FREEZE from before
 * which comes late. That costs one freeze time-out at most and no slot: a freeze moves
 * nothing, and a PROPOSE that follows it, or comes without one, is judged by three
 * tests that hold for themselves: it is based on the book's own epoch (so of all
 * proposals on one epoch a single one is ever accepted), it adds up to what is exported
 * now, and what each side uses now fits into it. */
#include "provider/provider_parts.h"

#include <string.h>

#include "provider/leaf_contract.h"
#include "provider/recall_book.h"

static void freeze(struct provider *provider, struct ledger_lease *book,
                   const struct msg_freeze *msg, int64_t now_ms)
{
    if (msg->base != book->epoch || msg->freeze <= book->freeze || book->is_ended) {
        return;
    }
    book->is_frozen = true;
    book->freeze = msg->freeze;
    book->frozen_until_ms = now_ms + provider->freeze_timeout_ms;
}

/* The split's entry for a host: most often at the same place. */
static const struct host_split *find_split(const struct msg_propose *msg, int place,
                                           const char *host)
{
    if (strcmp(msg->hosts[place].host, host) == 0) {
        return &msg->hosts[place];
    }
    for (int i = 0; i < msg->n_hosts; i++) {
        if (strcmp(msg->hosts[i].host, host) == 0) {
            return &msg->hosts[i];
        }
    }
    return NULL;
}

static bool adds_up(const struct lease_share *entry, const struct host_split *split)
{
    return split->n_slots == entry->n_slots && split->provider >= 0 &&
           split->consumer >= 0 && split->provider <= entry->n_slots &&
           split->provider + split->consumer == entry->n_slots;
}

static bool fits(const struct ledger_lease *book, const struct lease_share *entry,
                 const struct host_split *split)
{
    bool gives_more = split->consumer > entry->consumer;
    return split->provider >= entry->provider_used &&
           split->consumer >= entry->consumer_used &&
           !(book->is_withdrawn && gives_more);
}

static bool is_acceptable(const struct ledger_lease *book,
                          const struct msg_propose *msg)
{
    /* As many hosts, and each of the book's named: so no other, and none twice. */
    if (msg->base != book->epoch || msg->n_hosts != book->n_hosts || book->is_ended) {
        return false;
    }
    for (int i = 0; i < book->n_hosts; i++) {
        const struct lease_share *entry = &book->hosts[i];
        const struct host_split *split = find_split(msg, i, entry->host->name);
        if (split == NULL || !adds_up(entry, split) || !fits(book, entry, split)) {
            return false;
        }
    }
    return true;
}

/* Puts the split into the book; true where it differs. */
static bool apply(struct ledger_lease *book, const struct msg_propose *msg)
{
    bool differs = false;
    for (int i = 0; i < book->n_hosts; i++) {
        struct lease_share *entry = &book->hosts[i];
        const struct host_split *split = find_split(msg, i, entry->host->name);
        differs = differs || split->consumer != entry->consumer;
        entry->provider = split->provider;
        entry->consumer = split->consumer;
        ledger_count_consumer(entry);
    }
    return differs;
}

static void propose(struct ledger *ledger, struct ledger_lease *book,
                    const struct msg_propose *msg, struct effects *effects)
{
    if (leaf_contract_is_leaf(book)) {
        leaf_contract_propose(ledger, book, msg, effects);
        return;
    }
    if (book->part == LEDGER_IDLE) {
        return; /* what is idle in a pool changes with what its leaves have */
    }
    if (!is_acceptable(book, msg)) {
        return;
    }
    book->is_frozen = false;
    if (apply(book, msg)) {
        book->epoch++;
        book->reason[0] = '\0';
        ledger_store(book, effects);
    }
    for (int i = 0; i < book->n_hosts; i++) {
        ledger_attribute(book->hosts[i].host);
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
    struct ledger_lease *book = ledger_find(&provider->ledger, lease_of(msg));
    if (msg->kind == MSG_LEASE_OPEN) {
        book = leaf_contract_open(&provider->ledger, provider->site,
                                  msg->lease_open.lease, effects);
    }
    if (book == NULL) {
        provider_tell_unknown(provider, lease_of(msg), effects);
        return;
    }
    if (msg->kind == MSG_FREEZE) {
        freeze(provider, book, &msg->freeze, now_ms);
    } else if (msg->kind == MSG_PROPOSE) {
        propose(&provider->ledger, book, &msg->propose, effects);
        provider_refresh(provider, now_ms, effects); /* own jobs may count elsewhere */
    } else if (msg->kind == MSG_DRAIN) {
        provider_export_drain(provider, &msg->drain, now_ms, effects);
    } else if (msg->kind == MSG_RECALL && leaf_contract_is_leaf(book)) {
        recall_book_accept(book, &msg->recall, now_ms, effects);
        for (int i = 0; i < book->n_hosts; i++) {
            ledger_attribute(book->hosts[i].host);
        }
        provider_refresh(provider, now_ms, effects);
    }
    provider_tell(provider, book, now_ms, effects);
}
