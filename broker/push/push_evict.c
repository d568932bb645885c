/* SPDX-License-Identifier: Apache-2.0 */
/* push_evict.c: ends the jobs of a lost consumer, if the policy says ON_LOST=kill
 * (push.h).
 *
 * When the consumer has been away for LEASE_TERM, EVICT goes to the provider, every
 * PUSH_EVICT_RESEND_MS until the consumer uses nothing there or is back. The order
 * names the highest attempt that the provider had reported, so that a late order never
 * ends what the consumer has started since. The ended jobs count as lost. */
#include "broker/push/push.h"

#include "broker/lease/lease.h"

static const struct resend_waits waits = {.first_ms = PUSH_EVICT_RESEND_MS,
                                          .last_ms = PUSH_EVICT_RESEND_MS};

static bool is_used(const struct lease *lease)
{
    return lease_split_sum(lease->row.hosts, lease->row.n_hosts).consumer.used > 0;
}

/* By fresh counts, and only if there is something to end. */
static bool is_wanted(const struct lease *lease)
{
    return lease->ends_lost && lease_is_open(lease) && !lease->poll_state.is_open &&
           member_is_here(lease->provider, ROLE_PROVIDER) &&
           !member_is_here(lease->consumer, ROLE_CONSUMER) && is_used(lease);
}

void push_evict_on_state(struct lease *lease)
{
    if (lease->push_evict.is_open && !is_used(lease)) {
        resend_end(&lease->push_evict);
        rebalance_clock_begin_term(lease);
    }
}

void push_evict_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_evict_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_EVICT};
    msg.evict.lease = lease->row.id;
    msg.evict.attempt = lease->last_attempt;
    outbox_send(effects, lease->provider, "", &msg);
    lease->push_evict.is_open = true; /* from the first order on */
    resend_sent(&lease->push_evict, waits, now_ms);
}

/* Also before the first order, when nothing is open: not before the last one's wait. */
int64_t push_evict_wake_ms(const struct lease *lease)
{
    if (!is_wanted(lease)) {
        return INT64_MAX;
    }
    int64_t over_ms = member_term_ms(lease->consumer, lease->lease_term_ms);
    return over_ms > lease->push_evict.next_ms ? over_ms : lease->push_evict.next_ms;
}
