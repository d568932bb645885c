/* SPDX-License-Identifier: Apache-2.0 */
/* depends.h: who waits for whom: the waiting jobs whose condition (-w) speaks of a job,
 * so that a change of that one looks at those and at no others.
 *
 * Keys are model/job_id.h's; index 0 stands for a whole array, or a job of none.
 * Order: those that one change concerns, as they were added. Layer: site. */
#ifndef SUBLET_SITE_DEPENDS_H
#define SUBLET_SITE_DEPENDS_H

#include <stdbool.h>
#include <stdint.h>

struct depends;
struct depends *depends_new(void);
void depends_free(struct depends *depends);

/* The job of this key and condition (sched/depend.h, with ids) waits; or no more. */
void depends_add(struct depends *depends, uint64_t key, const char *condition);
void depends_remove(struct depends *depends, uint64_t key, const char *condition);

/* This job has changed. */
void depends_note(struct depends *depends, uint64_t key);
/* The next job whose condition has to be looked at again; false: that was all. One may
 * come twice, and may have left meanwhile. */
bool depends_take(struct depends *depends, uint64_t *key);
/* Somebody waits for the job, or for an element of the array, of that id. */
bool depends_has(const struct depends *depends, uint64_t id);

#endif
