/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h: a real sublet-broker on loopback, and many sites of it played by one thread:
 * each with a key and a connection of its own, through sys/wire_client and the codec.
 *
 * Sites are named s0, s1 ...; each is provider and consumer. HELLO is said here, and
 * CONTRACTs are acknowledged here; all else goes to the benchmark.
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_CROWD_H
#define SUBLET_TESTS_BENCH_CROWD_H

#include "sys/wire/wire.h"
#include "tests/bench/bench.h"

enum { CROWD_SITES_MAX = 64 };

struct crowd;
/* What a site has heard, but for WELCOME and PONGs nobody waits for. */
typedef void (*crowd_message_fn)(void *arg, int site, const struct msg *msg);

/* Starts the broker in `place` and returns when all sites are welcome. The delay is
 * what providers say as their MC_RECLAIM_DELAY; 0: none. */
struct crowd *crowd_new(struct bench_place *place, int n_sites,
                        int64_t reclaim_delay_ms);
/* Where the broker serves HTTP. */
int crowd_http_port(const struct crowd *crowd);
/* Ends the broker too. */
void crowd_free(struct crowd *crowd);
void crowd_say(struct crowd *crowd, int site, struct msg *msg);
/* Messages of welcome sites that did not leave: no connection, or its queue was full.
 */
long crowd_count_unsent(const struct crowd *crowd);
/* Waits for messages, at most so long, and hands over all that have come. */
void crowd_listen(struct crowd *crowd, int timeout_ms, crowd_message_fn fn, void *arg);

#endif
