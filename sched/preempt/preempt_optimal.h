/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_optimal.h: OPTIMAL_MINI_JOB for an exclusive job: the fewest jobs to suspend
 * so that hosts with enough slots become empty.
 *
 * A host is empty after all jobs on it are suspended; a job may be on several hosts.
 * Finding the fewest jobs is a knapsack problem. The search ends after
 * PREEMPT_OPTIMAL_STEPS_MAX steps with the best set so far; if all hosts are alike, its
 * first steps find the best one.
 *
 * Order: of sets of the same size the first one found. Hosts are tried by jobs per
 * slot, then in the order given. Units: slots. Ownership: all is the caller's. Layer:
 * sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_OPTIMAL_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_OPTIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Some milliseconds: a pass may have to choose for hundreds of jobs. */
enum { PREEMPT_OPTIMAL_STEPS_MAX = 20000 };

struct preempt_optimal_host {
    int n_slots;     /* if it is empty */
    const int *jobs; /* on the host */
    int n_jobs;      /* 0: the host is empty */
};

/* Sets `chosen`, by job, for the jobs to suspend so that `n_slots` are on empty hosts.
 * False if all hosts together have too few slots. Jobs are numbers below `n_jobs`. */
bool preempt_optimal_select(const struct preempt_optimal_host *hosts, int n_hosts,
                            int n_jobs, int64_t n_slots, bool *chosen);

#endif
