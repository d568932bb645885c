/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.c: see reconcile.h. Host by host, in steps none of which undoes an earlier
 * one:
 *
 *   trim   each lease to what its policy exports: the provider's slots first, then
 *          idle ones of the consumer. A withdrawn lease keeps what the consumer uses.
 *          The leases of a policy that exports to a pool count together, and the
 *          pool's idle slots are taken first
 *   fit    all leases into MXJ, from the last one back, as in trim
 *   yield  idle slots of consumers that the site's own jobs use already (if the policy
 *          is new, or the host shrank)
 *   grow   from the first lease on, while there is room: a shared lease on the
 *          provider's side, an exclusive one on the consumer's, with slots that the
 *          site's own jobs do not use; a shared lease only where no other consumer's
 *          shared lease drains
 *
 * Example: n1 has 4 slots. Lease 1 (4 slots, shared, 2:2, the consumer uses 1) is
 * withdrawn, policy 2 exports 4 exclusively to another site, and 2 own jobs run. Trim:
 * lease 1 has 1. Grow: lease 2 gets 4 - 1 - 2 = 1. When a local job ends it gets the
 * next one, and so on, each time under the next epoch. */
#include "provider/reconcile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/exported_resources.h"
#include "provider/leaf_contract.h"
#include "provider/lease_recall.h"

/* Each round but the first uses slots that the one before has made idle. It ends long
 * before this bound. */
enum { ROUNDS_MAX = 8 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct lease_share *entry_of(const struct ledger_link *link)
{
    return &link->lease->hosts[link->index];
}

/* Takes up to `n` slots out of the lease: the provider's first, then idle ones of the
 * consumer. The site's own leaf gives idle ones only. Returns how many. */
static int take_out(struct ledger_link *link, int n)
{
    struct lease_share *entry = entry_of(link);
    bool is_leaf = link->lease->part == LEDGER_OWN_LEAF;
    int from_provider =
        least(n, entry->provider - (is_leaf ? entry->provider_used : 0));
    int from_consumer =
        least(n - from_provider, entry->consumer - entry->consumer_used);
    entry->provider -= from_provider;
    entry->consumer -= from_consumer;
    entry->n_slots -= from_provider + from_consumer;
    return from_provider + from_consumer;
}

/* The contract with the pool's idle slots; NULL: nothing of the host is exported to the
 * pool any more. */
static const struct ledger_link *find_idle(const struct ledger_host *host,
                                           const struct ledger_lease *leaf)
{
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        if (lease->part == LEDGER_IDLE && !lease->is_withdrawn &&
            ledger_is_same_policy(lease, leaf)) {
            return &host->links[i];
        }
    }
    return NULL;
}

/* Slots of the host that leaves of the policy hold. */
static int held_by_leaves(const struct ledger_host *host, const struct ledger_lease *of)
{
    int n_held = 0;
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        if (leaf_contract_is_leaf(lease) && ledger_is_same_policy(lease, of)) {
            n_held += entry_of(&host->links[i])->n_slots;
        }
    }
    return n_held;
}

/* How many slots the lease should have here at most. A leaf keeps what it has, less
 * what the policy does not export any more. */
static int wanted_of(const struct ledger_host *host, const struct ledger_link *link)
{
    const struct ledger_lease *lease = link->lease;
    int n_wanted = entry_of(link)->n_wanted;
    if (lease->is_withdrawn || lease->is_withheld) {
        return 0;
    }
    if (lease->part == LEDGER_IDLE) {
        int rest = n_wanted - held_by_leaves(host, lease);
        return rest > 0 ? rest : 0;
    }
    if (leaf_contract_is_leaf(lease)) {
        const struct ledger_link *idle = find_idle(host, lease);
        int exported = idle != NULL ? entry_of(idle)->n_wanted : 0;
        int excess = held_by_leaves(host, lease) - exported;
        int rest = entry_of(link)->n_slots - (excess > 0 ? excess : 0);
        return rest > 0 ? rest : 0;
    }
    return n_wanted;
}

/* From the last lease back. */
static void trim(struct ledger_host *host)
{
    for (int i = host->n_links - 1; i >= 0; i--) {
        struct ledger_link *link = &host->links[i];
        int excess = entry_of(link)->n_slots - wanted_of(host, link);
        if (excess > 0) {
            take_out(link, excess);
        }
    }
}

/* MXJ; no bound if the site has not reported the host. */
static int64_t size_of(const struct ledger_host *host)
{
    return host->is_known ? host->max : INT_MAX;
}

/* Slots that no lease has; below 0 if the leases do not fit. */
static int64_t room_of(const struct ledger_host *host)
{
    int64_t room = size_of(host);
    for (int i = 0; i < host->n_links; i++) {
        room -= entry_of(&host->links[i])->n_slots;
    }
    return room;
}

/* Slots that neither a consumer holds nor an own job uses. */
static int64_t idle_of(const struct ledger_host *host)
{
    int64_t idle = size_of(host) - host->local_used;
    for (int i = 0; i < host->n_links; i++) {
        idle -= entry_of(&host->links[i])->consumer;
    }
    /* Suspended jobs block idle slots, but take none away from a consumer. */
    return idle <= 0                    ? idle
           : idle > host->local_yielded ? idle - host->local_yielded
                                        : 0;
}

/* Idle slots of a pool are taken before those of a leaf. */
static bool is_in_round(const struct ledger_link *link, int round)
{
    return (link->lease->part == LEDGER_IDLE) == (round == 0);
}

static void fit(struct ledger_host *host)
{
    int64_t excess = -room_of(host);
    for (int k = 0; k < 2 * host->n_links && excess > 0; k++) {
        struct ledger_link *link = &host->links[host->n_links - 1 - k % host->n_links];
        if (is_in_round(link, k / host->n_links)) {
            excess -= take_out(link, (int)excess);
        }
    }
}

static void yield(struct ledger_host *host)
{
    int64_t excess = -idle_of(host);
    for (int k = 0; k < 2 * host->n_links && excess > 0; k++) {
        int i = host->n_links - 1 - k % host->n_links;
        struct lease_share *entry = entry_of(&host->links[i]);
        if (!is_in_round(&host->links[i], k / host->n_links)) {
            continue;
        }
        int n = least((int)excess, entry->consumer - entry->consumer_used);
        entry->consumer -= n;
        if (host->links[i].lease->type == LEASE_SHARED) {
            entry->provider += n;
        } else {
            entry->n_slots -= n;
        }
        excess -= n;
    }
}

/* A shared lease that was withdrawn from another consumer has slots here still. The
 * hosts of a shared lease are exported to one consumer only, so a policy that changes
 * its consumer waits on each host until the old lease has drained there. */
static bool waits_for_other(const struct ledger_host *host,
                            const struct ledger_lease *lease)
{
    for (int i = 0; i < host->n_links && lease->type == LEASE_SHARED; i++) {
        const struct ledger_lease *other = host->links[i].lease;
        if (other->is_withdrawn && other->type == LEASE_SHARED &&
            strcmp(other->consumer, lease->consumer) != 0 &&
            other->hosts[host->links[i].index].n_slots > 0) {
            return true;
        }
    }
    return false;
}

static void grow(struct ledger_host *host)
{
    int64_t room = room_of(host), idle = idle_of(host);
    for (int i = 0; i < host->n_links && room > 0; i++) {
        const struct ledger_lease *lease = host->links[i].lease;
        struct lease_share *entry = entry_of(&host->links[i]);
        int missing = wanted_of(host, &host->links[i]) - entry->n_slots;
        int64_t free_slots = lease->type == LEASE_SHARED || room < idle ? room : idle;
        if (missing <= 0 || free_slots <= 0 || waits_for_other(host, lease)) {
            continue;
        }
        int n = missing < free_slots ? missing : (int)free_slots;
        entry->n_slots += n;
        if (lease->type == LEASE_SHARED) {
            entry->provider += n;
        } else {
            entry->consumer += n;
            ledger_count_consumer(entry);
            idle -= n;
        }
        room -= n;
    }
}

/* Marks a lease that has changed, with a reason if it has none yet. */
static void note_change(struct ledger_link *link, const struct lease_share *before)
{
    struct ledger_lease *lease = link->lease;
    const struct lease_share *after = entry_of(link);
    if (after->n_slots == before->n_slots && after->consumer == before->consumer) {
        return;
    }
    if (lease->is_revised) {
        snprintf(lease->reason, sizeof(lease->reason), "export policy changed");
    } else if (!lease->is_changed && !lease->is_withdrawn) {
        snprintf(lease->reason, sizeof(lease->reason), "%s %s",
                 after->n_slots < before->n_slots     ? "fewer slots on host"
                 : after->consumer < before->consumer ? "own jobs use slots of host"
                                                      : "slots became free on host",
                 after->host->name);
    }
    lease->is_changed = true;
}

/* Memory and swap space are part of the contract. */
static void note_spaces(struct ledger_link *link, const struct lease_share *before)
{
    struct ledger_lease *lease = link->lease;
    const struct lease_share *after = entry_of(link);
    if (exported_resources_is_same_memory(after->spaces, before->spaces)) {
        return;
    }
    if (!lease->is_changed && !lease->is_revised) {
        snprintf(lease->reason, sizeof(lease->reason),
                 "memory or swap space of host %s", after->host->name);
    } else if (!lease->is_changed) {
        snprintf(lease->reason, sizeof(lease->reason), "export policy changed");
    }
    lease->is_changed = true;
}

static void reconcile_host(struct ledger_host *host)
{
    struct lease_share *before = mem_alloc((size_t)host->n_links, sizeof(*before));
    for (int i = 0; i < host->n_links; i++) {
        before[i] = *entry_of(&host->links[i]);
    }
    trim(host);
    fit(host);
    yield(host);
    grow(host);
    export_memory_reconcile(host);
    for (int i = 0; i < host->n_links; i++) {
        note_change(&host->links[i], &before[i]);
        note_spaces(&host->links[i], &before[i]);
    }
    free(before);
    host->needs_reconcile = false;
}

/* A job could start there: it is not down, and no exclusive job uses it. */
static bool is_usable(const struct ledger_host *host)
{
    return !host->is_down && !host->is_used_exclusively;
}

/* The consumer's slot on a host that can take a job; else any slot of its, or NULL. */
static struct lease_share *find_reserved(const struct ledger_lease *lease)
{
    struct lease_share *found = NULL;
    for (int i = 0; i < lease->n_hosts; i++) {
        struct lease_share *entry = &lease->hosts[i];
        if (entry->consumer > 0 && is_usable(entry->host)) {
            return entry;
        }
        found = found == NULL && entry->consumer > 0 ? entry : found;
    }
    return found;
}

/* The first host with an idle slot of the provider's. */
static struct lease_share *find_idle_slot(const struct ledger_lease *lease,
                                          bool must_be_usable)
{
    for (int i = 0; i < lease->n_hosts; i++) {
        struct lease_share *entry = &lease->hosts[i];
        if (entry->provider > 0 && idle_of(entry->host) > 0 &&
            (is_usable(entry->host) || !must_be_usable)) {
            return entry;
        }
    }
    return NULL;
}

static void move_reserved(struct lease_share *entry, bool to_consumer)
{
    int n_slots = !entry->host->is_whole ? 1
                  : to_consumer          ? entry->provider
                                         : entry->consumer;
    entry->provider -= to_consumer ? n_slots : -n_slots;
    entry->consumer += to_consumer ? n_slots : -n_slots;
    ledger_count_consumer(entry);
}

/* Gives a shared lease the one slot that lets it be made, on the first host that can
 * take a job. If no host can, the first with an idle slot has it until one can. Of a
 * host that is not divided all slots are reserved. */
static void reserve_slot(struct ledger_lease *lease)
{
    if (lease->type != LEASE_SHARED || lease->is_made || lease->is_withdrawn) {
        return;
    }
    struct lease_share *from = find_reserved(lease);
    if (from != NULL && is_usable(from->host)) {
        return;
    }
    struct lease_share *to = find_idle_slot(lease, true);
    if (to == NULL && from == NULL) {
        to = find_idle_slot(lease, false);
    }
    if (to == NULL) {
        return;
    }
    if (from != NULL) {
        move_reserved(from, false);
    }
    if (from != NULL && !lease->is_changed) {
        snprintf(lease->reason, sizeof(lease->reason),
                 "the reserved slot moves to host %s: host %s accepts no jobs",
                 to->host->name, from->host->name);
    }
    move_reserved(to, true);
    lease->is_changed = true;
}

/* Drops hosts that are neither exported nor used any more. */
static bool drop_hosts(struct ledger_lease *lease)
{
    int n_left = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        bool is_wanted = entry->n_wanted > 0 && !lease->is_withdrawn;
        if (is_wanted || entry->n_slots > 0) {
            lease->hosts[n_left++] = *entry;
        }
    }
    bool has_dropped = n_left < lease->n_hosts;
    lease->n_hosts = n_left;
    return has_dropped;
}

static void commit(const struct ledger *ledger, struct ledger_lease *lease,
                   struct effects *effects)
{
    ledger_begin_epoch(ledger, lease);
    lease->is_changed = false;
    ledger_thaw(lease);
    lease->is_ended = lease->is_withdrawn && lease->n_hosts == 0;
    lease->is_dirty = true;
    if (lease->is_ended) {
        ledger_set_resources(lease, NULL, 0);
    }
    ledger_store(lease, effects);
}

/* Stores each contract that changed, under its next epoch. True if there was one. */
static bool commit_all(struct ledger *ledger, struct effects *effects)
{
    bool has_dropped = false, has_changed = false;
    for (int i = 0; i < ledger->count; i++) {
        struct ledger_lease *lease = ledger->items[i];
        if (lease->is_changed) {
            has_changed = true;
            has_dropped = drop_hosts(lease) || has_dropped;
            commit(ledger, lease, effects);
            ledger->needs_reshare |= lease->is_ended;
        }
    }
    if (has_dropped) {
        ledger_link(ledger);
    }
    ledger->n_changes += has_changed;
    return has_changed;
}

/* Slots of own jobs may be attributed to other leases now, so that a leaf of the site
 * has idle slots to return. True if so. */
static bool attribute_all(struct ledger *ledger)
{
    bool needs_reconcile = false;
    for (int i = 0; i < ledger->n_hosts; i++) {
        ledger_attribute(ledger->hosts[i]);
        needs_reconcile |= ledger->hosts[i]->needs_reconcile;
    }
    return needs_reconcile;
}

/* True if another round is needed. */
static bool reconcile_once(struct ledger *ledger, struct effects *effects)
{
    for (int i = 0; i < ledger->count; i++) {
        lease_recall_reconcile(ledger->items[i], effects);
    }
    for (int i = 0; i < ledger->n_hosts; i++) {
        if (ledger->hosts[i]->needs_reconcile) {
            reconcile_host(ledger->hosts[i]);
        }
    }
    for (int i = 0; i < ledger->count; i++) {
        reserve_slot(ledger->items[i]);
    }
    shared_instances_reconcile(ledger);
    if (!commit_all(ledger, effects)) {
        return false;
    }
    return attribute_all(ledger) || ledger->needs_reshare;
}

void reconcile(struct ledger *ledger, struct effects *effects)
{
    for (int i = 0; i < ROUNDS_MAX && reconcile_once(ledger, effects); i++) {
    }
}
