/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h: bounds what the broker relays of interactive jobs' terminals.
 *
 * A job on a borrowed host may write without end. Its guard sends at most
 * STREAM_RELAYED_PER_S, but there may be many such jobs. What a site sends above
 * STREAMS_SITE_PER_S, or all sites above STREAMS_ALL_PER_S, is dropped: leases and
 * starts come first, and the two ends of a terminal repair the loss after two seconds.
 * Small pieces (keys, their echo, acknowledgements) pass even then, so that a user at
 * another terminal does not notice.
 *
 * Measured: 1 MiB is 9 ms of a processor (docs/adr/0014).
 *
 * Units: bytes, milliseconds. Layer: broker. */
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
