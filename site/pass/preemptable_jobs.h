/* SPDX-License-Identifier: Apache-2.0 */
/* preemptable_jobs.h: the running jobs that a plan of preemption
 * (sched/preempt/preempt.h) may choose victims from, as it is shown them. From one list
 * to the next it keeps on which host of the snapshot each job was found, so that
 * thousands of names need not be looked up in each pass; what is kept is compared by
 * name before it counts.
 *
 * Ownership: a list is kept until the next one; names and classes in it are the jobs',
 * what belongs to a job of several hosts is the arena's. Order: by attempt. Units:
 * slots, milliseconds. Layer: site. */
#ifndef SUBLET_SITE_PASS_PREEMPTABLE_JOBS_H
#define SUBLET_SITE_PASS_PREEMPTABLE_JOBS_H

#include "sched/preempt/preempt.h"
#include "site/job/job.h"

struct preempt_claims_parts;
struct rusage_pass;
struct preemptable_jobs;
struct preemptable_jobs *preemptable_jobs_new(void);
void preemptable_jobs_free(struct preemptable_jobs *preemptable); /* NULL is fine */

/* It runs, and nothing about the job itself keeps it from being suspended. */
bool preemptable_jobs_is_preemptable(const struct job *job);
/* All of those. One that has a host which is gone from the snapshot has no pieces. */
const struct preempt_job *preemptable_jobs_list(
    struct preemptable_jobs *preemptable, const struct preempt_claims_parts *parts,
    struct rusage_pass *reserves, struct arena *arena,
    const struct place_snapshot *snapshot, int64_t now_ms, int *n_jobs);

#endif
