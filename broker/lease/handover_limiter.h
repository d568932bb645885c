/* SPDX-License-Identifier: Apache-2.0 */
/* handover_limiter.h: how many leases may begin to change hands at one time.
 *
 * Where a thousand fall due at one instant, a change of the reclaim delay for all of
 * them say, each would be frozen until the last had been heard of, and what is asked
 * again meanwhile would be asked of the same few processors. So at most
 * HANDOVER_LIMITER_LEASES begin within HANDOVER_LIMITER_MS; the others wait, unfrozen,
 * each until an instant of its own: so a round of many costs each of them two looks,
 * and not one for each HANDOVER_LIMITER_MS until its turn. Only beginnings count: a
 * lease that is stuck in its change, because its provider is away, takes nobody's
 * place.
 *
 * Units: milliseconds. Source: issue "Leases, complete", 3; INTERFACES 4 ("spreading of
 * judgements applies from 100 leases"). Layer: broker (base only). */
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

/* True where one more may begin now: it is counted. `is_promised`: this is the instant
 * that it was given; who was not waits behind those that were. */
bool handover_limiter_take(struct handover_limiter *pace, bool is_promised,
                           int64_t now_ms);
/* An instant for one that may not begin now. */
int64_t handover_limiter_promise(struct handover_limiter *pace);

#endif
