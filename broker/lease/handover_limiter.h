/* SPDX-License-Identifier: Apache-2.0 */
/* handover_limiter.h: how many hand-overs may begin at the same time.
 *
 * If a thousand leases fall due at one instant (after a change of the reclaim delay for
 * all, for example), each would stay frozen until the last STATE has been handled, and
 * every message that is sent again meanwhile would add to the load. So at most
 * HANDOVER_LIMITER_LEASES hand-overs begin within HANDOVER_LIMITER_MS. Every other
 * lease gets an instant of its own and is not frozen before; it is looked at twice, not
 * once in each HANDOVER_LIMITER_MS. Only the begin counts: a hand-over that is stuck
 * because its provider is away does not hold up others.
 *
 * Units: milliseconds. Source: docs/design/interfaces.md "Scenarios" ("spreading of
 * judgements applies from 100 leases"). Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_HANDOVER_LIMITER_H
#define SUBLET_BROKER_LEASE_HANDOVER_LIMITER_H

#include <stdbool.h>
#include <stdint.h>

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
bool handover_limiter_take(struct handover_limiter *pace, bool is_promised,
                           int64_t now_ms);
/* An instant for a lease that may not begin now. */
int64_t handover_limiter_promise(struct handover_limiter *pace);

#endif
