/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h: a real sublet-broker on loopback, and many sites that one thread plays. Each
 * site has its own key and connection, through sys/wire/wire_client.c and the codec.
 *
 * Sites are named s0, s1 and so on; each is provider and consumer. HELLO is sent here,
 * and CONTRACTs are acknowledged here; all other messages go to the benchmark.
 *
 * Layer: tests. */
#ifndef SUBLET_TESTS_BENCH_CROWD_H
#define SUBLET_TESTS_BENCH_CROWD_H

#include "sys/wire/wire.h"
#include "tests/bench/bench.h"

enum { CROWD_SITES_MAX = 64 };

struct crowd;
/* A message to a site; not called for WELCOME and for PONGs that no call waits for. */
typedef void (*crowd_message_fn)(void *arg, int site, const struct msg *msg);

/* Starts the broker in `place` and returns when all sites are welcome. Providers send
 * the delay as their MC_RECLAIM_DELAY; 0: none. `sections`: of the broker's
 * configuration, beside its Broker and Member; "": none. */
struct crowd *crowd_new(struct bench_place *place, int n_sites,
                        int64_t reclaim_delay_ms, const char *sections);
/* STATE of the brokers that are started from now on, borrowed; NULL: a file. */
void crowd_set_state(const char *state);
/* The port of the broker for members, and that of its HTTP. */
int crowd_port(const struct crowd *crowd);
int crowd_http_port(const struct crowd *crowd);
/* Ends the broker too. */
void crowd_free(struct crowd *crowd);
void crowd_say(struct crowd *crowd, int site, struct msg *msg);
/* Messages of welcome sites that could not be sent: no connection, or a full queue. */
long crowd_count_unsent(const struct crowd *crowd);
/* Waits for messages at most that long, and delivers those that have come. */
void crowd_listen(struct crowd *crowd, int timeout_ms, crowd_message_fn fn, void *arg);

#endif
