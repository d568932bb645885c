/* SPDX-License-Identifier: Apache-2.0 */
/* class_snapshot.h: the classes of pending jobs as a pass sees them, carried over from
 * one pass to the next. A class is described by its first job, which is read once, when
 * it becomes the first. A pass over thousands of unchanged classes reads none of their
 * jobs.
 *
 * Ownership: valid until the next update. Layer: site. */
#ifndef SUBLET_SITE_PASS_CLASS_SNAPSHOT_H
#define SUBLET_SITE_PASS_CLASS_SNAPSHOT_H

#include "sched/place/place.h"
#include "site/job/job.h"
#include "site/pass/pass_terms.h"

struct class_snapshot;
struct class_snapshot *class_snapshot_new(void);
void class_snapshot_free(struct class_snapshot *snapshot);

/* The classes of resreq_cache.h were dropped. */
void class_snapshot_forget_matches(struct class_snapshot *snapshot);

/* All classes, by their index in the set. */
const struct place_class *class_snapshot_update(struct class_snapshot *snapshot,
                                                const struct job_table *jobs,
                                                const struct site_config *config,
                                                struct pass_terms *terms,
                                                struct arena *arena, int *n_classes);

#endif
