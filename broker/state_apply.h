/* SPDX-License-Identifier: Apache-2.0 */
/* state_apply.h: applies a provider's STATE to the broker's record [Contract 5].
 *
 * Only the provider creates epochs, so a STATE with a higher epoch is the contract from
 * now on:
 *
 *     unknown lease    registered under the epoch that STATE names. The id must name
 * the sender as provider, and as consumer a member with that role higher epoch applied
 * as a whole equal epoch      counts, hosts down and flags are applied. The split must
 * be the same; if it is not, the provider is at fault: its split is applied, as it is
 * what the provider enforces, and an error is logged lower epoch      refused: a late
 * copy, or a provider that was restored from a backup and needs its administrator epoch
 * 0          the provider no longer knows the lease: it ends
 *
 * A lease that has ended is registered again when its provider states it again.
 *
 * Source: ARCHITECTURE 2. Layer: broker. */
#ifndef SUBLET_BROKER_STATE_APPLY_H
#define SUBLET_BROKER_STATE_APPLY_H

#include "broker/broker_parts.h"

/* The lease that the STATE is about, for which the caller does what is due; NULL if the
 * STATE was refused, or is about no lease in the table. */
struct lease *state_apply(struct broker *broker, struct member *provider,
                          const struct event *event, struct effects *effects);

/* Ends a lease whose provider may not be one any more, by the configuration. If that
 * changes and the provider states the lease, it is registered again, under any epoch.
 */
void state_apply_check_members(struct lease *lease, int64_t now_ms,
                               struct effects *effects);

#endif
