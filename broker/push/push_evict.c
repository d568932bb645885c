/* SPDX-License-Identifier: Apache-2.0 */
/* push_evict.c: see push_evict.h. */
#include "broker/push/push_evict.h"

#include "broker/lease/lease.h"
#include "broker/lease/lease_split.h"
#include "broker/member/outbox.h"

/* By fresh counts, and only where there is something to end. */
static bool is_wanted(const struct lease *lease)
{
    return lease->ends_lost && lease_is_open(lease) && !lease->asking.is_open &&
           member_is_here(lease->provider, ROLE_PROVIDER) &&
           !member_is_here(lease->consumer, ROLE_CONSUMER) &&
           lease_split_sum(lease->row.hosts, lease->row.n_hosts).consumer.used > 0;
}

void push_evict_on_state(struct lease *lease)
{
    bool is_used =
        lease_split_sum(lease->row.hosts, lease->row.n_hosts).consumer.used > 0;
    if (lease->evicting.is_open && !is_used) {
        lease->evicting.is_open = false;
        rebalance_clock_begin_term(lease);
    }
}

void push_evict_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_evict_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_EVICT};
    msg.evict.lease = arena_str(&effects->arena, lease->row.id);
    msg.evict.attempt = lease->last_attempt;
    outbox_send(effects, lease->provider, "", &msg);
    lease->evicting.next_ms = now_ms + PUSH_EVICT_RESEND_MS;
    lease->evicting.is_open = true;
}

int64_t push_evict_wake_ms(const struct lease *lease)
{
    if (!is_wanted(lease)) {
        return INT64_MAX;
    }
    int64_t over_ms = member_term_ms(lease->consumer, lease->lease_term_ms);
    return over_ms > lease->evicting.next_ms ? over_ms : lease->evicting.next_ms;
}
