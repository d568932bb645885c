/* SPDX-License-Identifier: Apache-2.0 */
/* poll_state.c: see poll_state.h. */
#include "broker/push/poll_state.h"

#include "broker/lease/lease.h"
#include "broker/member/outbox.h"

enum {
    FIRST_WAIT_MS = 1000,
    LAST_WAIT_MS = 5000, /* a provider that does not answer is busy: be patient */
};

void poll_state_begin(struct lease *lease, int64_t now_ms)
{
    lease->asking =
        (struct asking){.is_open = true, .next_ms = now_ms, .wait_ms = FIRST_WAIT_MS};
}

void poll_state_end(struct lease *lease)
{
    lease->asking.is_open = false;
}

void poll_state_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct asking *asking = &lease->asking;
    if (poll_state_wake_ms(lease) > now_ms) {
        return;
    }
    struct msg msg = {.kind = MSG_STATE_ASK};
    msg.state_ask.lease = arena_str(&effects->arena, lease->row.id);
    outbox_send(effects, lease->provider, "", &msg);
    asking->next_ms = now_ms + asking->wait_ms;
    asking->wait_ms =
        asking->wait_ms * 2 < LAST_WAIT_MS ? asking->wait_ms * 2 : LAST_WAIT_MS;
}

int64_t poll_state_wake_ms(const struct lease *lease)
{
    bool may_send =
        lease->asking.is_open && member_is_here(lease->provider, ROLE_PROVIDER);
    return may_send ? lease->asking.next_ms : INT64_MAX;
}
