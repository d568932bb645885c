/* SPDX-License-Identifier: Apache-2.0 */
/* crowded_world.h: the simulator with as many sites and leases as a broker may have.
 *
 * By each of its policies a site lends a host of 3 slots, as in fleet.h. In one
 * simulation all sites connect, a first job activates each lease, every lease is
 * rebalanced and moves, and the broker crashes and gets all contracts confirmed. The
 * invariants are checked after every step.
 *
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_CROWDED_WORLD_H
#define SUBLET_TESTS_BENCH_CROWDED_WORLD_H

struct crowded_life {
    double cpu_s;    /* of the whole simulation */
    double peak_mib; /* of the process */
    long n_steps;    /* of step machines */
    int n_leases, n_changes;
};

/* Runs in a separate process, so that the peak is that of this simulation. */
struct crowded_life crowded_world_live(int n_sites, int n_leases_each);

#endif
