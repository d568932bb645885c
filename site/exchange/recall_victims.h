/* SPDX-License-Identifier: Apache-2.0 */
/* recall_victims.h: chooses the jobs that give up slots of a contract.
 *
 * Jobs that were chosen before stay chosen. Then the queue with the lowest priority
 * gives first. Of the last queue that is needed, perhaps not all jobs have to end:
 * among all sets of its jobs that free enough slots, those with the fewest slots beyond
 * the need count, since a job ends as a whole; and among these the set with the
 * youngest jobs.
 *
 * Example: 2 slots are recalled from a queue with a (4 slots, youngest), b (1), c (1)
 * and d (2, oldest). b and c end: a would free 2 slots too many, and d is older. For 3
 * slots it is b and d.
 *
 * If whole hosts are recalled, all jobs on these hosts end.
 *
 * Units: slots. Order: ties by the higher number, which is that of the attempt on both
 * sides of a lease. Source: Symphony, "Reclaim grace period"; docs/adr/0012.
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
    struct job *job; /* of this site; or */
    struct run *run; /* the run of a consumer */
    int priority;
    int64_t start_ms; /* INT64_MAX: it has not started */
    uint64_t number;
    const struct host_slots *hosts;
    int n_hosts, n_slots;
    bool is_chosen; /* before */
    int round;      /* out: the call that chose it, from 1; 0: none */
};

struct recall_victims {
    struct recall_victim *items;
    int count;
    int n_rounds;
};

/* To be called before the first round. */
void recall_victims_sort(struct recall_victims *victims);
/* A round: chooses jobs that free that many slots. Returns the slots that are freed,
 * which are fewer if there are no more. */
int recall_victims_take(struct recall_victims *victims, int n_slots,
                        struct arena *arena);
/* A round: chooses all jobs on the host. */
void recall_victims_take_on_host(struct recall_victims *victims, const char *host);

#endif
