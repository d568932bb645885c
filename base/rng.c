/* SPDX-License-Identifier: Apache-2.0 */
/* rng.c: see rng.h. */
#include "base/rng.h"

void rng_init(struct rng *rng, uint64_t seed)
{
    rng->state = seed;
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014). */
uint64_t rng_next(struct rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rng->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t rng_below(struct rng *rng, int64_t bound)
{
    /* The lowest 2^64 mod bound numbers are drawn again, so that all remainders are
     * equally likely. */
    uint64_t span = (uint64_t)bound;
    uint64_t spare = (UINT64_MAX - span + 1) % span;
    uint64_t number;
    do {
        number = rng_next(rng);
    } while (number < spare);
    return (int64_t)(number % span);
}

bool rng_percent(struct rng *rng, int percent)
{
    return rng_below(rng, 100) < percent;
}
