/* SPDX-License-Identifier: Apache-2.0 */
/* rebalance_clock.h: when the rebalance rule is applied to a lease, by which facts, and
 * whether that begins a hand-over.
 *
 * The clock of a shared lease starts when the lease is made. The rule is applied at
 * made + k x reclaim delay. An instant at which it cannot be applied (a site is away, a
 * hand-over is under way) is skipped. If the latest instant came while the broker was
 * down, the rule is applied once both sites are connected again; earlier ones are
 * skipped. After a change of the delay the next instant is max(now, last + new delay).
 *
 * If a provider has REBALANCE_CLOCK_SPREAD_FROM leases or more, their instants are
 * spread: each is made + offset + k x delay, with an offset below the delay that is
 * computed from the lease id. The same holds when a new delay makes many due at once.
 *
 * If too many hand-overs begin at the same time, a lease waits (handover.h).
 * Its later instants do not change.
 *
 * If the consumer has been away for LEASE_TERM, the rule is also applied once when the
 * term ends. An exclusive lease has no regular instants: the rule is applied when that
 * term ends and, once the consumer is back, whenever slots that were given back are
 * idle at the provider.
 *
 * An administrator may ask for the rule at any time (broker_rebalance.c): it is applied
 * as soon as the provider's counts are known. The regular instants do not change.
 *
 * Tie: what is reported within the millisecond of an instant counts, whether it comes
 * before the broker's tick or after it; but one instant begins at most one hand-over.
 *
 * Units: milliseconds. Source: docs/design/interfaces.md "Scenarios";
 * docs/design/leases.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_REBALANCE_CLOCK_H
#define SUBLET_BROKER_LEASE_REBALANCE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/lease/rebalance.h"
#include "model/effect.h"

enum { REBALANCE_CLOCK_SPREAD_FROM = 100 }; /* leases of one provider */

struct lease;
struct handover_limiter;

struct rebalance_clock {
    int64_t delay_ms;   /* behind due_ms; 0: not known since the start */
    int64_t due_ms;     /* the next instant; INT64_MAX: none */
    int64_t moved_ms;   /* when slots last changed hands; 0: never */
    int64_t checked_ms; /* the millisecond in which the rule was applied last, if it
                           called for nothing */
    int64_t held_ms;    /* too many leases were changing hands: not before this */
    int64_t asked_ms;   /* when the latest request was made; INT64_MIN: never */
    bool is_asked;      /* ... and the rule was not applied since */
    bool is_missed;     /* an instant came while the broker was down */
    bool is_term_done;  /* the rule was applied since the consumer went away */
};

/* Of a new contract: not made, and the rule was never applied. */
static inline struct rebalance_clock rebalance_clock_unset(void)
{
    return (struct rebalance_clock){
        .due_ms = INT64_MAX, .checked_ms = INT64_MIN, .asked_ms = INT64_MIN};
}

/* After a restart: the instants continue as before, once the delay is known. */
void rebalance_clock_restore(struct lease *lease);
/* The lease was made: its clock starts. */
void rebalance_clock_start(struct lease *lease, int64_t now_ms);
/* The delay in force, whenever it may have changed. */
void rebalance_clock_set_delay(struct lease *lease, int64_t delay_ms, int64_t now_ms);
/* The consumer is here again: a new term. */
void rebalance_clock_begin_term(struct lease *lease);

/* The rule is to be applied to a lease that is made, outside of its instants. */
void rebalance_clock_ask(struct lease *lease, int64_t now_ms);

/* What the rule says of the lease's latest counts; for a leaf's contract, its grant.
 * The plan's hosts live in the arena. */
void rebalance_clock_plan(const struct lease *lease, int64_t now_ms,
                          struct arena *arena, struct rebalance_plan *plan);

/* Applies the rule if an instant has come, and begins a hand-over if it calls for one.
 */
void rebalance_clock_tick(struct lease *lease, struct handover_limiter *limiter,
                          int64_t now_ms, struct effects *effects);
int64_t rebalance_clock_wake_ms(const struct lease *lease);
/* The time until the next regular instant; *every_ms: between two of them. Both are 0
 * if there are none. */
int64_t rebalance_clock_until_ms(const struct lease *lease, int64_t now_ms,
                                 int64_t *every_ms);

#endif
