/* SPDX-License-Identifier: Apache-2.0 */
/* evicting.h: what a lost consumer runs is ended, where the policy says ON_LOST=kill.
 *
 * When the consumer has been away for LEASE_TERM, the provider is told so with EVICT,
 * again every EVICTING_AGAIN_MS until nothing of the consumer's is in use there, or it
 * is back. An order names the highest attempt that the provider had told of: one that
 * comes late never ends what the consumer has started since. What is ended counts as
 * lost.
 *
 * Units: milliseconds. Source: ARCHITECTURE 5 "consumer lost". Layer: broker (base
 * only). */
#ifndef SUBLET_BROKER_EVICTING_H
#define SUBLET_BROKER_EVICTING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

enum { EVICTING_AGAIN_MS = 5000 };

struct lease;

struct evicting {
    int64_t next_ms; /* of telling it again */
    bool is_open;    /* told, and something is still in use */
};

/* The counts are new: where what was to be ended has ended, its slots may go home. */
void evicting_state(struct lease *lease);

void evicting_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t evicting_wake_ms(const struct lease *lease);

#endif
