/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c: see settle.h. Host by host, in steps that each keep what the ones before
 * have reached:
 *
 *   trim   each lease to what its policy exports: provider's slots first, then idle
 *          ones of the consumer; a withdrawn lease to what the consumer uses
 *   fit    all leases into MXJ: from the last one back, as in trim
 *   yield  idle slots of consumers, where the site's own jobs already use them (a
 * policy that is new, or a host that shrank, finds the host busy) grow   from the first
 * lease on, where there is room: a shared lease on the provider's side, an exclusive
 * one on the consumer's, and there only slots that the site's own jobs do not use
 *
 * Example: n1 has 4 slots. Lease 1 (4 slots, shared, 2:2, the consumer uses 1) is
 * withdrawn, policy 2 exports 4 exclusively to another site, and 2 own jobs run. Trim:
 * lease 1 has 1. Grow: lease 2 gets 4 - 1 - 2 = 1. When a local job ends it gets the
 * next one, and so on, each time under the next epoch. */
#include "provider/settle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct book_host *entry_of(const struct books_link *link)
{
    return &link->book->hosts[link->index];
}

/* Takes up to `n` slots out of the lease, the provider's first, never used ones of the
 * consumer. Returns how many. */
static int take_out(struct book_host *entry, int n)
{
    int from_provider = least(n, entry->provider);
    int from_consumer =
        least(n - from_provider, entry->consumer - entry->consumer_used);
    entry->provider -= from_provider;
    entry->consumer -= from_consumer;
    entry->n_slots -= from_provider + from_consumer;
    return from_provider + from_consumer;
}

static void trim(struct books_host *host)
{
    for (int i = 0; i < host->n_links; i++) {
        struct book_host *entry = entry_of(&host->links[i]);
        int wanted = host->links[i].book->is_withdrawn ? 0 : entry->n_wanted;
        if (entry->n_slots > wanted) {
            take_out(entry, entry->n_slots - wanted);
        }
    }
}

/* What the host has, where the site has told. */
static int64_t size_of(const struct books_host *host)
{
    return host->is_known ? host->max : INT_MAX;
}

/* Room beside all leases: below 0 where they do not fit. */
static int64_t room_of(const struct books_host *host)
{
    int64_t room = size_of(host);
    for (int i = 0; i < host->n_links; i++) {
        room -= entry_of(&host->links[i])->n_slots;
    }
    return room;
}

/* Slots that neither a consumer holds nor an own job uses. */
static int64_t idle_of(const struct books_host *host)
{
    int64_t idle = size_of(host) - host->local_used;
    for (int i = 0; i < host->n_links; i++) {
        idle -= entry_of(&host->links[i])->consumer;
    }
    /* Jobs that stand still keep what is there; they take nothing away for it. */
    return idle <= 0 ? idle : idle > host->local_still ? idle - host->local_still : 0;
}

static void fit(struct books_host *host)
{
    int64_t excess = -room_of(host);
    for (int i = host->n_links - 1; i >= 0 && excess > 0; i--) {
        excess -= take_out(entry_of(&host->links[i]), (int)excess);
    }
}

static void yield(struct books_host *host)
{
    int64_t excess = -idle_of(host);
    for (int i = host->n_links - 1; i >= 0 && excess > 0; i--) {
        struct book_host *entry = entry_of(&host->links[i]);
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

static void grow(struct books_host *host)
{
    int64_t room = room_of(host), idle = idle_of(host);
    for (int i = 0; i < host->n_links && room > 0; i++) {
        const struct book *book = host->links[i].book;
        struct book_host *entry = entry_of(&host->links[i]);
        int missing = book->is_withdrawn ? 0 : entry->n_wanted - entry->n_slots;
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
            books_count_consumer(entry);
            idle -= n;
        }
        room -= n;
    }
}

/* Marks what differs from before, with the reason where the export gave none. */
static void note_change(const struct books_link *link, const struct book_host *before)
{
    struct book *book = link->book;
    const struct book_host *after = entry_of(link);
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

static void settle_host(struct books_host *host)
{
    struct book_host *before = mem_alloc((size_t)host->n_links, sizeof(*before));
    for (int i = 0; i < host->n_links; i++) {
        before[i] = *entry_of(&host->links[i]);
    }
    trim(host);
    fit(host);
    yield(host);
    grow(host);
    for (int i = 0; i < host->n_links; i++) {
        note_change(&host->links[i], &before[i]);
    }
    free(before);
    host->is_unsettled = false;
}

/* The one slot that lets a shared lease be made: on its first host that has one. */
static void reserve_slot(struct book *book)
{
    if (!book->needs_reserved) {
        return;
    }
    for (int i = 0; i < book->n_hosts; i++) {
        book->needs_reserved = book->needs_reserved && book->hosts[i].consumer == 0;
    }
    for (int i = 0; i < book->n_hosts && book->needs_reserved; i++) {
        struct book_host *entry = &book->hosts[i];
        if (entry->provider > 0 && idle_of(entry->host) > 0) {
            entry->provider--;
            entry->consumer++;
            book->needs_reserved = false;
            book->is_changed = true;
        }
    }
}

/* Drops hosts that are neither exported nor used any more. */
static bool drop_hosts(struct book *book)
{
    int n_kept = 0;
    for (int i = 0; i < book->n_hosts; i++) {
        const struct book_host *entry = &book->hosts[i];
        bool is_wanted = entry->n_wanted > 0 && !book->is_withdrawn;
        if (is_wanted || entry->n_slots > 0) {
            book->hosts[n_kept++] = *entry;
        }
    }
    bool has_dropped = n_kept < book->n_hosts;
    book->n_hosts = n_kept;
    return has_dropped;
}

static void commit(struct book *book, struct effects *effects)
{
    book->epoch++;
    book->is_changed = false;
    book->is_frozen = false;
    book->is_ended = book->is_withdrawn && book->n_hosts == 0;
    book->is_dirty = true;
    books_store(book, effects);
}

void settle_books(struct books *books, struct effects *effects)
{
    for (int i = 0; i < books->n_hosts; i++) {
        if (books->hosts[i]->is_unsettled) {
            settle_host(books->hosts[i]);
        }
    }
    for (int i = 0; i < books->count; i++) {
        reserve_slot(books->items[i]);
    }
    bool has_dropped = false, has_changed = false;
    for (int i = 0; i < books->count; i++) {
        struct book *book = books->items[i];
        if (book->is_changed) {
            has_changed = true;
            has_dropped = drop_hosts(book) || has_dropped;
            commit(book, effects);
        }
    }
    if (has_dropped) {
        books_link(books);
    }
    for (int i = 0; has_changed && i < books->n_hosts; i++) {
        books_attribute(books->hosts[i]);
    }
}
