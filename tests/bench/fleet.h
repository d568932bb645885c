/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h: a real sublet-broker on loopback, and hundreds of sites of it in one thread:
 * each the real step machine of a site, with a key and a CURVE connection of its own.
 * Only their journals are left out (what they store is counted), and their hosts are
 * those of the simulator.
 *
 * Sites are named s0, s1 ...; each lends the one host of each of its policies, 3 slots,
 * to one of the sites behind it, shared, with RECLAIM_POLICY lsf; and borrows as often.
 *
 * Units: milliseconds of the wall clock, seconds of bench_now.
 * Errors: as bench.h. Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_FLEET_H
#define SUBLET_TESTS_BENCH_FLEET_H

#include "tests/bench/bench.h"

enum { FLEET_SITES_MAX = 1000 };

struct fleet;

/* Starts broker and sites, and makes every lease by a first job of its consumer. */
struct fleet *fleet_new(struct bench_place *place, int n_sites, int n_leases_each);
/* Ends the broker too. */
void fleet_free(struct fleet *fleet);

int fleet_count_leases(const struct fleet *fleet);
/* For so long all sites do what is due, and what they are told. */
void fleet_run(struct fleet *fleet, double seconds);

/* Of all leases, as an administrator of the federation sets it. */
void fleet_set_delay(struct fleet *fleet, int64_t delay_ms);
/* Until so many CONTRACTs under a new epoch have reached their consumers since the last
 * call of fleet_forget; the seconds that took. */
double fleet_await_changes(struct fleet *fleet, long n_changes);
long fleet_count_changes(const struct fleet *fleet);
void fleet_forget(struct fleet *fleet);

/* kill -9 of the broker, and a start at once: what each step took since then. */
struct fleet_restart {
    double ready_s;     /* it serves */
    double confirmed_s; /* it says that all contracts are confirmed */
};
struct fleet_restart fleet_restart(struct fleet *fleet);

/* Messages that the broker has sent to the sites, and what the sites have said. */
long fleet_count_heard(const struct fleet *fleet);
long fleet_count_said(const struct fleet *fleet);

#endif
