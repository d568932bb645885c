/* SPDX-License-Identifier: Apache-2.0 */
/* pool_sample.h: pools and the nodes of their plans as numbers for charts, by the
 * latest cycle.
 *
 * What the cycle grants counts as held, what it recalls as recalled. A pool without a
 * cycle (since the start, or since its plan was loaded) has no samples.
 *
 * Units: slots. Ownership: names are borrowed until the next step.
 * Order: pools as configured; each pool, then its nodes in the order of plan.h.
 * Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_POOL_SAMPLE_H
#define SUBLET_BROKER_VIEW_POOL_SAMPLE_H

#include "broker/broker.h"

struct pool_sample {
    const char *pool;
    const char *node;    /* its path; NULL: the pool itself */
    int64_t slots, idle; /* of a pool */
    int64_t quota;       /* of a node */
    int64_t alloc, recalled, demand;
};

int pool_sample_count(const struct broker *broker);
/* index 0 .. pool_sample_count - 1. */
struct pool_sample pool_sample_at(const struct broker *broker, int index);

#endif
