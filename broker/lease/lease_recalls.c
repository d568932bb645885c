/* SPDX-License-Identifier: Apache-2.0 */
/* lease_recalls.c: see lease_recalls.h. */
#include "broker/lease/lease_recalls.h"

#include <stdio.h>
#include <string.h>

#include "broker/lease/lease.h"

int lease_recalls_count_held(const struct lease *lease)
{
    int n_held = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        n_held += lease->row.hosts[i].n_slots;
    }
    return n_held;
}

/* What the contract holds once all recalls are done. */
static int count_wanted(const struct lease *lease)
{
    const struct lease_recalls *recalls = &lease->recalls;
    int n_held = lease_recalls_count_held(lease);
    int n_wanted =
        recalls->n_bounds > 0 ? recalls->bounds[recalls->n_bounds - 1].n_held : n_held;
    return n_wanted < n_held ? n_wanted : n_held;
}

int lease_recalls_count(const struct lease *lease)
{
    return lease_recalls_count_held(lease) - count_wanted(lease);
}

int lease_recalls_count_idle_down(const struct lease *lease)
{
    int n_idle = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        const struct host_split *split = &lease->row.hosts[i];
        n_idle += split->is_down
                      ? split->n_slots - split->provider_used - split->consumer_used
                      : 0;
    }
    return n_idle > 0 ? n_idle : 0;
}

int lease_recalls_count_usable(const struct lease *lease)
{
    int n_usable = lease_recalls_count(lease) - lease_recalls_count_idle_down(lease);
    return n_usable > 0 ? n_usable : 0;
}

int lease_recalls_count_waiting(const struct lease *lease, int64_t now_ms)
{
    const struct lease_recalls *recalls = &lease->recalls;
    if (recalls->n_bounds == 0 ||
        !recall_waits(recalls->bounds[recalls->n_bounds - 1].deadline_ms - now_ms)) {
        return 0;
    }
    int n_held = lease_recalls_count_held(lease);
    int before =
        recalls->n_bounds > 1 ? recalls->bounds[recalls->n_bounds - 2].n_held : n_held;
    return (before < n_held ? before : n_held) - count_wanted(lease);
}

void lease_recalls_add(struct lease *lease, const struct lease_recalls_order *order,
                       int64_t now_ms, struct effects *effects)
{
    struct lease_recalls *recalls = &lease->recalls;
    int64_t deadline_ms = order->deadline_ms;
    int n_wanted = count_wanted(lease) - order->n_slots;
    struct lease_recalls_bound *last =
        recalls->n_bounds > 0 ? &recalls->bounds[recalls->n_bounds - 1] : NULL;
    bool is_full = recalls->n_bounds == RECALLS_MAX;
    if (is_full && recall_waits(deadline_ms - now_ms) &&
        !recall_waits(last->deadline_ms - now_ms)) {
        return; /* the earlier slots must not lose their deadline */
    }
    if (last != NULL && last->deadline_ms > deadline_ms) {
        deadline_ms = last->deadline_ms; /* the grace was shortened meanwhile */
    }
    bool is_merged = last != NULL && (last->deadline_ms >= deadline_ms || is_full ||
                                      recall_waits(last->deadline_ms - now_ms));
    if (!is_merged) {
        last = &recalls->bounds[recalls->n_bounds++];
        *last = (struct lease_recalls_bound){.n_held = 0};
    }
    last->n_held = n_wanted > 0 ? n_wanted : 0;
    last->n_slots += order->n_slots;
    last->deadline_ms = deadline_ms;
    recalls->is_whole = order->is_whole;
    snprintf(recalls->pool, sizeof(recalls->pool), "%s", order->pool);
    lease_record_recall(lease, HISTORY_RECALL, order->why, order->n_slots, deadline_ms,
                        now_ms, effects);
}

void lease_recalls_cancel(struct lease *lease, int n_slots)
{
    struct lease_recalls *recalls = &lease->recalls;
    int n_held = lease_recalls_count_held(lease),
        n_wanted = count_wanted(lease) + n_slots;
    for (int i = 0; i < recalls->n_bounds; i++) {
        if (recalls->bounds[i].n_held <= n_wanted) {
            int before = i > 0 ? recalls->bounds[i - 1].n_held : n_held;
            recalls->bounds[i].n_held = n_wanted;
            recalls->bounds[i].n_slots = before - n_wanted;
            recalls->n_bounds = i + 1; /* later bounds are lower still */
        }
    }
    if (n_wanted >= n_held) {
        recalls->n_bounds = 0;
    }
}

void lease_recalls_settle(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct lease_recalls *recalls = &lease->recalls;
    int n_held = lease_recalls_count_held(lease), n_done = 0;
    while (n_done < recalls->n_bounds && recalls->bounds[n_done].n_held >= n_held) {
        const struct lease_recalls_bound *done = &recalls->bounds[n_done];
        lease_record_recall(lease, HISTORY_RECALL_DONE, "the slots have been returned",
                            done->n_slots, done->deadline_ms, now_ms, effects);
        n_done++;
    }
    recalls->n_bounds -= n_done;
    memmove(recalls->bounds, recalls->bounds + n_done,
            (size_t)recalls->n_bounds * sizeof(recalls->bounds[0]));
}

bool lease_recalls_replace(struct lease *lease, const struct msg_state *state,
                           int64_t now_ms)
{
    struct lease_recalls *recalls = &lease->recalls;
    bool is_same = recalls->n_bounds == state->n_recalls;
    for (int i = 0; i < state->n_recalls && is_same; i++) {
        is_same = recalls->bounds[i].n_held == state->recalls[i].n_held;
    }
    if (is_same) {
        return false; /* the deadlines stay what they were when first stated */
    }
    int before = lease_recalls_count_held(lease);
    recalls->n_bounds = 0;
    for (int i = 0; i < state->n_recalls && i < RECALLS_MAX; i++) {
        const struct recall *recall = &state->recalls[i];
        recalls->bounds[recalls->n_bounds++] = (struct lease_recalls_bound){
            recall->n_held, before - recall->n_held, now_ms + recall->left_ms};
        before = recall->n_held;
    }
    return true;
}

void lease_recalls_fill(const struct lease_recalls *recalls, int64_t now_ms,
                        struct arena *arena, const struct recall **list, int *n_list)
{
    struct recall *items =
        arena_alloc(arena, (size_t)recalls->n_bounds, sizeof(*items));
    for (int i = 0; i < recalls->n_bounds; i++) {
        int64_t left_ms = recalls->bounds[i].deadline_ms - now_ms;
        items[i] =
            (struct recall){recalls->bounds[i].n_held, left_ms > 0 ? left_ms : 0};
    }
    *list = items;
    *n_list = recalls->n_bounds;
}
