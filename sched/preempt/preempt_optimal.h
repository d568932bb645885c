/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_optimal.h: OPTIMAL_MINI_JOB for a job that wants hosts to itself: the fewest
 * jobs that have to stand still so that hosts with enough slots fall empty.
 *
 * A host counts whole, once each job on it stands still; a job may be on several.
 * Finding the fewest is a knapsack, with parallel jobs a hard one: the search ends
 * after PREEMPT_OPTIMAL_STEPS_MAX at the best that it has seen, which its first steps
 * find where hosts are alike.
 *
 * Order: of sets as small the one that is found first: hosts are tried by jobs a slot,
 * then as they are handed over.
 * Units: slots. Ownership: all is the caller's. Layer: sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_OPTIMAL_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_OPTIMAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PREEMPT_OPTIMAL_STEPS_MAX = 20000
}; /* some milliseconds: a pass may have to choose
      for hundreds of jobs */

struct preempt_optimal_host {
    int n_slots;     /* that it has when it is empty */
    const int *jobs; /* that are on it */
    int n_jobs;      /* 0: it is empty */
};

/* Sets `chosen`, by job, for the jobs of hosts that have so many slots together. False:
 * all hosts have not. Jobs are numbers below `n_jobs`. */
bool preempt_optimal_select(const struct preempt_optimal_host *hosts, int n_hosts,
                            int n_jobs, int64_t n_slots, bool *chosen);

#endif
