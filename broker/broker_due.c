/* SPDX-License-Identifier: Apache-2.0 */
/* broker_due.c: what is due about one lease, and when it is due again. */
#include "broker/broker_parts.h"
#include "broker/push/push.h"

void broker_due_set(struct broker *broker, struct lease *lease, int64_t now_ms)
{
    timer_heap_set(&broker->leases.timers, &lease->timer, now_ms);
}

/* After a restart a lease on disk is unconfirmed until its provider has sent STATE and
 * its consumer has acknowledged the contract. An administrator who has restarted a
 * broker waits for the log line that says that all are confirmed. */
static void note_confirmed(struct broker *broker, struct lease *lease, int64_t now_ms,
                           struct effects *effects)
{
    bool is_open = lease_is_open(lease) &&
                   (lease_is_disconnected(lease) || lease->poll_state.is_open ||
                    lease->push_contract.resend.is_open);
    if (!lease->is_unconfirmed || is_open) {
        return;
    }
    lease->is_unconfirmed = false;
    if (--broker->n_unconfirmed == 0) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "all contracts are confirmed, %lld ms after the start",
                    (long long)(now_ms - broker->started_ms));
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void broker_due_run(struct broker *broker, struct lease *lease, bool may_rebalance,
                    int64_t now_ms, struct effects *effects)
{
    state_apply_check_members(lease, now_ms, effects);
    push_drain_refresh(lease, NULL, now_ms, effects);
    poll_state_tick(lease, now_ms, effects);
    push_drain_tick(lease, now_ms, effects);
    if (may_rebalance) {
        rebalance_clock_tick(lease, &broker->handover_limiter, now_ms, effects);
    }
    pool_clock_recall_unplanned(lease, now_ms, effects);
    push_recall_tick(lease, now_ms, effects);
    push_grant_tick(lease, now_ms, effects);
    push_price_tick(lease, now_ms, effects);
    push_evict_tick(lease, now_ms, effects);
    push_contract_tick(lease, now_ms, effects);
    handover_tick(lease, now_ms, effects);
    note_confirmed(broker, lease, now_ms, effects);
    int64_t wake_ms =
        earlier(poll_state_wake_ms(lease), rebalance_clock_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_drain_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_evict_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_contract_wake_ms(lease));
    wake_ms = earlier(wake_ms, handover_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_recall_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_grant_wake_ms(lease));
    wake_ms = earlier(wake_ms, push_price_wake_ms(lease));
    wake_ms =
        may_rebalance ? wake_ms : earlier(wake_ms, now_ms); /* at the batch's tick */
    timer_heap_set(&broker->leases.timers, &lease->timer, wake_ms);
}

void broker_due_set_delay(const struct broker *broker, struct lease *lease,
                          int64_t now_ms)
{
    const struct member *provider = lease->provider;
    if (provider->session == 0) {
        return; /* its configuration will be known at its HELLO */
    }
    int64_t before_ms = lease->rebalance_clock.delay_ms;
    rebalance_clock_set_delay(lease,
                              reclaim_delay_get_ms(&broker->reclaim_delays,
                                                   lease->row.id, provider->name,
                                                   provider->reclaim_delay_ms, NULL),
                              now_ms);
    if (lease->rebalance_clock.delay_ms != before_ms) {
        lease_notify_consumer(lease, now_ms); /* it tells its users the next instant */
    }
}
