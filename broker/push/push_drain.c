/* SPDX-License-Identifier: Apache-2.0 */
/* push_drain.c: sends a provider the order to drain a lease, until it has the order
 * (push.h).
 *
 * A lease is to be drained while an order exists for the lease itself or for one of its
 * two sites, or while its consumer is not allowed to be one by the configuration. Each
 * time that changes, an order with the next number is stored, and DRAIN is sent until
 * the provider's STATE names that number. The consumer learns at once that nothing new
 * starts. The provider withdraws the lease, whatever its policies say
 * (docs/design/leases.md "Decided"): slots go back as jobs end, each time under the
 * next epoch, and the lease ends with the last slot. The ended lease stays on record
 * until the order is taken back; then it is exported again, above its last epoch.
 *
 *     number in STATE   below ours   the provider does not have the order: sent again
 *                       equal        done. If STATE says otherwise, the broker was
 *                                    restored from a backup and used the number twice:
 *                                    the order is repeated under the next number
 *                       above ours   the broker was restored. What the provider says is
 *                                    taken for an order about this lease, unless an
 *                                    order for one of its sites explains it
 *
 * A provider that does not know the lease (epoch 0) has nothing to drain, and cannot
 * store the order. It stays in force here. Once the provider states the lease, that
 * drains at once, and the order is sent again. */
#include "broker/push/push.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 5000};

static bool is_wanted(const struct lease *lease)
{
    bool is_pair = lease->consumer != lease->provider;
    return lease->row.is_drain_ordered || lease->provider->is_drained ||
           lease->consumer->is_drained || lease->is_unplanned ||
           (is_pair && (lease->consumer->roles_allowed & ROLE_CONSUMER) == 0);
}

/* True if the lease was not draining. */
static bool withdraw(struct lease *lease, const char *reason, int64_t now_ms,
                     struct effects *effects)
{
    if (!lease->row.is_drained || !lease_may_move(lease, LEASE_WITHDRAW)) {
        return false;
    }
    lease_move(lease, LEASE_WITHDRAW, reason, now_ms, effects);
    handover_end(lease);
    lease_notify_consumer(lease, now_ms);
    return true;
}

static void order(struct lease *lease, bool is_drained, const char *reason,
                  int64_t now_ms, struct effects *effects)
{
    lease->row.drain++;
    lease->row.is_drained = is_drained;
    if (!withdraw(lease, reason, now_ms, effects)) {
        lease_store(lease, effects);
    }
    resend_begin(&lease->push_drain, now_ms);
}

static const char *describe(const struct lease *lease, struct arena *arena)
{
    if (lease->row.is_drain_ordered) {
        return "drained by an administrator";
    }
    if (lease->provider->is_drained || lease->consumer->is_drained) {
        const struct member *site =
            lease->provider->is_drained ? lease->provider : lease->consumer;
        return arena_printf(arena, "site %s is drained", site->name);
    }
    if (lease->is_unplanned) {
        return lease->part == LEASE_IDLE
                   ? arena_printf(arena,
                                  "the broker has no %s: its section Pool is missing",
                                  lease->row.consumer)
                   : arena_printf(arena, "no plan has a leaf %s of %s", lease->node,
                                  lease->consumer->name);
    }
    return arena_printf(arena, "%s is no longer a consumer", lease->consumer->name);
}

bool push_drain_refresh(struct lease *lease, const char *reason, int64_t now_ms,
                        struct effects *effects)
{
    if (is_wanted(lease) == lease->row.is_drained) {
        return false;
    }
    if (reason == NULL) {
        reason = describe(lease, &effects->arena);
    }
    order(lease, is_wanted(lease), reason, now_ms, effects);
    return true;
}

void push_drain_recover(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    lease->is_recovering = true;
    lease->row.drain++;
    lease_store(lease, effects);
    resend_begin(&lease->push_drain, now_ms);
}

void push_drain_resume(struct lease *lease, int64_t now_ms)
{
    if (lease->row.drain > 0) {
        resend_begin(&lease->push_drain, now_ms);
    }
}

void push_drain_on_state(struct lease *lease, const struct msg_state *state,
                         int64_t now_ms, struct effects *effects)
{
    struct row_lease *row = &lease->row;
    if (state->epoch == 0) {
        resend_end(&lease->push_drain);
        return;
    }
    if (state->drain < row->drain) {
        if (!lease->push_drain.is_open) {
            resend_begin(&lease->push_drain, now_ms);
        }
        withdraw(lease, describe(lease, &effects->arena), now_ms, effects);
        return;
    }
    resend_end(&lease->push_drain);
    if (state->drain > row->drain) {
        /* An order for one of its sites may explain it. */
        row->is_drain_ordered =
            state->is_drained && (row->is_drain_ordered || !is_wanted(lease));
        row->drain = state->drain;
        row->is_drained = state->is_drained;
        lease_store(lease, effects);
    }
    if (state->is_drained != row->is_drained) {
        order(lease, row->is_drained, describe(lease, &effects->arena), now_ms,
              effects);
    }
}

uint64_t push_drain_above(const struct lease *lease)
{
    uint64_t epoch = lease->row.epoch, behind = lease->behind_epoch;
    return behind > epoch ? behind : epoch;
}

void push_drain_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_drain_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_DRAIN};
    msg.drain.lease = lease->row.id;
    msg.drain.number = lease->row.drain;
    msg.drain.is_drained = lease->row.is_drained;
    msg.drain.raise_above = lease->is_recovering ? push_drain_above(lease) : 0;
    outbox_send(effects, lease->provider, "", &msg);
    resend_sent(&lease->push_drain, waits, now_ms);
}

int64_t push_drain_wake_ms(const struct lease *lease)
{
    return member_is_here(lease->provider, ROLE_PROVIDER)
               ? resend_wake_ms(&lease->push_drain)
               : INT64_MAX;
}
