/* SPDX-License-Identifier: Apache-2.0 */
/* reducer.h: makes a failing federation smaller while it still fails in the same way:
 * fewer statements, sites, policies, queues, hosts and keys, and smaller numbers.
 *
 * If a scenario has random faults (loss, crashes), a smaller one meets other random
 * numbers. So several seeds are tried, and one that fails is used.
 *
 * Source: delta debugging (Zeller, Hildebrandt 2002). */
#ifndef SUBLET_TESTS_SIM_REDUCER_H
#define SUBLET_TESTS_SIM_REDUCER_H

#include <stdint.h>

#include "tests/sim/trial.h"

struct reducer_result {
    uint64_t seed;      /* the reduced texts fail with it */
    struct trial trial; /* their fault */
    int n_trials;
    bool is_done; /* false: the time limit ended the reduction */
};

/* Makes `texts` smaller in place. With `seed` they have the fault in `trial`. */
void reducer_reduce(struct texts *texts, uint64_t seed, const struct trial *trial,
                    int limit_s, struct reducer_result *result);

#endif
