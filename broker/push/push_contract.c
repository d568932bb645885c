/* SPDX-License-Identifier: Apache-2.0 */
/* push_contract.c: sends a lease's consumer the contract, until it acknowledges it
 * (push.h) [Contract 5].
 *
 * What the consumer needs to know (state, epoch, split, hosts down, whether the
 * provider is connected) is the content. Each new content is a new revision. A revision
 * gets its number, within the consumer's session, when it is first sent. */
#include "broker/push/push.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 5000};

void push_contract_acknowledge(struct lease *lease, uint64_t revision)
{
    if (lease->push_contract.revision == revision) {
        resend_end(&lease->push_contract.resend);
    }
}

static void send_contract(const struct lease *lease, int64_t now_ms,
                          struct effects *effects)
{
    const struct row_lease *row = &lease->row;
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){
        .lease = row->id,
        .revision = lease->push_contract.revision,
        .epoch = row->epoch,
        .type = row->type,
        .state = row->state,
        .is_made = row->is_made,
        .is_provider_here = member_is_here(lease->provider, ROLE_PROVIDER),
        .takes_interactive = lease->takes_interactive,
        .hosts = row->hosts,
        .n_hosts = row->n_hosts,
        .queues = lease->grant.queues,
        .n_queues = lease->grant.n_queues,
        .grace_ms = lease->grant.grace_ms,
        .resources = row->resources,
        .n_resources = row->n_resources,
        .is_whole = lease->grant.is_whole,
        .withheld = lease->withheld[0] != '\0' ? lease->withheld : NULL,
        .price = lease->price,
        .split_ms = lease->row.split_ms,
    };
    msg.contract.rebalance_in_ms =
        rebalance_clock_until_ms(lease, now_ms, &msg.contract.rebalance_every_ms);
    lease_recalls_fill(&lease->recalls, now_ms, &effects->arena, &msg.contract.recalls,
                       &msg.contract.n_recalls);
    outbox_send(effects, lease->consumer, "", &msg);
}

void push_contract_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    if (push_contract_wake_ms(lease) > now_ms) {
        return;
    }
    if (lease->push_contract.revision == 0) {
        lease->push_contract.revision = ++lease->consumer->revision;
    }
    send_contract(lease, now_ms, effects);
    resend_sent(&lease->push_contract.resend, waits, now_ms);
}

int64_t push_contract_wake_ms(const struct lease *lease)
{
    bool may_send = lease->consumer != lease->provider &&
                    member_is_here(lease->consumer, ROLE_CONSUMER);
    return may_send ? resend_wake_ms(&lease->push_contract.resend) : INT64_MAX;
}
