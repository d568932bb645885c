/* SPDX-License-Identifier: Apache-2.0 */
/* push_recall.c: sends a provider the recalls of a leaf's contract, until it has them
 * (push.h).
 *
 * Each change of the list (lease_recalls.h) is a RECALL with the next number. The
 * provider executes the recalls. The list in its STATE is valid, also for a broker that
 * was restarted, because the broker stores no recalls. The leaf's site gets the list
 * with the contract.
 *
 *     number in STATE   below ours   the provider does not have the order: sent again
 *                       equal        the lists agree; what is missing was given back
 *                       above ours   this broker was restarted: the same */
#include "broker/push/push.h"

static const struct resend_waits waits = {.first_ms = 500, .last_ms = 5000};

static void push(struct lease *lease, int64_t now_ms)
{
    lease->push_recall.number++;
    resend_begin(&lease->push_recall.resend, now_ms);
    lease_notify_consumer(lease, now_ms);
}

void push_recall_add(struct lease *lease, const struct lease_recalls_order *order,
                     int64_t now_ms, struct effects *effects)
{
    lease_recalls_add(lease, order, now_ms, effects);
    push(lease, now_ms);
}

void push_recall_cancel(struct lease *lease, int n_slots, int64_t now_ms)
{
    lease_recalls_cancel(lease, n_slots);
    push(lease, now_ms);
}

void push_recall_resume(struct lease *lease, int64_t now_ms)
{
    resend_set_next(&lease->push_recall.resend, now_ms);
}

void push_recall_on_state(struct lease *lease, const struct msg_state *state,
                          int64_t now_ms, struct effects *effects)
{
    struct push_recall *push_recall = &lease->push_recall;
    if (lease->part != LEASE_LEAF) {
        return;
    }
    lease_recalls_settle(lease, now_ms, effects);
    if (state->recall < push_recall->number) {
        if (!push_recall->resend.is_open) {
            resend_begin(&push_recall->resend, now_ms);
        }
        return;
    }
    push_recall->number = state->recall;
    resend_end(&push_recall->resend);
    if (lease_recalls_replace(lease, state, now_ms)) {
        lease_notify_consumer(lease, now_ms);
    }
}

void push_recall_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_recall_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_RECALL};
    msg.recall.lease = lease->row.id;
    msg.recall.number = lease->push_recall.number;
    msg.recall.is_whole = lease->recalls.is_whole;
    lease_recalls_fill(&lease->recalls, now_ms, &effects->arena, &msg.recall.recalls,
                       &msg.recall.n_recalls);
    outbox_send(effects, lease->provider, "", &msg);
    resend_sent(&lease->push_recall.resend, waits, now_ms);
}

int64_t push_recall_wake_ms(const struct lease *lease)
{
    bool may_send =
        lease_is_open(lease) && member_is_here(lease->provider, ROLE_PROVIDER);
    return may_send ? resend_wake_ms(&lease->push_recall.resend) : INT64_MAX;
}
