/* SPDX-License-Identifier: Apache-2.0 */
/* lease_recall.c: see lease_recall.h. */
#include "provider/lease_recall.h"

#include <limits.h>
#include <stdio.h>

#include "base/whole_hosts.h"

static int used_of(const struct lease_share *entry)
{
    return entry->provider_used + entry->consumer_used; /* a leaf has one side */
}

static int count_used(const struct ledger_lease *lease)
{
    int n_used = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        n_used += used_of(&lease->hosts[i]);
    }
    return n_used;
}

int lease_recall_limit(const struct ledger_lease *lease)
{
    return lease->n_recalls > 0 ? lease->recalls[lease->n_recalls - 1].n_held : INT_MAX;
}

void lease_recall_accept(struct ledger_lease *lease, const struct msg_recall *msg,
                         int64_t now_ms, struct effects *effects)
{
    if (msg->number <= lease->recall) {
        return;
    }
    lease->recall = msg->number;
    lease->is_whole = msg->is_whole;
    lease->n_recalls = lease->n_due = 0;
    for (int i = 0; i < msg->n_recalls && i < RECALLS_MAX; i++) {
        lease->recalls[lease->n_recalls++] = (struct row_recall){
            msg->recalls[i].n_held, now_ms + msg->recalls[i].left_ms};
    }
    lease_recall_tick(lease, now_ms);
    lease->is_dirty = true;
    ledger_store(lease, effects);
}

/* ---------------------------------------------------------------- giving back */

/* Chooses whole hosts of at most `n` slots to give back. Idle ones cost nothing, and
 * those that were chosen before almost nothing. Returns their slots. */
static int choose_hosts(struct ledger_lease *lease, int n, struct arena *arena)
{
    struct whole_host *hosts =
        arena_alloc(arena, (size_t)lease->n_hosts, sizeof(*hosts));
    for (int i = 0; i < lease->n_hosts; i++) {
        const struct lease_share *entry = &lease->hosts[i];
        hosts[i].n_slots = entry->n_slots;
        int n_used = used_of(entry);
        hosts[i].n_used = n_used == 0 ? 0 : entry->is_recalled_whole ? 1 : n_used + 1;
    }
    int sum = whole_hosts_pick(hosts, lease->n_hosts, n, arena);
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].is_recalled_whole = hosts[i].is_picked;
    }
    return sum;
}

static bool is_down(const struct ledger_host *host)
{
    return host->is_down || host->is_used_exclusively;
}

/* Takes up to `n` idle slots of one host; a leaf has slots on one side only. */
static int take_idle(const struct ledger_lease *lease, struct lease_share *entry, int n)
{
    int idle = entry->n_slots - used_of(entry);
    if (lease->is_whole && (!entry->is_recalled_whole || used_of(entry) > 0)) {
        return 0;
    }
    n = idle < n ? idle : n;
    entry->n_slots -= n;
    *(lease->part == LEDGER_OWN_LEAF ? &entry->provider : &entry->consumer) -= n;
    entry->host->needs_reconcile |= n > 0;
    return n;
}

/* Removes the recalls that are met. True if there was one. */
static bool remove_met(struct ledger_lease *lease, int n_held)
{
    int n_done = 0;
    while (n_done < lease->n_recalls && lease->recalls[n_done].n_held >= n_held) {
        n_done++;
    }
    for (int i = n_done; i < lease->n_recalls; i++) {
        lease->recalls[i - n_done] = lease->recalls[i];
    }
    lease->n_recalls -= n_done;
    lease->n_due = lease->n_due > n_done ? lease->n_due - n_done : 0;
    return n_done > 0;
}

void lease_recall_reconcile(struct ledger_lease *lease, struct effects *effects)
{
    if (lease->n_recalls == 0) {
        return;
    }
    int n_held = ledger_count_held(lease), n_before = n_held;
    bool can_go =
        !lease->is_whole || n_held <= lease_recall_limit(lease) ||
        choose_hosts(lease, n_held - lease_recall_limit(lease), &effects->arena) > 0;
    /* Slots of hosts that are down first: those who get them cannot use them, and the
     * broker has asked for so many more. */
    for (int k = 2 * lease->n_hosts - 1; k >= 0 && n_held > lease_recall_limit(lease);
         k--) {
        struct lease_share *entry = &lease->hosts[k % lease->n_hosts];
        bool is_round_of_down = k >= lease->n_hosts;
        if (is_down(entry->host) == is_round_of_down) {
            n_held -= take_idle(lease, entry, n_held - lease_recall_limit(lease));
        }
    }
    bool is_done = remove_met(lease, can_go ? n_held : INT_MIN);
    if (n_held < n_before) {
        lease->is_changed = true;
        snprintf(lease->reason, sizeof(lease->reason), "recalled slots were returned");
    } else if (is_done) {
        lease->is_dirty = true;
        ledger_store(lease, effects);
    }
}

/* ---------------------------------------------------------------- time */

void lease_recall_tick(struct ledger_lease *lease, int64_t now_ms)
{
    while (lease->n_due < lease->n_recalls &&
           lease->recalls[lease->n_due].deadline_ms <= now_ms) {
        lease->n_due++;
    }
}

/* Used slots of the chosen hosts whose deadline has passed. */
static int overdue_whole(const struct ledger_lease *lease, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts)
{
    struct host_slots *list = arena_alloc(arena, (size_t)lease->n_hosts, sizeof(*list));
    int n_used = 0;
    int left = ledger_count_held(lease) - lease->recalls[lease->n_due - 1].n_held;
    for (int i = lease->n_hosts - 1; i >= 0; i--) {
        const struct lease_share *entry = &lease->hosts[i];
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

int lease_recall_overdue(const struct ledger_lease *lease, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts)
{
    *hosts = NULL;
    *n_hosts = 0;
    if (lease->n_due == 0) {
        return 0;
    }
    if (lease->is_whole) {
        return overdue_whole(lease, arena, hosts, n_hosts);
    }
    int excess = count_used(lease) - lease->recalls[lease->n_due - 1].n_held;
    return excess > 0 ? excess : 0;
}

int64_t lease_recall_wake_ms(const struct ledger_lease *lease)
{
    return lease->n_due < lease->n_recalls ? lease->recalls[lease->n_due].deadline_ms
                                           : INT64_MAX;
}
