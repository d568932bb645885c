/* SPDX-License-Identifier: Apache-2.0 */
/* rate_limit.h: what one peer may take of a daemon: working time, and refusals.
 *
 * A peer may work while it has time left. What a message costs is known afterwards, so
 * the last one may lead to a debt, which delays the next. Whoever is refused too often
 * is out, for a time that doubles with each offence. It starts again with the shortest
 * time once the bucket of refusals has filled up while the peer was not out.
 *
 * Units: microseconds of work, milliseconds of any clock.
 * Source: docs/design/architecture.md "Rate limits". Layer: base. */
#ifndef SUBLET_BASE_RATE_LIMIT_H
#define SUBLET_BASE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/token_bucket.h"

enum {
    /* A quarter of the daemon's time. No member of a federation of a thousand sites
     * comes near it, and a flood leaves three quarters to the others. */
    RATE_LIMIT_WORK_PER_S = 250000,
    RATE_LIMIT_WORK_MOST =
        500000, /* at once: all leases of a provider that reconnects */
    /* Others wait until the message that is being handled is done. So a long one costs
     * more than its time: twice as much if it takes twice as long as this, and ten
     * times as much at most. */
    RATE_LIMIT_SHORT_US = 500,
    RATE_LIMIT_LONG_TIMES = 10,
    RATE_LIMIT_REFUSED_PER_S =
        10, /* messages of a session that the other side forgot */
    RATE_LIMIT_REFUSED_MOST = 1000,
    RATE_LIMIT_OUT_MS_MIN = 1000,
    RATE_LIMIT_OUT_MS_MAX = 300000,
    /* The price of what a message causes beyond the measured time: encryption, its
     * share of the commit, the answer's text. Measured: 1 MiB relayed takes 9 ms
     * (docs/adr/0014), a contract change with its five rows and messages 42 us, an
     * answer of a quarter of a megabyte 5 ms, a look at a pool that grants slots to
     * 10,000 leaves 38 ms (docs/bench.md). */
    RATE_LIMIT_US_PER_KIB = 9,
    RATE_LIMIT_US_PER_EFFECT = 5,
    RATE_LIMIT_US_PER_NODE = 4, /* of a plan that is computed because of the message */
    RATE_LIMIT_ANSWER_US_PER_KIB = 20,
};

struct rate_limit {
    struct token_bucket work, refused;
    int64_t out_until_ms; /* 0: it is not out */
    int64_t out_ms;       /* how long it was out last; 0: not lately */
    uint64_t work_us;     /* since the start, as are ... */
    uint64_t n_refused, n_out;
};

void rate_limit_init(struct rate_limit *rate_limit, int64_t work_per_s,
                     int64_t work_most);

/* It has time left. */
bool rate_limit_may_work(struct rate_limit *rate_limit, int64_t now_ms);
void rate_limit_take_work(struct rate_limit *rate_limit, int64_t us);
/* One message was handled for so long, and caused further work elsewhere. */
void rate_limit_take_message(struct rate_limit *rate_limit, int64_t us,
                             int64_t further_us);
/* Time that nobody else wanted: it is counted, and costs nothing. */
void rate_limit_take_idle(struct rate_limit *rate_limit, int64_t us);
/* When rate_limit_may_work, which was false, is true again. */
int64_t rate_limit_ready_ms(const struct rate_limit *rate_limit);

/* Counts a refusal. True if the peer is out from now on, until out_until_ms. */
bool rate_limit_refuse(struct rate_limit *rate_limit, int64_t now_ms);
bool rate_limit_is_out(struct rate_limit *rate_limit, int64_t now_ms);

#endif
