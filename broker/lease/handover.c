/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c: see handover.h. */
#include "broker/lease/handover.h"

#include <stdio.h>
#include <stdlib.h>

#include "broker/lease/lease.h"

/* Long against a round trip, short against any reclaim delay. */
enum { RESEND_MS = 500 };
static const struct resend_waits waits = {.first_ms = RESEND_MS, .last_ms = RESEND_MS};

static void drop_proposal(struct handover *handover)
{
    free(handover->proposal);
    handover->proposal = NULL;
    handover->n_proposal = 0;
}

void handover_see(struct lease *lease, uint64_t freeze)
{
    struct handover *handover = &lease->handover;
    if (handover->phase == HANDOVER_NONE && freeze > handover->freeze) {
        handover->freeze = freeze;
    }
}

/* Step 1. The provider may still apply a proposal that is under way, so the proposal
 * stays until there is another. */
static void freeze_anew(struct lease *lease, int64_t at_ms)
{
    lease->handover.phase = HANDOVER_FREEZING;
    lease->handover.freeze++;
    resend_begin(&lease->handover.resend, at_ms);
}

void handover_begin(struct lease *lease, const char *reason, int64_t now_ms,
                    struct effects *effects)
{
    lease_move(lease, LEASE_FREEZE, reason, now_ms, effects);
    freeze_anew(lease, now_ms);
    lease_notify_consumer(lease, now_ms);
}

void handover_resume(struct lease *lease, int64_t now_ms)
{
    freeze_anew(lease, now_ms);
}

void handover_propose(struct lease *lease, const struct rebalance_plan *plan,
                      int64_t now_ms)
{
    struct handover *handover = &lease->handover;
    drop_proposal(handover);
    handover->phase = HANDOVER_PROPOSING;
    handover->proposal = lease_split_dup(plan->hosts, plan->n_hosts);
    handover->n_proposal = plan->n_hosts;
    handover->is_moving = plan->direction != REBALANCE_NONE;
    resend_begin(&handover->resend, now_ms);
    snprintf(handover->reason, sizeof(handover->reason), "%s", plan->reason);
}

static void thaw(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    lease_move(lease, LEASE_THAW, lease->handover.reason, now_ms, effects);
    handover_end(lease);
    lease_notify_consumer(lease, now_ms);
}

bool handover_on_state(struct lease *lease, const struct msg_state *state,
                       int64_t now_ms, struct effects *effects)
{
    struct handover *handover = &lease->handover;
    bool is_ours = state->freeze == handover->freeze;
    if (is_ours && state->is_frozen) {
        /* Else the provider does not have the proposal yet, which is sent again. */
        return handover->phase == HANDOVER_FREEZING;
    }
    if (handover->phase == HANDOVER_FREEZING && state->freeze < handover->freeze) {
        return false; /* it does not have our FREEZE yet, which is sent again */
    }
    if (is_ours && handover->phase == HANDOVER_PROPOSING && !handover->is_moving) {
        thaw(lease, now_ms, effects);
        return false;
    }
    if (state->freeze > handover->freeze) {
        handover->freeze = state->freeze;
    }
    /* Not at once: a provider that answers every FREEZE so must not keep us busy. */
    freeze_anew(lease, now_ms + RESEND_MS);
    return false;
}

const char *handover_reason(const struct lease *lease, const struct msg_state *state,
                            const char *otherwise)
{
    const struct handover *handover = &lease->handover;
    bool is_as_proposed = handover->proposal != NULL && handover->is_moving &&
                          state->epoch == lease->row.epoch + 1 &&
                          lease_split_is_same(handover->proposal, handover->n_proposal,
                                              state->hosts, state->n_hosts);
    return is_as_proposed ? handover->reason : otherwise;
}

void handover_end(struct lease *lease)
{
    lease_grant_clear(&lease->grant);
    drop_proposal(&lease->handover);
    resend_end(&lease->handover.resend);
    lease->handover.phase = HANDOVER_NONE;
}

static void send_freeze(const struct lease *lease, struct effects *effects)
{
    struct msg msg = {.kind = MSG_FREEZE};
    msg.freeze.lease = lease->row.id;
    msg.freeze.base = lease->row.epoch;
    msg.freeze.freeze = lease->handover.freeze;
    outbox_send(effects, lease->provider, "", &msg);
}

static void send_split(const struct lease *lease, const struct host_split *hosts,
                       int n_hosts, struct effects *effects)
{
    struct msg msg = {.kind = MSG_PROPOSE,
                      .propose = {.lease = lease->row.id,
                                  .base = lease->row.epoch,
                                  .hosts = hosts,
                                  .n_hosts = n_hosts}};
    outbox_send(effects, lease->provider, "", &msg);
}

void handover_lift(struct lease *lease, uint64_t freeze, struct effects *effects)
{
    if (lease->handover.lifted != freeze) {
        lease->handover.lifted = freeze;
        send_split(lease, lease->row.hosts, lease->row.n_hosts, effects);
    }
}

void handover_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (handover_wake_ms(lease) > now_ms) {
        return;
    }
    if (lease->handover.phase == HANDOVER_FREEZING) {
        send_freeze(lease, effects);
    } else {
        send_split(lease, lease->handover.proposal, lease->handover.n_proposal,
                   effects);
    }
    resend_sent(&lease->handover.resend, waits, now_ms);
}

int64_t handover_wake_ms(const struct lease *lease)
{
    return member_is_here(lease->provider, ROLE_PROVIDER)
               ? resend_wake_ms(&lease->handover.resend)
               : INT64_MAX;
}
