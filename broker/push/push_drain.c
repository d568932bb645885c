/* SPDX-License-Identifier: Apache-2.0 */
/* push_drain.c: see push_drain.h. */
#include "broker/push/push_drain.h"

#include "broker/lease/lease.h"
#include "broker/member/outbox.h"

enum {
    FIRST_WAIT_MS = 1000,
    LAST_WAIT_MS = 5000, /* a provider that does not answer is busy: be patient */
};

static void open(struct lease *lease, int64_t now_ms)
{
    lease->draining = (struct push_drain){
        .is_open = true, .next_ms = now_ms, .wait_ms = FIRST_WAIT_MS};
}

static bool is_wished(const struct lease *lease)
{
    bool is_pair = lease->consumer != lease->provider;
    return lease->row.is_drain_ordered || lease->provider->is_drained ||
           lease->consumer->is_drained || lease->is_unplanned ||
           (is_pair && (lease->consumer->roles_allowed & ROLE_CONSUMER) == 0);
}

static void give(struct lease *lease, bool is_drained, const char *reason,
                 int64_t now_ms, struct effects *effects)
{
    lease->row.drain++;
    lease->row.is_drained = is_drained;
    if (is_drained && lease_may_move(lease, LEASE_WITHDRAW)) {
        lease_move(lease, LEASE_WITHDRAW, reason, now_ms, effects);
        handover_end(lease);
        push_contract_renew(lease, now_ms);
    } else {
        lease_store(lease, effects);
    }
    open(lease, now_ms);
}

static const char *describe(const struct lease *lease, struct arena *arena)
{
    if (lease->provider->is_drained || lease->consumer->is_drained) {
        const struct member *site =
            lease->provider->is_drained ? lease->provider : lease->consumer;
        return arena_printf(arena, "site %s is drained", site->name);
    }
    if (lease->is_unplanned) {
        return lease->part == LEASE_IDLE
                   ? arena_printf(arena,
                                  "the broker has no %s: a section Pool is missing",
                                  lease->row.consumer)
                   : arena_printf(arena, "no plan has a leaf %s of %s", lease->node,
                                  lease->consumer->name);
    }
    return arena_printf(arena, "%s is no consumer any more", lease->consumer->name);
}

bool push_drain_refresh(struct lease *lease, const char *reason, int64_t now_ms,
                        struct effects *effects)
{
    if (is_wished(lease) == lease->row.is_drained) {
        return false;
    }
    if (reason == NULL) {
        reason = describe(lease, &effects->arena);
    }
    give(lease, is_wished(lease), reason, now_ms, effects);
    return true;
}

void push_drain_recover(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    lease->is_recovering = true;
    lease->row.drain++;
    lease_store(lease, effects);
    open(lease, now_ms);
}

void push_drain_resume(struct lease *lease, int64_t now_ms)
{
    if (lease->row.drain > 0) {
        open(lease, now_ms);
    }
}

void push_drain_on_state(struct lease *lease, const struct msg_state *state,
                         int64_t now_ms, struct effects *effects)
{
    struct row_lease *row = &lease->row;
    if (state->drain < row->drain) {
        if (!lease->draining.is_open) {
            open(lease, now_ms);
        }
        return;
    }
    lease->draining.is_open = false;
    if (state->drain > row->drain) {
        /* What stands for its sites may be what it was about. */
        row->is_drain_ordered =
            state->is_drained && (row->is_drain_ordered || !is_wished(lease));
        row->drain = state->drain;
        row->is_drained = state->is_drained;
        lease_store(lease, effects);
    }
    if (state->is_drained != row->is_drained) {
        give(lease, row->is_drained, "drained by an administrator", now_ms, effects);
    }
}

void push_drain_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct push_drain *draining = &lease->draining;
    if (push_drain_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_DRAIN};
    msg.drain.lease = arena_str(&effects->arena, lease->row.id);
    msg.drain.number = lease->row.drain;
    msg.drain.is_drained = lease->row.is_drained;
    msg.drain.raise_above = lease->is_recovering ? lease->row.epoch : 0;
    outbox_send(effects, lease->provider, "", &msg);
    draining->next_ms = now_ms + draining->wait_ms;
    draining->wait_ms =
        draining->wait_ms * 2 < LAST_WAIT_MS ? draining->wait_ms * 2 : LAST_WAIT_MS;
}

int64_t push_drain_wake_ms(const struct lease *lease)
{
    bool may_send =
        lease->draining.is_open && member_is_here(lease->provider, ROLE_PROVIDER);
    return may_send ? lease->draining.next_ms : INT64_MAX;
}
