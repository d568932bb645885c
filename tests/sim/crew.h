/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h: plays many random federations at a time, with one process per processor.
 *
 * A federation that ends its process (an assertion, a bad access) or that never ends is
 * a fault like any other. Another process then continues with the next seed. */
#ifndef SUBLET_TESTS_SIM_CREW_H
#define SUBLET_TESTS_SIM_CREW_H

#include <stdint.h>

#include "tests/sim/trial.h"

enum { CREW_FAULTS_MAX = 100 /* further ones are only counted */ };

struct crew_fault {
    uint64_t seed;
    struct trial trial;
};

struct crew_search {
    uint64_t first, count; /* seeds */
    int limit_s;           /* 0: until all are done */
    int n_workers;         /* 0: one per processor */
};

struct crew_report {
    uint64_t n_worlds, n_faults;
    struct crew_fault faults[CREW_FAULTS_MAX]; /* by seed */
    int n_kept;
    struct world_counts counts; /* sums */
    double seconds;
};

void crew_run(const struct crew_search *search, struct crew_report *report);

#endif
