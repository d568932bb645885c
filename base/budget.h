/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h: what one peer may take of a daemon: working time, and refusals.
 *
 * A peer may work while it has time left. What a message costs is known afterwards, so
 * the last one may lead to a debt, which delays the next. Whoever is refused too often
 * is out, for a time that doubles with each offence. It starts again with the shortest
 * time once the bucket of refusals has filled up while the peer was not out.
 *
 * Units: microseconds of work, milliseconds of any clock.
 * Source: docs/design/architecture.md "Budgets". Layer: base. */
#ifndef SUBLET_BASE_BUDGET_H
#define SUBLET_BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/token_bucket.h"

enum {
    /* A quarter of the daemon's time. No member of a federation of a thousand sites
     * comes near it, and a flood leaves three quarters to the others. */
    BUDGET_WORK_PER_S = 250000,
    BUDGET_WORK_MOST = 500000, /* at once: all leases of a provider that reconnects */
    /* Others wait until the message that is being handled is done. So a long one costs
     * more than its time: twice as much if it takes twice as long as this, and ten
     * times as much at most. */
    BUDGET_SHORT_US = 500,
    BUDGET_LONG_TIMES = 10,
    BUDGET_REFUSED_PER_S = 10, /* messages of a session that the other side forgot */
    BUDGET_REFUSED_MOST = 1000,
    BUDGET_OUT_MS_MIN = 1000,
    BUDGET_OUT_MS_MAX = 300000,
    /* The price of what a message causes beyond the measured time: encryption, its
     * share of the commit, the answer's text. Measured: 1 MiB relayed takes 9 ms
     * (docs/adr/0014), a contract change with its five rows and messages 42 us, an
     * answer of a quarter of a megabyte 5 ms, a look at a pool that grants slots to
     * 10,000 leaves 38 ms (docs/bench.md). */
    BUDGET_US_PER_KIB = 9,
    BUDGET_US_PER_EFFECT = 5,
    BUDGET_US_PER_NODE = 4, /* of a plan that is computed because of the message */
    BUDGET_ANSWER_US_PER_KIB = 20,
};

struct budget {
    struct token_bucket work, refused;
    int64_t out_until_ms; /* 0: it is not out */
    int64_t out_ms;       /* how long it was out last; 0: not lately */
    uint64_t work_us;     /* since the start, as are ... */
    uint64_t n_refused, n_out;
};

void budget_init(struct budget *budget, int64_t work_per_s, int64_t work_most);

/* It has time left. */
bool budget_may_work(struct budget *budget, int64_t now_ms);
void budget_take_work(struct budget *budget, int64_t us);
/* One message was handled for so long, and caused further work elsewhere. */
void budget_take_message(struct budget *budget, int64_t us, int64_t further_us);
/* Time that nobody else wanted: it is counted, and costs nothing. */
void budget_take_idle(struct budget *budget, int64_t us);
/* When budget_may_work, which was false, is true again. */
int64_t budget_ready_ms(const struct budget *budget);

/* Counts a refusal. True if the peer is out from now on, until out_until_ms. */
bool budget_refuse(struct budget *budget, int64_t now_ms);
bool budget_is_out(struct budget *budget, int64_t now_ms);

#endif
