/* SPDX-License-Identifier: Apache-2.0 */
/* class_snapshot.h: the lines of waiting jobs as a pass sees them, kept from one pass
 * to the next: a line is as its first job is, so what that job says is read once, when
 * it becomes the first. A pass over thousands of lines that have not changed touches
 * none of their jobs.
 *
 * Ownership: what is shown lives until the next look. Layer: site. */
#ifndef SUBLET_SITE_PASS_CLASS_SNAPSHOT_H
#define SUBLET_SITE_PASS_CLASS_SNAPSHOT_H

#include "sched/place/place.h"
#include "site/job/job.h"
#include "site/pass/pass_terms.h"

struct class_snapshot;
struct class_snapshot *class_snapshot_new(void);
void class_snapshot_free(struct class_snapshot *shown);

/* All lines, by their index in the set; the hosts of the pass are known
 * (resreq_match.h). */
const struct place_class *class_snapshot_update(struct class_snapshot *shown,
                                                const struct job_table *jobs,
                                                const struct site_config *config,
                                                const struct pass_terms *terms,
                                                struct arena *arena, int *n_lines);

#endif
