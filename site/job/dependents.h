/* SPDX-License-Identifier: Apache-2.0 */
/* dependents.h: the table of dependent jobs: pending jobs by the jobs that their
 * dependency condition (-w) names. When a job changes, only the conditions that name it
 * are evaluated again.
 *
 * Keys are those of model/job_id.h; index 0 stands for a whole array, or for a job that
 * is no element of an array.
 * Order: jobs that depend on the same job come in the order in which they were added.
 * Layer: site. */
#ifndef SUBLET_SITE_JOB_DEPENDENTS_H
#define SUBLET_SITE_JOB_DEPENDENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dependents;
struct dependents *dependents_new(void);
void dependents_free(struct dependents *depends);

/* The job with this key waits for its condition (sched/pending/pending.h, with ids), or
 * no longer does. */
void dependents_add(struct dependents *depends, uint64_t key, const char *condition);
void dependents_remove(struct dependents *depends, uint64_t key, const char *condition);

/* The job has changed. */
void dependents_note(struct dependents *depends, uint64_t key);
/* Takes the next job whose condition has to be evaluated again; false: there is none. A
 * job may come twice, and may have been removed in the meantime. */
bool dependents_take(struct dependents *depends, uint64_t *key);
/* A job depends on the job with that id, or on an element of that array. */
bool dependents_has(const struct dependents *depends, uint64_t id);

#endif
