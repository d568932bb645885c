/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h: a real sublet-broker on loopback, and hundreds of its sites in one thread.
 * Each site is the real step machine of a site, with its own key and CURVE connection.
 * It has no journal (its rows are only counted), and its hosts are those of the
 * simulator.
 *
 * Sites are named s0, s1 and so on. By each of its policies a site lends one host of 3
 * slots to one of the next sites, as a shared lease with RECLAIM_POLICY lsf. It borrows
 * as many hosts as it lends.
 *
 * Units: milliseconds of the wall clock, seconds of bench_now. Errors: as bench.h.
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_FLEET_H
#define SUBLET_TESTS_BENCH_FLEET_H

#include "tests/bench/bench.h"

enum { FLEET_SITES_MAX = 1000 };

struct fleet;

/* Starts broker and sites, and activates every lease by a first job of its consumer. */
struct fleet *fleet_new(struct bench_place *place, int n_sites, int n_leases_each);
/* Ends the broker too. */
void fleet_free(struct fleet *fleet);

int fleet_count_leases(const struct fleet *fleet);
/* Runs all sites for that time. */
void fleet_run(struct fleet *fleet, double seconds);

/* Sets the reclaim delay of all leases, as an administrator does. */
void fleet_set_delay(struct fleet *fleet, int64_t delay_ms);
/* Runs until that many CONTRACTs with a new epoch have reached their consumers since
 * the last call of fleet_forget. Returns the seconds since then. */
double fleet_await_changes(struct fleet *fleet, long n_changes);
long fleet_count_changes(const struct fleet *fleet);
void fleet_forget(struct fleet *fleet);

/* Kills the broker with SIGKILL and starts it again: seconds since the kill. */
struct fleet_restart {
    double ready_s;     /* until it is ready */
    double confirmed_s; /* until it reports that all contracts are confirmed */
};
struct fleet_restart fleet_restart(struct fleet *fleet);

/* Messages from the broker to the sites, and from the sites to the broker. */
long fleet_count_heard(const struct fleet *fleet);
long fleet_count_said(const struct fleet *fleet);

#endif
