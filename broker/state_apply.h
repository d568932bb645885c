/* SPDX-License-Identifier: Apache-2.0 */
/* state_apply.h: what the broker makes of a provider's STATE [Contract 5].
 *
 * The provider alone mints epochs, so whatever it states under a higher one is the
 * contract now:
 *
 *     unknown lease    registered, under the epoch it names; it must bear the sender's
 *                      name as provider, and a member with that role as consumer
 *     higher epoch     taken over whole
 *     equal epoch      counts, hosts down and flags are taken over; the split is what
 * it was, or the provider is at fault: then its word counts, and that is logged lower
 * epoch      refused: a copy that is late, or a provider restored from a backup, which
 * needs its administrator epoch 0          the provider no longer knows the lease:
 * ended
 *
 * A lease that has ended is registered anew when its provider states it again.
 *
 * Source: ARCHITECTURE 2. Layer: broker (base only). */
#ifndef SUBLET_BROKER_STATE_APPLY_H
#define SUBLET_BROKER_STATE_APPLY_H

#include "broker/broker_parts.h"

/* The lease that the STATE is about, for the caller to attend to; NULL where it was
 * refused or is about nothing that stands here. */
struct lease *state_apply(struct broker *broker, struct member *provider,
                          const struct event *event, struct effects *effects);

/* Ends a lease whose provider is none any more, by the configuration. It is registered
 * anew, under whatever epoch, when that one is back and states it. */
void state_apply_check_members(struct lease *lease, int64_t now_ms,
                               struct effects *effects);

#endif
