/* SPDX-License-Identifier: Apache-2.0 */
/* push_grant.c: gets the slots of a grant to a leaf's contract (push.h).
 *
 *   1  set        a cycle of the pool says which idle slots of the policy the leaf gets
 *   2  open       if the leaf has no contract with the provider, LEASE_OPEN is sent
 *                 until a STATE registers the contract. It names our last epoch, above
 *                 which also a provider that has lost that contract continues
 *   3  hand over  as for any lease (handover.h): frozen, proposed, applied */
#include "broker/push/push.h"

#include <stdio.h>

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 1000};

void push_grant_set(struct lease *lease, const struct host_slots *hosts, int n_hosts,
                    const char *reason, int64_t now_ms)
{
    lease_grant_set(&lease->grant, hosts, n_hosts, reason);
    resend_begin(&lease->push_grant, now_ms);
}

static bool may_begin(const struct lease *lease)
{
    return lease->row.state == LEASE_ACTIVE && !lease->poll_state.is_open &&
           !lease->push_recall.resend.is_open && lease->recalls.n_bounds == 0 &&
           lease->handover.phase == HANDOVER_NONE;
}

static void send_open(const struct lease *lease, struct effects *effects)
{
    struct msg msg = {.kind = MSG_LEASE_OPEN};
    msg.lease_open.lease = lease->row.id;
    msg.lease_open.above = lease->row.epoch;
    msg.lease_open.price = lease->plan_price > 0 ? lease->plan_price : 0;
    outbox_send(effects, lease->provider, "", &msg);
}

void push_grant_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_grant_wake_ms(lease) > now_ms) {
        return;
    }
    if (lease_is_open(lease)) {
        handover_begin(lease, lease->grant.reason, now_ms, effects);
        return;
    }
    send_open(lease, effects);
    resend_sent(&lease->push_grant, waits, now_ms);
}

int64_t push_grant_wake_ms(const struct lease *lease)
{
    bool may_send = lease->grant.hosts != NULL &&
                    member_is_here(lease->provider, ROLE_PROVIDER) &&
                    !lease->row.is_drained;
    if (!may_send) {
        return INT64_MAX;
    }
    if (!lease_is_open(lease)) {
        return resend_wake_ms(&lease->push_grant);
    }
    return may_begin(lease) ? 0 : INT64_MAX;
}
