/* SPDX-License-Identifier: Apache-2.0 */
/* consumer_world.h: a consumer "south" with a clock, for tests that tell stories. What
 * was sent and reported since the latest look is kept as short texts, in order:
 *   sent: "START 1", "ASK 1", "CONTROL 1/2" (attempt/order), "ACK 1", "OUTPUT 1 out@0",
 *         "CONTRACT_ACK 3"
 *   reported: "taken 1", "refused 1", "lost 1", "running 1", "suspended 1",
 *         "done 1/2", "output 1 out@0 abc", "ended 1 TEXT", "unknown 1" */
#ifndef SUBLET_TESTS_CONSUMER_WORLD_H
#define SUBLET_TESTS_CONSUMER_WORLD_H

#include "consumer/consumer.h"

struct consumer_world {
    struct consumer *consumer;
    struct effects effects;
    int64_t now_ms;
    uint64_t session;
    struct arena memory;
    const char *reported;
    bool acknowledges; /* the site records an end at once */
    bool writes;       /* and writes a piece at once */
};

void consumer_world_init(struct consumer_world *world);
void consumer_world_release(struct consumer_world *world);

void consumer_world_session(struct consumer_world *world, uint64_t session);
/* Of lease north/1/south; hosts as "HOST=HELD ..." with "!" behind one that is down. */
void consumer_world_contract(struct consumer_world *world, uint64_t revision,
                             uint64_t epoch, enum lease_state state, const char *hosts);
/* On north/1/south at epoch 1, hosts as "HOST=SLOTS ...". Files: "", "o", "e", "oe". */
void consumer_world_start(struct consumer_world *world, uint64_t attempt,
                          const char *hosts, const char *files);
void consumer_world_resume(struct consumer_world *world, uint64_t attempt,
                           const char *hosts, bool is_taken);
/* ATTEMPT_STATE from north. */
void consumer_world_hear(struct consumer_world *world, uint64_t attempt,
                         enum attempt_state state, uint64_t control_done);
void consumer_world_hear_from(struct consumer_world *world, const char *site,
                              uint64_t attempt, enum attempt_state state);
/* OUTPUT that answers the latest OUTPUT_ASK. */
void consumer_world_output(struct consumer_world *world, const char *bytes, bool is_end,
                           bool is_gone);
void consumer_world_tick(struct consumer_world *world, int64_t later_ms);

/* Each returns what there was, joined by "; ", and forgets it. */
const char *consumer_world_sent(struct consumer_world *world);
const char *consumer_world_reported(struct consumer_world *world);
/* The borrowed hosts: "n1@north HELD/USED[ open]; ...". */
const char *consumer_world_hosts(struct consumer_world *world);

#endif
