/* SPDX-License-Identifier: Apache-2.0 */
/* recall_book.c: see recall_book.h. */
#include "provider/recall_book.h"

#include <limits.h>
#include <stdio.h>

#include "base/whole_hosts.h"

static int used_of(const struct lease_share *entry)
{
    return entry->provider_used + entry->consumer_used; /* a leaf has one side */
}

static int count_used(const struct ledger_lease *book)
{
    int n_used = 0;
    for (int i = 0; i < book->n_hosts; i++) {
        n_used += used_of(&book->hosts[i]);
    }
    return n_used;
}

int recall_book_limit(const struct ledger_lease *book)
{
    return book->n_recalls > 0 ? book->recalls[book->n_recalls - 1].n_held : INT_MAX;
}

void recall_book_accept(struct ledger_lease *book, const struct msg_recall *msg,
                        int64_t now_ms, struct effects *effects)
{
    if (msg->number <= book->recall) {
        return;
    }
    book->recall = msg->number;
    book->is_whole = msg->is_whole;
    book->n_recalls = book->n_due = 0;
    for (int i = 0; i < msg->n_recalls && i < RECALLS_MAX; i++) {
        book->recalls[book->n_recalls++] = (struct row_recall){
            msg->recalls[i].n_held, now_ms + msg->recalls[i].left_ms};
    }
    recall_book_tick(book, now_ms);
    book->is_dirty = true;
    ledger_store(book, effects);
}

/* ---------------------------------------------------------------- giving back */

/* Marks the hosts that go, so that at most `n` slots do. Those that are idle cost
 * nothing, those that were marked before next to nothing. Returns their slots. */
static int mark_going(const struct ledger_lease *book, int n, struct arena *arena)
{
    struct whole_host *hosts =
        arena_alloc(arena, (size_t)book->n_hosts, sizeof(*hosts));
    for (int i = 0; i < book->n_hosts; i++) {
        const struct lease_share *entry = &book->hosts[i];
        hosts[i].n_slots = entry->n_slots;
        int n_used = used_of(entry);
        hosts[i].n_used = n_used == 0 ? 0 : entry->is_recalled_whole ? 1 : n_used + 1;
    }
    int sum = whole_hosts_pick(hosts, book->n_hosts, n, arena);
    for (int i = 0; i < book->n_hosts; i++) {
        book->hosts[i].is_recalled_whole = hosts[i].is_picked;
    }
    return sum;
}

/* Up to `n` slots of one host; a leaf holds them on one side. */
static int take_idle(const struct ledger_lease *book, struct lease_share *entry, int n)
{
    int idle = entry->n_slots - used_of(entry);
    if (book->is_whole && (!entry->is_recalled_whole || used_of(entry) > 0)) {
        return 0;
    }
    n = idle < n ? idle : n;
    entry->n_slots -= n;
    *(book->part == LEDGER_OWN_LEAF ? &entry->provider : &entry->consumer) -= n;
    entry->host->needs_reconcile |= n > 0;
    return n;
}

/* Strikes off what the contract is down to. True where there was such. */
static bool strike_off(struct ledger_lease *book, int n_held)
{
    int n_done = 0;
    while (n_done < book->n_recalls && book->recalls[n_done].n_held >= n_held) {
        n_done++;
    }
    for (int i = n_done; i < book->n_recalls; i++) {
        book->recalls[i - n_done] = book->recalls[i];
    }
    book->n_recalls -= n_done;
    book->n_due = book->n_due > n_done ? book->n_due - n_done : 0;
    return n_done > 0;
}

void recall_book_reconcile(struct ledger_lease *book, struct effects *effects)
{
    if (book->n_recalls == 0) {
        return;
    }
    int n_held = ledger_count_held(book), n_before = n_held;
    bool can_go =
        !book->is_whole || n_held <= recall_book_limit(book) ||
        mark_going(book, n_held - recall_book_limit(book), &effects->arena) > 0;
    for (int i = book->n_hosts - 1; i >= 0 && n_held > recall_book_limit(book); i--) {
        n_held -= take_idle(book, &book->hosts[i], n_held - recall_book_limit(book));
    }
    bool is_done = strike_off(book, can_go ? n_held : INT_MIN);
    if (n_held < n_before) {
        book->is_changed = true;
        snprintf(book->reason, sizeof(book->reason), "recalled slots went back");
    } else if (is_done) {
        book->is_dirty = true;
        ledger_store(book, effects);
    }
}

/* ---------------------------------------------------------------- time */

void recall_book_tick(struct ledger_lease *book, int64_t now_ms)
{
    while (book->n_due < book->n_recalls &&
           book->recalls[book->n_due].deadline_ms <= now_ms) {
        book->n_due++;
    }
}

/* Of the hosts that go by then; those of a later deadline come after them. */
static int overdue_whole(const struct ledger_lease *book, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts)
{
    struct host_slots *list = arena_alloc(arena, (size_t)book->n_hosts, sizeof(*list));
    int n_used = 0;
    int left = ledger_count_held(book) - book->recalls[book->n_due - 1].n_held;
    for (int i = book->n_hosts - 1; i >= 0; i--) {
        const struct lease_share *entry = &book->hosts[i];
        if (!entry->is_recalled_whole || entry->n_slots > left) {
            continue;
        }
        left -= entry->n_slots;
        if (used_of(entry) > 0) {
            list[(*n_hosts)++] = (struct host_slots){entry->host->name, used_of(entry)};
            n_used += used_of(entry);
        }
    }
    *hosts = list;
    return n_used;
}

int recall_book_overdue(const struct ledger_lease *book, struct arena *arena,
                        const struct host_slots **hosts, int *n_hosts)
{
    *hosts = NULL;
    *n_hosts = 0;
    if (book->n_due == 0) {
        return 0;
    }
    if (book->is_whole) {
        return overdue_whole(book, arena, hosts, n_hosts);
    }
    int excess = count_used(book) - book->recalls[book->n_due - 1].n_held;
    return excess > 0 ? excess : 0;
}

int64_t recall_book_wake_ms(const struct ledger_lease *book)
{
    return book->n_due < book->n_recalls ? book->recalls[book->n_due].deadline_ms
                                         : INT64_MAX;
}
