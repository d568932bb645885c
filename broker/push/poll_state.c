/* SPDX-License-Identifier: Apache-2.0 */
/* poll_state.c: asks a provider for the STATE of a lease, until it answers (push.h). */
#include "broker/push/push.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 5000};

void poll_state_begin(struct lease *lease, int64_t now_ms)
{
    resend_begin(&lease->poll_state, now_ms);
}

void poll_state_end(struct lease *lease)
{
    resend_end(&lease->poll_state);
}

void poll_state_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (poll_state_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_STATE_ASK};
    msg.state_ask.lease = lease->row.id;
    outbox_send(effects, lease->provider, "", &msg);
    resend_sent(&lease->poll_state, waits, now_ms);
}

int64_t poll_state_wake_ms(const struct lease *lease)
{
    return member_is_here(lease->provider, ROLE_PROVIDER)
               ? resend_wake_ms(&lease->poll_state)
               : INT64_MAX;
}
