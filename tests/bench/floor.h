/* SPDX-License-Identifier: Apache-2.0 */
/* floor.h: how fast the bare parts are on this machine now, measured for a second or
 * less each.
 *
 * Units: per second. Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_FLOOR_H
#define SUBLET_TESTS_BENCH_FLOOR_H

#include "tests/bench/bench.h"

/* Rows that SQLite makes durable (WAL, synchronous=FULL), `batch` per commit. */
double floor_commit_rows(const struct bench_place *place, int batch);
/* Round trips of small messages through libzmq with CURVE on loopback: several DEALERs
 * in one thread, each with several messages outstanding, and one ROUTER in another. */
double floor_round_trips(int n_peers, int n_outstanding);
/* The processor time, as a percentage of a core, of a process that does nothing but
 * return messages through libzmq with CURVE: each of `n_peers` connections sends one
 * every two seconds, spread evenly. Takes some six seconds. */
double floor_rest_percent(int n_peers);
/* posix_spawn of /bin/true and its exit status, `n_at_once` at a time. */
double floor_spawns(int n_at_once);

#endif
