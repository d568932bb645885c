/* SPDX-License-Identifier: Apache-2.0 */
/* rebalance_clock.h: when a lease is judged, by which facts, and whether that begins a
 * hand-over.
 *
 * The clock of a shared lease starts when it is made, and it is judged at made + k x
 * reclaim delay. An instant that passes while it cannot be judged (a site is away, a
 * hand-over is under way, the broker was down) is left out, not made up for. After a
 * change of the delay the next instant is max(now, last + new delay).
 *
 * From REBALANCE_CLOCK_SPREAD_FROM leases of one provider on, its leases' instants are
 * spread: each is made + offset + k x delay, with an offset below the delay that its id
 * gives; likewise where a new delay makes many due at once.
 *
 * A judgement that calls for a hand-over waits where too many begin at that time
 * (handover_limiter.h); its instants stay what they were.
 *
 * A consumer that has been away for LEASE_TERM is one more reason to judge: once when
 * the term ends, then at the usual instants. An exclusive lease has no instants: it is
 * judged when that term ends, and, once its consumer is back, whenever slots that went
 * home are idle there.
 *
 * Tie: what is reported within the millisecond of an instant counts, whether it comes
 * before the broker's tick or after it; but one instant begins one hand-over at most.
 *
 * Units: milliseconds. Source: INTERFACES 4 "Time"; ARCHITECTURE 5 "when a rebalance
 * begins", "consumer lost". Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASE_REBALANCE_CLOCK_H
#define SUBLET_BROKER_LEASE_REBALANCE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/lease/rebalance.h"
#include "model/effect.h"

enum { REBALANCE_CLOCK_SPREAD_FROM = 100 }; /* leases of one provider */

struct lease;
struct handover_limiter;

struct judging {
    int64_t delay_ms; /* that due_ms goes by; 0: not known since the start */
    int64_t due_ms;   /* the next instant; INT64_MAX: none */
    int64_t moved_ms; /* slots changed hands last; 0: never */
    int64_t open_ms;  /* the millisecond that was judged last and called for nothing */
    int64_t held_ms;  /* too many leases were changing hands: not before this */
    bool is_term_judged; /* since the consumer went away */
};

/* A new contract: neither made nor judged. */
void rebalance_clock_init(struct lease *lease);

/* As the disk has it: the instants go on as before, once the delay is known. */
void rebalance_clock_restore(struct lease *lease);
/* The lease was made: its clock starts. */
void rebalance_clock_start(struct lease *lease, int64_t now_ms);
/* The delay in force, told whenever it may have changed. */
void rebalance_clock_set_delay(struct lease *lease, int64_t delay_ms, int64_t now_ms);
/* The consumer is here again: a new term. */
void rebalance_clock_begin_term(struct lease *lease);

/* What the rule says of the lease's latest counts. Hosts live in the arena. */
void rebalance_clock_plan(const struct lease *lease, int64_t now_ms,
                          struct arena *arena, struct rebalance_plan *plan);

/* Judges, if an instant has come, and begins a hand-over where that calls for one. */
void rebalance_clock_tick(struct lease *lease, struct handover_limiter *pace,
                          int64_t now_ms, struct effects *effects);
int64_t rebalance_clock_wake_ms(const struct lease *lease);

#endif
