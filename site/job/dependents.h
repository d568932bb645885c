/* SPDX-License-Identifier: Apache-2.0 */
/* dependents.h: who waits for whom: the waiting jobs whose condition (-w) speaks of a
 * job, so that a change of that one looks at those and at no others.
 *
 * Keys are model/job_id.h's; index 0 stands for a whole array, or a job of none.
 * Order: those that one change concerns, as they were added. Layer: site. */
#ifndef SUBLET_SITE_JOB_DEPENDENTS_H
#define SUBLET_SITE_JOB_DEPENDENTS_H

#include <stdbool.h>
#include <stdint.h>

struct dependents;
struct dependents *dependents_new(void);
void dependents_free(struct dependents *depends);

/* The job of this key and condition (sched/pending/depend.h, with ids) waits; or no
 * more. */
void dependents_add(struct dependents *depends, uint64_t key, const char *condition);
void dependents_remove(struct dependents *depends, uint64_t key, const char *condition);

/* This job has changed. */
void dependents_note(struct dependents *depends, uint64_t key);
/* The next job whose condition has to be looked at again; false: that was all. One may
 * come twice, and may have left meanwhile. */
bool dependents_take(struct dependents *depends, uint64_t *key);
/* Somebody waits for the job, or for an element of the array, of that id. */
bool dependents_has(const struct dependents *depends, uint64_t id);

#endif
