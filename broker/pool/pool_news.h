/* SPDX-License-Identifier: Apache-2.0 */
/* pool_news.h: hosts of a pool that take jobs and did not in the cycle before: jobs
 * that could not use a leaf's slots may be able to use these.
 *
 * Ownership: the arena's; texts are copied. Order: by policy, then by host. Layer:
 * broker. */
#ifndef SUBLET_BROKER_POOL_POOL_NEWS_H
#define SUBLET_BROKER_POOL_POOL_NEWS_H

#include <stdint.h>

#include "base/arena.h"

struct pool_snapshot;

struct pool_seen_host {
    const char *policy; /* the contract with its idle slots */
    const char *host;
};

/* Of a pool, from cycle to cycle; all zero at first. */
struct pool_news {
    struct pool_seen_host *hosts; /* with slots in the pool */
    int n_hosts;
    int64_t count; /* cycles with a new host */
};

/* What is known after this cycle. */
struct pool_news pool_news_next(const struct pool_news *before,
                                const struct pool_snapshot *snapshot,
                                struct arena *arena);

#endif
