/* SPDX-License-Identifier: Apache-2.0 */
/* push_contract.c: see push_contract.h. */
#include "broker/push/push_contract.h"

#include "broker/lease/lease.h"
#include "broker/member/outbox.h"

enum {
    FIRST_WAIT_MS = 1000,
    LAST_WAIT_MS = 5000, /* a consumer that does not answer is busy: be patient */
};

void push_contract_renew(struct lease *lease, int64_t now_ms)
{
    lease->notice = (struct push_contract){
        .is_open = true, .next_ms = now_ms, .wait_ms = FIRST_WAIT_MS};
}

void push_contract_acknowledge(struct lease *lease, uint64_t revision)
{
    if (lease->notice.revision == revision) {
        lease->notice.is_open = false;
    }
}

/* The row's texts and hosts may change within the batch: the message has its own. */
static void send_contract(const struct lease *lease, int64_t now_ms,
                          struct effects *effects)
{
    struct row row = {.kind = ROW_LEASE, .lease = lease->row}, copy;
    row_copy(&effects->arena, &row, &copy);
    struct msg msg = {.kind = MSG_CONTRACT};
    msg.contract = (struct msg_contract){
        .lease = copy.lease.id,
        .revision = lease->notice.revision,
        .epoch = copy.lease.epoch,
        .type = copy.lease.type,
        .state = copy.lease.state,
        .is_made = copy.lease.is_made,
        .is_provider_here = member_is_here(lease->provider, ROLE_PROVIDER),
        .takes_interactive = lease->takes_interactive,
        .hosts = copy.lease.hosts,
        .n_hosts = copy.lease.n_hosts,
        .queues = lease->granting.queues,
        .n_queues = lease->granting.n_queues,
        .grace_ms = lease->granting.grace_ms,
        .resources = copy.lease.resources,
        .n_resources = copy.lease.n_resources,
    };
    push_recall_fill(lease, now_ms, &effects->arena, &msg.contract.recalls,
                     &msg.contract.n_recalls);
    msg.contract.is_whole = lease->granting.is_whole;
    outbox_send(effects, lease->consumer, "", &msg);
}

void push_contract_tick(struct lease *lease, int64_t now_ms, struct effects *effects)
{
    struct push_contract *notice = &lease->notice;
    if (push_contract_wake_ms(lease) > now_ms) {
        return;
    }
    if (notice->revision == 0) {
        notice->revision = ++lease->consumer->revision;
    }
    send_contract(lease, now_ms, effects);
    notice->next_ms = now_ms + notice->wait_ms;
    notice->wait_ms =
        notice->wait_ms * 2 < LAST_WAIT_MS ? notice->wait_ms * 2 : LAST_WAIT_MS;
}

int64_t push_contract_wake_ms(const struct lease *lease)
{
    bool may_send = lease->notice.is_open && lease->consumer != lease->provider &&
                    member_is_here(lease->consumer, ROLE_CONSUMER);
    return may_send ? lease->notice.next_ms : INT64_MAX;
}
