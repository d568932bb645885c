/* SPDX-License-Identifier: Apache-2.0 */
/* push_recall.c: see push_recall.h. */
#include "broker/push/push_recall.h"

#include <stdio.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "broker/member/outbox.h"
#include "broker/pool/pool_events.h"

enum {
    FIRST_WAIT_MS = 500,
    LAST_WAIT_MS = 5000, /* a provider that does not answer is busy: be patient */
};

static int held_of(const struct lease *lease)
{
    int n_held = 0;
    for (int i = 0; i < lease->row.n_hosts; i++) {
        n_held += lease->row.hosts[i].n_slots;
    }
    return n_held;
}

/* What it is to hold in the end. */
static int wanted_of(const struct lease *lease)
{
    const struct push_recall *recalling = &lease->recalling;
    int n_held = held_of(lease);
    int n_wanted =
        recalling->n_caps > 0 ? recalling->caps[recalling->n_caps - 1].n_held : n_held;
    return n_wanted < n_held ? n_wanted : n_held;
}

int push_recall_count(const struct lease *lease)
{
    return held_of(lease) - wanted_of(lease);
}

static void open(struct lease *lease, int64_t now_ms)
{
    lease->recalling.is_open = true;
    lease->recalling.next_ms = now_ms;
    lease->recalling.wait_ms = FIRST_WAIT_MS;
}

/* The order under the next number, and the site with it. */
static void give(struct lease *lease, int64_t now_ms)
{
    lease->recalling.number++;
    open(lease, now_ms);
    push_contract_renew(lease, now_ms);
}

void push_recall_add(struct lease *lease, const struct push_recall_order *order,
                     int64_t now_ms, struct effects *effects)
{
    struct push_recall *recalling = &lease->recalling;
    int64_t deadline_ms = order->deadline_ms;
    int n_wanted = wanted_of(lease) - order->n_slots;
    struct push_recall_cap *last =
        recalling->n_caps > 0 ? &recalling->caps[recalling->n_caps - 1] : NULL;
    if (last != NULL && last->deadline_ms > deadline_ms) {
        deadline_ms = last->deadline_ms; /* the grace was shortened meanwhile */
    }
    if (last == NULL ||
        (last->deadline_ms < deadline_ms && recalling->n_caps < RECALLS_MAX)) {
        last = &recalling->caps[recalling->n_caps++];
        *last = (struct push_recall_cap){.n_held = 0};
    }
    last->n_held = n_wanted > 0 ? n_wanted : 0;
    last->n_slots += order->n_slots;
    last->deadline_ms = deadline_ms;
    recalling->is_whole = order->is_whole;
    snprintf(recalling->pool, sizeof(recalling->pool), "%s", order->pool);
    give(lease, now_ms);
    pool_events_recall(lease, order->n_slots, deadline_ms, order->why, now_ms, effects);
}

void push_recall_cancel(struct lease *lease, int n_slots, int64_t now_ms)
{
    struct push_recall *recalling = &lease->recalling;
    int n_held = held_of(lease), n_wanted = wanted_of(lease) + n_slots;
    for (int i = 0; i < recalling->n_caps; i++) {
        if (recalling->caps[i].n_held < n_wanted) {
            int before = i > 0 ? recalling->caps[i - 1].n_held : n_held;
            recalling->caps[i].n_held = n_wanted;
            recalling->caps[i].n_slots = before - n_wanted;
            recalling->n_caps = i + 1; /* what follows wanted less yet */
        }
    }
    if (n_wanted >= n_held) {
        recalling->n_caps = 0;
    }
    give(lease, now_ms);
}

/* ---------------------------------------------------------------- STATE */

/* What is home: bounds that the contract has come down to. */
static void note_done(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct push_recall *recalling = &lease->recalling;
    int n_held = held_of(lease), n_done = 0;
    while (n_done < recalling->n_caps && recalling->caps[n_done].n_held >= n_held) {
        pool_events_recall_done(lease, recalling->caps[n_done].n_slots,
                                recalling->caps[n_done].deadline_ms, now_ms, effects);
        n_done++;
    }
    recalling->n_caps -= n_done;
    memmove(recalling->caps, recalling->caps + n_done,
            (size_t)recalling->n_caps * sizeof(recalling->caps[0]));
}

static void take_list(struct lease *lease, const struct msg_state *state,
                      int64_t now_ms)
{
    struct push_recall *recalling = &lease->recalling;
    bool is_same = recalling->n_caps == state->n_recalls;
    for (int i = 0; i < state->n_recalls && is_same; i++) {
        is_same = recalling->caps[i].n_held == state->recalls[i].n_held;
    }
    if (is_same) {
        return; /* the deadlines are as they were when it was told first */
    }
    int before = held_of(lease);
    recalling->n_caps = 0;
    for (int i = 0; i < state->n_recalls && i < RECALLS_MAX; i++) {
        const struct recall *recall = &state->recalls[i];
        recalling->caps[recalling->n_caps++] = (struct push_recall_cap){
            recall->n_held, before - recall->n_held, now_ms + recall->left_ms};
        before = recall->n_held;
    }
    push_contract_renew(lease, now_ms);
}

void push_recall_on_state(struct lease *lease, const struct msg_state *state,
                          int64_t now_ms, struct effects *effects)
{
    struct push_recall *recalling = &lease->recalling;
    if (lease->part != LEASE_LEAF) {
        return;
    }
    note_done(lease, now_ms, effects);
    if (state->recall < recalling->number) {
        if (!recalling->is_open) {
            open(lease, now_ms);
        }
        return;
    }
    recalling->number = state->recall;
    recalling->is_open = false;
    take_list(lease, state, now_ms);
}

void push_recall_resume(struct lease *lease, int64_t now_ms)
{
    lease->recalling.next_ms = now_ms;
}

/* ---------------------------------------------------------------- time */

void push_recall_fill(const struct lease *lease, int64_t now_ms, struct arena *arena,
                      const struct recall **recalls, int *n_recalls)
{
    const struct push_recall *recalling = &lease->recalling;
    struct recall *list = arena_alloc(arena, (size_t)recalling->n_caps, sizeof(*list));
    for (int i = 0; i < recalling->n_caps; i++) {
        int64_t left_ms = recalling->caps[i].deadline_ms - now_ms;
        list[i] = (struct recall){recalling->caps[i].n_held, left_ms > 0 ? left_ms : 0};
    }
    *recalls = list;
    *n_recalls = recalling->n_caps;
}

void push_recall_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct push_recall *recalling = &lease->recalling;
    if (push_recall_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_RECALL};
    msg.recall.lease = arena_str(&effects->arena, lease->row.id);
    msg.recall.number = recalling->number;
    msg.recall.is_whole = recalling->is_whole;
    push_recall_fill(lease, now_ms, &effects->arena, &msg.recall.recalls,
                     &msg.recall.n_recalls);
    outbox_send(effects, lease->provider, "", &msg);
    recalling->next_ms = now_ms + recalling->wait_ms;
    recalling->wait_ms =
        recalling->wait_ms * 2 < LAST_WAIT_MS ? recalling->wait_ms * 2 : LAST_WAIT_MS;
}

int64_t push_recall_wake_ms(const struct lease *lease)
{
    bool may_send = lease->recalling.is_open && lease_is_open(lease) &&
                    member_is_here(lease->provider, ROLE_PROVIDER);
    return may_send ? lease->recalling.next_ms : INT64_MAX;
}
