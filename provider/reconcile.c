/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.c: see reconcile.h. Host by host, in steps that each keep what the ones
 * before have reached:
 *
 *   trim   each lease to what its policy exports: provider's slots first, then idle
 *          ones of the consumer; a withdrawn lease to what the consumer uses. Of a
 *          policy that exports to a pool all parts together, what is idle in it first
 *   fit    all leases into MXJ: from the last one back, as in trim
 *   yield  idle slots of consumers, where the site's own jobs already use them (a
 *          policy that is new, or a host that shrank, finds the host busy)
 *   grow   from the first lease on, where there is room: a shared lease on the
 *          provider's side, an exclusive one on the consumer's, and there only slots
 *          that the site's own jobs do not use
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
#include "provider/export_memory.h"
#include "provider/recall_book.h"
#include "provider/shared_instances.h"

/* Each round but the first takes what a change of the one before has left idle: there
 * is an end to it, long before this. */
enum { ROUNDS_MAX = 8 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct lease_share *entry_of(const struct ledger_link *link)
{
    return &link->book->hosts[link->index];
}

/* Takes up to `n` slots out of the lease, the provider's first, never used ones of the
 * consumer; the provider's own part of a pool is as a consumer's. Returns how many. */
static int take_out(const struct ledger_link *link, int n)
{
    struct lease_share *entry = entry_of(link);
    bool is_leaf = link->book->part == LEDGER_OWN_LEAF;
    int from_provider =
        least(n, entry->provider - (is_leaf ? entry->provider_used : 0));
    int from_consumer =
        least(n - from_provider, entry->consumer - entry->consumer_used);
    entry->provider -= from_provider;
    entry->consumer -= from_consumer;
    entry->n_slots -= from_provider + from_consumer;
    return from_provider + from_consumer;
}

static bool is_leaf(const struct ledger_lease *book)
{
    return book->part == LEDGER_LEAF || book->part == LEDGER_OWN_LEAF;
}

/* The part that holds what is idle in the pool; NULL: nothing of the host is exported
 * to it any more. */
static const struct ledger_link *find_idle(const struct ledger_host *host,
                                           const struct ledger_lease *leaf)
{
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *book = host->links[i].book;
        if (book->part == LEDGER_IDLE && !book->is_withdrawn &&
            ledger_is_same_policy(book, leaf)) {
            return &host->links[i];
        }
    }
    return NULL;
}

/* Slots of the host that leaves of the policy have. */
static int held_by_leaves(const struct ledger_host *host, const struct ledger_lease *of)
{
    int n_held = 0;
    for (int i = 0; i < host->n_links; i++) {
        const struct ledger_lease *book = host->links[i].book;
        if (is_leaf(book) && ledger_is_same_policy(book, of)) {
            n_held += entry_of(&host->links[i])->n_slots;
        }
    }
    return n_held;
}

/* What the lease should have here at most. Of leaves: what they have, but for what the
 * policy does not export any more. */
static int wanted_of(const struct ledger_host *host, const struct ledger_link *link)
{
    const struct ledger_lease *book = link->book;
    int n_wanted = entry_of(link)->n_wanted;
    if (book->is_withdrawn) {
        return 0;
    }
    if (book->part == LEDGER_IDLE) {
        int rest = n_wanted - held_by_leaves(host, book);
        return rest > 0 ? rest : 0;
    }
    if (is_leaf(book)) {
        const struct ledger_link *idle = find_idle(host, book);
        int exported = idle != NULL ? entry_of(idle)->n_wanted : 0;
        int excess = held_by_leaves(host, book) - exported;
        int kept = entry_of(link)->n_slots - (excess > 0 ? excess : 0);
        return kept > 0 ? kept : 0;
    }
    return n_wanted;
}

/* From the last lease back: of leaves the last gives first. */
static void trim(struct ledger_host *host)
{
    for (int i = host->n_links - 1; i >= 0; i--) {
        const struct ledger_link *link = &host->links[i];
        int excess = entry_of(link)->n_slots - wanted_of(host, link);
        if (excess > 0) {
            take_out(link, excess);
        }
    }
}

/* What the host has, where the site has told. */
static int64_t size_of(const struct ledger_host *host)
{
    return host->is_known ? host->max : INT_MAX;
}

/* Room beside all leases: below 0 where they do not fit. */
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
    /* Jobs that stand still keep what is there; they take nothing away for it. */
    return idle <= 0                    ? idle
           : idle > host->local_yielded ? idle - host->local_yielded
                                        : 0;
}

/* What nobody has in a pool goes before what somebody has. */
static bool is_turn(const struct ledger_link *link, int round)
{
    return (link->book->part == LEDGER_IDLE) == (round == 0);
}

static void fit(struct ledger_host *host)
{
    int64_t excess = -room_of(host);
    for (int k = 0; k < 2 * host->n_links && excess > 0; k++) {
        const struct ledger_link *link =
            &host->links[host->n_links - 1 - k % host->n_links];
        if (is_turn(link, k / host->n_links)) {
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
        if (!is_turn(&host->links[i], k / host->n_links)) {
            continue;
        }
        int n = least((int)excess, entry->consumer - entry->consumer_used);
        entry->consumer -= n;
        if (host->links[i].book->type == LEASE_SHARED) {
            entry->provider += n;
        } else {
            entry->n_slots -= n;
        }
        excess -= n;
    }
}

static void grow(struct ledger_host *host)
{
    int64_t room = room_of(host), idle = idle_of(host);
    for (int i = 0; i < host->n_links && room > 0; i++) {
        const struct ledger_lease *book = host->links[i].book;
        struct lease_share *entry = entry_of(&host->links[i]);
        int missing = wanted_of(host, &host->links[i]) - entry->n_slots;
        int64_t free_slots = book->type == LEASE_SHARED || room < idle ? room : idle;
        if (missing <= 0 || free_slots <= 0) {
            continue;
        }
        int n = missing < free_slots ? missing : (int)free_slots;
        entry->n_slots += n;
        if (book->type == LEASE_SHARED) {
            entry->provider += n;
        } else {
            entry->consumer += n;
            ledger_count_consumer(entry);
            idle -= n;
        }
        room -= n;
    }
}

/* Marks what differs from before, with the reason where the export gave none. */
static void note_change(const struct ledger_link *link,
                        const struct lease_share *before)
{
    struct ledger_lease *book = link->book;
    const struct lease_share *after = entry_of(link);
    if (after->n_slots == before->n_slots && after->consumer == before->consumer) {
        return;
    }
    if (book->is_revised) {
        snprintf(book->reason, sizeof(book->reason), "export policy changed");
    } else if (!book->is_changed && !book->is_withdrawn) {
        snprintf(book->reason, sizeof(book->reason), "%s %s",
                 after->n_slots < before->n_slots     ? "fewer slots on host"
                 : after->consumer < before->consumer ? "own jobs use slots of host"
                                                      : "slots fell free on host",
                 after->host->name);
    }
    /* The slot that lets the lease be made may be among what was taken. */
    bool is_unmade =
        book->type == LEASE_SHARED && !book->is_made && !book->is_withdrawn;
    book->needs_reserved = book->needs_reserved || is_unmade;
    book->is_changed = true;
}

/* Memory and swap space are part of the contract. */
static void note_spaces(const struct ledger_link *link,
                        const struct lease_share *before)
{
    struct ledger_lease *book = link->book;
    const struct lease_share *after = entry_of(link);
    if (exported_resources_is_same_memory(after->spaces, before->spaces)) {
        return;
    }
    if (!book->is_changed && !book->is_revised) {
        snprintf(book->reason, sizeof(book->reason), "memory or swap space of host %s",
                 after->host->name);
    } else if (!book->is_changed) {
        snprintf(book->reason, sizeof(book->reason), "export policy changed");
    }
    book->is_changed = true;
}

static void settle_host(struct ledger_host *host)
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

/* The one slot that lets a shared lease be made: on its first host that has one. */
static void reserve_slot(struct ledger_lease *book)
{
    if (!book->needs_reserved) {
        return;
    }
    for (int i = 0; i < book->n_hosts; i++) {
        book->needs_reserved = book->needs_reserved && book->hosts[i].consumer == 0;
    }
    for (int i = 0; i < book->n_hosts && book->needs_reserved; i++) {
        struct lease_share *entry = &book->hosts[i];
        if (entry->provider > 0 && idle_of(entry->host) > 0) {
            entry->provider--;
            entry->consumer++;
            book->needs_reserved = false;
            book->is_changed = true;
        }
    }
}

/* Drops hosts that are neither exported nor used any more. */
static bool drop_hosts(struct ledger_lease *book)
{
    int n_kept = 0;
    for (int i = 0; i < book->n_hosts; i++) {
        const struct lease_share *entry = &book->hosts[i];
        bool is_wanted = entry->n_wanted > 0 && !book->is_withdrawn;
        if (is_wanted || entry->n_slots > 0) {
            book->hosts[n_kept++] = *entry;
        }
    }
    bool has_dropped = n_kept < book->n_hosts;
    book->n_hosts = n_kept;
    return has_dropped;
}

static void commit(struct ledger_lease *book, struct effects *effects)
{
    book->epoch++;
    book->is_changed = false;
    book->is_frozen = false;
    book->is_ended = book->is_withdrawn && book->n_hosts == 0;
    book->is_dirty = true;
    if (book->is_ended) {
        ledger_set_resources(book, NULL, 0);
    }
    ledger_store(book, effects);
}

/* Each contract that changed, under its next epoch. True where there was one. */
static bool commit_all(struct ledger *ledger, struct effects *effects)
{
    bool has_dropped = false, has_changed = false;
    for (int i = 0; i < ledger->count; i++) {
        struct ledger_lease *book = ledger->items[i];
        if (book->is_changed) {
            has_changed = true;
            has_dropped = drop_hosts(book) || has_dropped;
            commit(book, effects);
            ledger->needs_reshare |= book->is_ended;
        }
    }
    if (has_dropped) {
        ledger_link(ledger);
    }
    ledger->n_changes += has_changed;
    return has_changed;
}

/* Own jobs count elsewhere now: what the site has as a leaf there may be idle, and too
 * much. True where that may be so. */
static bool attribute_all(struct ledger *ledger)
{
    bool needs_reconcile = false;
    for (int i = 0; i < ledger->n_hosts; i++) {
        ledger_attribute(ledger->hosts[i]);
        needs_reconcile |= ledger->hosts[i]->needs_reconcile;
    }
    return needs_reconcile;
}

/* True where it is to be done once more. */
static bool settle_once(struct ledger *ledger, struct effects *effects)
{
    for (int i = 0; i < ledger->count; i++) {
        recall_book_reconcile(ledger->items[i], effects);
    }
    for (int i = 0; i < ledger->n_hosts; i++) {
        if (ledger->hosts[i]->needs_reconcile) {
            settle_host(ledger->hosts[i]);
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
    for (int i = 0; i < ROUNDS_MAX && settle_once(ledger, effects); i++) {
    }
}
