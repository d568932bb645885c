/* SPDX-License-Identifier: Apache-2.0 */
/* crowded_world.h: the simulator with as many sites and leases as a broker may have.
 *
 * Each site lends a host of 3 slots by each of its policies, as in fleet.h. A life: all
 * come, each lease is made by a first job, all are judged and move, the broker crashes
 * and has all of it confirmed. The invariants are checked after every step.
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_CROWDED_WORLD_H
#define SUBLET_TESTS_BENCH_CROWDED_WORLD_H

struct crowded_life {
    double cpu_s;    /* of the whole life */
    double peak_mib; /* of the process */
    long n_steps;    /* of step machines */
    int n_leases, n_changes;
};

/* In a process of its own, so that its memory is its own. */
struct crowded_life crowded_world_live(int n_sites, int n_leases_each);

#endif
