/* SPDX-License-Identifier: Apache-2.0 */
/* handovers.h: hand-overs of many leases of one provider to one consumer, timed from
 * the broker's FREEZE to the CONTRACT of the new epoch at the consumer.
 *
 * Nobody uses the leases' slots, and so LSF's rule sends all of them to the other side
 * at each reclaim delay. Their instants are spread. The driver plays both sites; as a
 * provider must, it commits a row to a store of its own (SQLite, synchronous=FULL)
 * before it states the new epoch.
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_HANDOVERS_H
#define SUBLET_TESTS_BENCH_HANDOVERS_H

#include "tests/bench/crowd.h"

enum { HANDOVERS_SAMPLES_MAX = 10000 };

struct handovers;
/* Leases "s0/1/s1", "s0/2/s1" ..., each moved once a delay. */
struct handovers *handovers_new(struct bench_place *place, int n_leases,
                                int64_t reclaim_ms);
void handovers_free(struct handovers *all);
struct crowd *handovers_crowd(const struct handovers *all);
/* Lets them happen for so long, and forgets what was measured before; fails where none
 * was handed over. */
void handovers_run(struct handovers *all, double seconds);
/* Milliseconds that `share` (0.5) of the last run's hand-overs, or of the provider's
 * commits in it, did not exceed. */
double handovers_took_ms(struct handovers *all, double share);
double handovers_commit_ms(struct handovers *all, double share);

#endif
