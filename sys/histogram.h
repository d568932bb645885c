/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h: counts durations in buckets with fixed bounds.
 * Layer: sys, without any input or output. */
#ifndef SUBLET_SYS_HISTOGRAM_H
#define SUBLET_SYS_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BUCKETS_MAX = 16 };

/* For commits to a store. */
extern const double histogram_commit_bounds[];

struct histogram {
    const double *bounds; /* upper, in seconds, rising; ended by 0 */
    uint64_t counts[HISTOGRAM_BUCKETS_MAX + 1]; /* the last: above all bounds */
    uint64_t count;
    double sum;
};

/* A clock for durations. */
int64_t histogram_now_ns(void);
void histogram_observe(struct histogram *histogram, int64_t took_ns);

#endif
