/* SPDX-License-Identifier: Apache-2.0 */
/* recall_victims.h: which of those that use slots of a contract give them up.
 *
 * In this order: who was chosen before stays so; then the least important queue goes
 * first. Of the last queue that is needed not all may have to go: of all sets of its
 * jobs those count that free enough and the fewest slots beyond, as a job is ended
 * whole; of these the one with the youngest jobs.
 *
 * Example: 2 slots are wanted back of a queue with a (4 slots, youngest), b (1), c (1),
 * d (2, oldest). b and c go: a would end 2 slots too many, and d is older. For 3 slots
 * it is b and d.
 *
 * Where hosts go whole, all that uses one of these goes.
 *
 * Units: slots. Order: ties by the higher number, which is the attempt's on both sides
 * of a lease. Source: seed document 001 "Reclaim grace period"; docs/adr/0029.
 * Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_RECALL_VICTIMS_H
#define SUBLET_SITE_EXCHANGE_RECALL_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/msg.h"

struct job;
struct run;

struct recall_victim {
    struct job *job; /* of ours; or */
    struct run *run; /* of a consumer */
    int priority;
    int64_t start_ms; /* INT64_MAX: it has not begun */
    uint64_t number;
    const struct host_slots *hosts;
    int n_hosts, n_slots;
    bool is_chosen; /* before */
    int round;      /* out: the call that took it, from 1; 0: none did */
};

struct recall_victims {
    struct recall_victim *items;
    int count;
    int n_rounds;
};

/* Before the first round. */
void recall_victims_sort(struct recall_victims *victims);
/* A round: takes as many as free so many slots. Returns what it takes, which is less
 * where there is no more. */
int recall_victims_take(struct recall_victims *victims, int n_slots,
                        struct arena *arena);
/* A round: takes what uses the host. */
void recall_victims_take_on_host(struct recall_victims *victims, const char *host);

#endif
