/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h: a seeded generator (SplitMix64) for simulations, tests and jitter. The same
 * seed gives the same numbers on every machine. Not for secrets. Layer: base. */
#ifndef SUBLET_BASE_RNG_H
#define SUBLET_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Evenly in [0, bound); bound > 0. */
int64_t rng_below(struct rng *rng, int64_t bound);
/* True with a probability of `percent` in 100. */
bool rng_percent(struct rng *rng, int percent);

#endif
