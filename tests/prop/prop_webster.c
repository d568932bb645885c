/* SPDX-License-Identifier: Apache-2.0 */
/* prop_webster.c: giving many seats at once equals giving seat by seat. SEED=N repeats
 * one run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/webster.h"

enum { PARTIES_MAX = 8, WORLDS = 5000 };

/* The definition. Weights here are small. */
static void seat_by_seat(int64_t n_seats, const int64_t *weights, int n_parties,
                         int64_t *seats)
{
    for (int64_t seat = 0; seat < n_seats; seat++) {
        int best = 0;
        for (int i = 1; i < n_parties; i++) {
            if (weights[i] * (2 * seats[best] + 1) >
                weights[best] * (2 * seats[i] + 1)) {
                best = i;
            }
        }
        seats[best]++;
    }
}

static void seats_are_as_defined(void **state)
{
    const char *only = getenv("SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : WORLDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct rng rng;
        rng_init(&rng, seed);
        int n_parties = (int)rng_below(&rng, PARTIES_MAX) + 1;
        int64_t span = rng_percent(&rng, 50) ? 4 : 1000; /* ties, or none */
        int64_t weights[PARTIES_MAX], seats[PARTIES_MAX], twin[PARTIES_MAX] = {0};
        for (int i = 0; i < n_parties; i++) {
            weights[i] = 1 + rng_below(&rng, span);
        }
        int64_t n_seats = rng_below(&rng, 200);
        webster_share(n_seats, weights, n_parties, seats);
        seat_by_seat(n_seats, weights, n_parties, twin);
        for (int i = 0; i < n_parties; i++) {
            if (seats[i] != twin[i]) {
                fail_msg("seed %" PRIu64 ": party %d has %" PRId64
                         ", its twin %" PRId64,
                         seed, i, seats[i], twin[i]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seats_are_as_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
