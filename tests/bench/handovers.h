/* SPDX-License-Identifier: Apache-2.0 */
/* handovers.h: hand-overs of many leases of one provider to one consumer, timed from
 * the broker's FREEZE to the CONTRACT of the new epoch at the consumer.
 *
 * No job uses the slots of the leases, so LSF's rule moves all of them to the other
 * side at each reclaim delay, at different instants. The driver plays both sites. Like
 * a real provider, it commits a row to its own store (SQLite, synchronous=FULL) before
 * it reports the new epoch.
 *
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_HANDOVERS_H
#define SUBLET_TESTS_BENCH_HANDOVERS_H

#include "tests/bench/crowd.h"

enum { HANDOVERS_SAMPLES_MAX = 10000 };

struct handovers;
/* Leases "s0/1/s1", "s0/2/s1" and so on, each moved once per delay. */
struct handovers *handovers_new(struct bench_place *place, int n_leases,
                                int64_t reclaim_ms);
void handovers_free(struct handovers *all);
struct crowd *handovers_crowd(const struct handovers *all);
/* Runs for that long, without earlier measurements; fails if nothing was handed over.
 */
void handovers_run(struct handovers *all, double seconds);
/* Milliseconds that `share` (0.5) of the last run's hand-overs, or of the provider's
 * commits in it, did not exceed. */
double handovers_took_ms(struct handovers *all, double share);
double handovers_commit_ms(struct handovers *all, double share);

#endif
