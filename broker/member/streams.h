/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h: how much of interactive jobs' terminals the broker passes on.
 *
 * A job on a borrowed host may write for ever, and its guard sends no more than
 * STREAM_RELAYED_PER_S of that (base/bounds.h); but there may be many. What a site says
 * above STREAMS_SITE_PER_S, or all of them above STREAMS_ALL_PER_S, is dropped: leases
 * and starts come first, and the two ends of a terminal repair what was lost after two
 * seconds. Small pieces (keys, their echo, what has arrived) pass also when a flood has
 * used up the rest, so that who types next to one does not notice it.
 *
 * Measured: 1 MiB is 9 ms of a processor (docs/adr/0033).
 *
 * Units: bytes, milliseconds. Layer: broker (base only). */
#ifndef SUBLET_BROKER_MEMBER_STREAMS_H
#define SUBLET_BROKER_MEMBER_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/token_bucket.h"

enum {
    STREAMS_SITE_PER_S = 8 << 20,
    STREAMS_ALL_PER_S = 32 << 20,
    STREAMS_SMALL = 1024, /* bytes of a small piece */
};

struct streams {
    struct token_bucket bucket;
    uint64_t n_bytes;   /* passed on since the start */
    uint64_t n_dropped; /* pieces that were not */
};

void streams_init(struct streams *streams, int64_t per_s);
/* Whether a piece may pass; counted for the site either way. */
bool streams_pass(struct streams *all, struct streams *of_site, int n_bytes,
                  int64_t now_ms);

#endif
