/* SPDX-License-Identifier: Apache-2.0 */
/* push_evict.h: what a lost consumer runs is ended, where the policy says ON_LOST=kill.
 *
 * When the consumer has been away for LEASE_TERM, the provider is told so with EVICT,
 * again every PUSH_EVICT_RESEND_MS until nothing of the consumer's is in use there, or
 * it is back. An order names the highest attempt that the provider had told of: one
 * that comes late never ends what the consumer has started since. What is ended counts
 * as lost.
 *
 * Units: milliseconds. Source: ARCHITECTURE 5 "consumer lost". Layer: broker (base
 * only). */
#ifndef SUBLET_BROKER_PUSH_PUSH_EVICT_H
#define SUBLET_BROKER_PUSH_PUSH_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

enum { PUSH_EVICT_RESEND_MS = 5000 };

struct lease;

struct push_evict {
    int64_t next_ms; /* of telling it again */
    bool is_open;    /* told, and something is still in use */
};

/* The counts are new: where what was to be ended has ended, its slots may go home. */
void push_evict_on_state(struct lease *lease);

void push_evict_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_evict_wake_ms(const struct lease *lease);

#endif
