/* SPDX-License-Identifier: Apache-2.0 */
/* push_contract.h: tells a lease's consumer the contract, until it has it [Contract 5].
 *
 * What the consumer goes by (state, epoch, split, hosts down, provider here) is a
 * content; each new content is a new revision, numbered within the consumer's session
 * when it is first sent, and sent again until that revision is acknowledged.
 *
 * Units: milliseconds. Source: ARCHITECTURE 2 Contract 5.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_PUSH_PUSH_CONTRACT_H
#define SUBLET_BROKER_PUSH_PUSH_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

struct push_contract {
    bool is_open;      /* the consumer has not acknowledged it */
    uint64_t revision; /* 0: never sent */
    int64_t next_ms, wait_ms;
};

/* The content has changed, or the consumer's session has. */
void push_contract_renew(struct lease *lease, int64_t now_ms);

/* CONTRACT_ACK; one of an earlier revision says nothing. */
void push_contract_acknowledge(struct lease *lease, uint64_t revision);

void push_contract_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_contract_wake_ms(const struct lease *lease);

#endif
