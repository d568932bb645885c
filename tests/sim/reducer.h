/* SPDX-License-Identifier: Apache-2.0 */
/* reducer.h: makes a federation that fails smaller, for as long as it still fails in
 * the same way: fewer statements, sites, policies, queues, hosts, keys, and smaller
 * numbers.
 *
 * Where chance plays a part (loss, crashes), a smaller scenario meets other luck:
 * several seeds are tried, and the one that fails is kept.
 *
 * Source: delta debugging (Zeller, Hildebrandt 2002). */
#ifndef SUBLET_TESTS_SIM_REDUCER_H
#define SUBLET_TESTS_SIM_REDUCER_H

#include <stdint.h>

#include "tests/sim/trial.h"

struct reducer_result {
    uint64_t seed;      /* with which the reduced texts fail */
    struct trial trial; /* how */
    int n_trials;
    bool is_done; /* false: the time was up before nothing more could go */
};

/* Makes `texts` smaller in place. They fail with `seed` as `trial` says. */
void reducer_reduce(struct texts *texts, uint64_t seed, const struct trial *trial,
                    int limit_s, struct reducer_result *result);

#endif
