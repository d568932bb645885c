/* SPDX-License-Identifier: Apache-2.0 */
/* push_price.c: tells a provider the price of a leaf's contract (push.h).
 *
 * LEASE_OPEN of a contract that is open changes only its price. The provider states the
 * price that it has stored. */
#include "broker/push/push.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 60000};

static void compare(struct lease *lease, int64_t now_ms)
{
    bool is_told = lease->plan_price < 0 || lease->plan_price == lease->price;
    if (is_told) {
        resend_end(&lease->push_price);
    } else if (!lease->push_price.is_open) {
        resend_begin(&lease->push_price, now_ms);
    }
}

void push_price_set(struct lease *lease, int price, int64_t now_ms)
{
    if (lease->plan_price != price) {
        lease->plan_price = price;
        compare(lease, now_ms);
    }
}

void push_price_on_state(struct lease *lease, int64_t now_ms)
{
    compare(lease, now_ms);
}

void push_price_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_price_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_LEASE_OPEN};
    msg.lease_open.lease = lease->row.id;
    msg.lease_open.price = lease->plan_price;
    outbox_send(effects, lease->provider, "", &msg);
    resend_sent(&lease->push_price, waits, now_ms);
}

int64_t push_price_wake_ms(const struct lease *lease)
{
    bool may_send =
        lease_is_open(lease) && member_is_here(lease->provider, ROLE_PROVIDER);
    return may_send ? resend_wake_ms(&lease->push_price) : INT64_MAX;
}
