/* SPDX-License-Identifier: Apache-2.0 */
/* push_drain.h: an administrator's wish to empty a lease, and its way to the provider.
 *
 * A lease is to be drained while an order stands for it by itself, or for one of its
 * two sites, or while its consumer is none by the configuration. Each time that
 * changes, an order with the next number is put on record, DRAIN goes to the provider,
 * again until its STATE names that number, and the consumer is told at once that
 * nothing new starts. The provider withdraws the lease, whatever its policies say
 * (ARCHITECTURE 5, "export withdrawn"): slots go home as jobs end, each time under the
 * next epoch that it mints, and the lease ends with the last. It stays ended, and on
 * record, until the order is taken back; then it is exported again, above its last
 * epoch.
 *
 *     number in STATE   below ours   it has not had the order: sent again
 *                       ours         done; where it says something else (the broker was
 *                                    restored from a backup and gave the number twice),
 *                                    ours is given again under the next
 *                       above ours   the broker was restored: what the provider says is
 *                                    an order for this lease, where none that stands
 *                                    for its sites explains it
 *
 * Units: milliseconds. Source: docs/adr/0012. Layer: broker (base only). */
#ifndef SUBLET_BROKER_PUSH_PUSH_DRAIN_H
#define SUBLET_BROKER_PUSH_PUSH_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

struct push_drain {
    bool is_open; /* STATE has not named the latest number yet */
    int64_t next_ms, wait_ms;
};

/* Gives the order that the wishes call for, where it differs from the latest. `reason`
 * says who wished; NULL: what it is about its sites. True where one was given. */
bool push_drain_refresh(struct lease *lease, const char *reason, int64_t now_ms,
                        struct effects *effects);

/* The provider has lost its books, and states a lower epoch than ours: the same wish
 * again, with an order to go on above it. */
void push_drain_recover(struct lease *lease, int64_t now_ms, struct effects *effects);

/* The provider may not know the order: after a start, and when it comes. */
void push_drain_resume(struct lease *lease, int64_t now_ms);

/* The number that a STATE of the lease names, and what it says. */
void push_drain_on_state(struct lease *lease, const struct msg_state *state,
                         int64_t now_ms, struct effects *effects);

void push_drain_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_drain_wake_ms(const struct lease *lease);

#endif
