/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h: moves idle slots of one lease from one side to the other, the broker's
 * half [Contract 1-3].
 *
 *   1  begin      the lease is stored as inactive; FREEZE is sent under a new number,
 *                 every 500 ms
 *   2  frozen     a STATE of our epoch, frozen under our number, has exact counts. The
 *                 caller decides by them; PROPOSE is sent with the decided split, every
 *                 500 ms, also if that is the split in force
 *   3  settled    a STATE with a higher epoch is the contract from now on.
 *                 After a proposal that moves nothing, a STATE that is thawed under our
 *                 epoch and number makes the lease active as before
 *      lapsed     any other STATE that is not frozen under our number leads back to
 *                 step 1, with a number above the one that the STATE names
 *
 * A hand-over needs no memory. A restarted broker finds the lease inactive and begins
 * at 1, whatever its predecessor had sent. If the provider is away, the lease stays
 * inactive until the provider is back; other leases do not wait for it. The broker only
 * proposes, and the provider checks the proposal, so the rule that no slot is used
 * twice does not depend on the broker (docs/design/safety.md).
 *
 * Units: milliseconds. Source: docs/adr/0007. Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_HANDOVER_H
#define SUBLET_BROKER_LEASE_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/resend.h"
#include "model/effect.h"

struct lease;
struct rebalance_plan;

enum handover_phase { HANDOVER_NONE, HANDOVER_FREEZING, HANDOVER_PROPOSING };

struct handover {
    enum handover_phase phase;
    uint64_t lifted; /* the latest freeze that was lifted without a hand-over */
    uint64_t freeze; /* our number; grows for as long as this broker runs */
    struct resend resend;
    struct host_split *proposal;
    int n_proposal;
    bool is_moving; /* the proposal differs from the split in force */
    char reason[REASON_SIZE];
};

/* A STATE named this freeze number: the next one of this broker will be above it. */
void handover_see(struct lease *lease, uint64_t freeze);

/* The lease, which is active, becomes inactive. */
void handover_begin(struct lease *lease, const char *reason, int64_t now_ms,
                    struct effects *effects);
/* Continues with a lease that was inactive on disk, from step 1. */
void handover_resume(struct lease *lease, int64_t now_ms);

/* A STATE came, of the epoch that the broker has; its counts are applied already. True
 * if the lease is frozen, so that the counts are exact: the caller is to decide by them
 * and propose. */
bool handover_on_state(struct lease *lease, const struct msg_state *state,
                       int64_t now_ms, struct effects *effects);
/* A STATE says that the lease is frozen, and no hand-over is under way: the broker that
 * froze it was stopped, or has an older store, or the FREEZE came late. A proposal of
 * the split in force lifts the freeze; without it FREEZE_TIMEOUT does. It is sent once
 * for each freeze, as a provider that does not accept it answers with another STATE. */
void handover_lift(struct lease *lease, uint64_t freeze, struct effects *effects);
/* Step 2. */
void handover_propose(struct lease *lease, const struct rebalance_plan *plan,
                      int64_t now_ms);
/* The reason for the split under the next epoch: the proposal's if it is the split that
 * was proposed, else `otherwise`. Call it before the new split is applied. */
const char *handover_reason(const struct lease *lease, const struct msg_state *state,
                            const char *otherwise);
/* The hand-over is over, and the grant with it, whatever the outcome. */
void handover_end(struct lease *lease);

void handover_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t handover_wake_ms(const struct lease *lease);

/* ------------------------------------------------------- handover_limiter.c */

/* How many hand-overs may begin at the same time.
 *
 * If a thousand leases fall due at one instant (after a change of the reclaim delay for
 * all, for example), each would stay frozen until the last STATE has been handled, and
 * every message that is sent again meanwhile would add to the load. So at most
 * HANDOVER_LIMITER_LEASES hand-overs begin within HANDOVER_LIMITER_MS. Every other
 * lease gets an instant of its own and is not frozen before; it is looked at twice, not
 * once in each HANDOVER_LIMITER_MS. Only the begin counts: a hand-over that is stuck
 * because its provider is away does not hold up others. */
enum {
    HANDOVER_LIMITER_LEASES = 100,
    HANDOVER_LIMITER_MS =
        50, /* 2,000 a second: a fifth of a processor (docs/bench.md, "scale") */
};

struct handover_limiter {
    int64_t since_ms;
    int n_begun;     /* since then */
    int64_t last_ms; /* the latest instant that was promised ... */
    int n_last;      /* ... and to how many */
};

/* True if one more may begin now, which is then counted. `is_promised`: this is the
 * instant that the lease was given. Leases without such an instant come after those
 * with one. */
bool handover_limiter_take(struct handover_limiter *limiter, bool is_promised,
                           int64_t now_ms);
/* An instant for a lease that may not begin now. */
int64_t handover_limiter_promise(struct handover_limiter *limiter);

#endif
