/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h: how many leases may begin to change hands at one time.
 *
 * Where a thousand fall due at one instant, a change of the reclaim delay for all of
 * them say, each would be frozen until the last had been heard of, and what is asked
 * again meanwhile would be asked of the same few processors. So at most
 * PACE_LEASES begin within PACE_MS; the others wait for the next PACE_MS, unfrozen.
 * Only beginnings count: a lease that is stuck in its change, because its provider is
 * away, takes nobody's place.
 *
 * Units: milliseconds. Source: issue "Leases, complete", 3; INTERFACES 4 ("spreading of
 * judgements applies from 100 leases"). Layer: broker (base only). */
#ifndef SUBLET_BROKER_PACE_H
#define SUBLET_BROKER_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACE_LEASES = 100,
    PACE_MS = 50, /* 2,000 a second: a fifth of a processor (docs/bench.md, "scale") */
};

struct pace {
    int64_t since_ms;
    int n_begun; /* since then */
};

/* True where one more may begin now: it is counted. */
bool pace_take(struct pace *pace, int64_t now_ms);
/* When one may, where none may now. */
int64_t pace_next_ms(const struct pace *pace);

#endif
