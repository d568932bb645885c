/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c: see histogram.h. */
#include "sys/histogram.h"

#include <time.h>

const double histogram_commit_bounds[] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 0};

int64_t histogram_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void histogram_observe(struct histogram *histogram, int64_t took_ns)
{
    double seconds = (double)took_ns / 1e9;
    int bucket = 0;
    while (histogram->bounds[bucket] > 0 && seconds > histogram->bounds[bucket]) {
        bucket++;
    }
    histogram->counts[bucket]++;
    histogram->count++;
    histogram->sum += seconds;
}
