/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h: many random federations at a time, a process for each processor.
 *
 * A world that ends its process (an assertion, a bad access) or never ends is a fault
 * like any other: the next process goes on behind it. */
#ifndef SUBLET_TESTS_SIM_CREW_H
#define SUBLET_TESTS_SIM_CREW_H

#include <stdint.h>

#include "tests/sim/trial.h"

enum { CREW_FAULTS_MAX = 100 /* more are counted, not kept */ };

struct crew_fault {
    uint64_t seed;
    struct trial trial;
};

struct crew_search {
    uint64_t first, count; /* seeds */
    int limit_s;           /* 0: until all are done */
    int n_workers;         /* 0: as many as there are processors */
};

struct crew_report {
    uint64_t n_worlds, n_faults;
    struct crew_fault faults[CREW_FAULTS_MAX]; /* by seed */
    int n_kept;
    struct world_counts counts; /* of all */
    double seconds;
};

void crew_run(const struct crew_search *search, struct crew_report *report);

#endif
