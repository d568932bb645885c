/* SPDX-License-Identifier: Apache-2.0 */
/* job_class.h: classes of equal pending jobs. Two pending jobs are in the same class if
 * they have the same queue, user, slots, hosts and everything else that decides where a
 * job may start. If the first job of a class cannot start, no other job of it can. A
 * scheduling pass therefore looks at classes instead of jobs.
 *
 * Order in a class: higher priority (-sp) first, then lower position (btop, bbot), then
 * lower key, which is the order of submission.
 * Ownership: entries belong to the caller (they are part of its jobs) and must not
 * change while they are in a class. Classes belong to the set. A class without entries
 * is dropped.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_JOB_CLASS_H
#define SUBLET_SCHED_PENDING_JOB_CLASS_H

#include <stdint.h>

#include "sched/pending/pending_reason.h"

/* A pending job as a member of its class. */
struct job_class_entry {
    int64_t priority;
    int64_t position;
    uint64_t key; /* model/job_id.h; no two entries have the same */
    int64_t submit_ms;
};

/* Negative if a comes before b. */
int job_class_compare(const struct job_class_entry *a, const struct job_class_entry *b);

struct job_class;
struct job_class_set;
struct job_class_set *job_class_set_new(void);
void job_class_set_free(struct job_class_set *classes);

/* Adds the entry to the class of that name, and creates the class if there is none. The
 * name is one text of everything that has to be equal. */
struct job_class *job_class_add(struct job_class_set *classes, const char *name,
                                struct job_class_entry *entry);
/* The entry must be in this class. */
void job_class_remove(struct job_class_set *classes, struct job_class *class,
                      struct job_class_entry *entry);

/* The entries in order; valid until the class changes. */
struct job_class_entry *const *job_class_entries(const struct job_class *class,
                                                 int *n_entries);

/* The verdict of the last pass; REASON_NEW before the first one. */
const struct pending_verdict *job_class_verdict(const struct job_class *class);

/* All classes. The order has no meaning. */
int job_class_set_count(const struct job_class_set *classes);
struct job_class *job_class_set_at(const struct job_class_set *classes, int index);
int job_class_index(const struct job_class *class);

/* The entries of a class and its generation. The set gives out each generation once: a
 * class gets a new one whenever another entry becomes its first. A caller that caches
 * something about the first job compares generations instead of jobs. */
struct job_class_view {
    struct job_class_entry *const *entries;
    int n_entries;
    uint64_t generation; /* from 1 */
};

/* All classes by index; valid until one of them changes. */
const struct job_class_view *job_class_set_views(const struct job_class_set *classes);
/* Stores the verdicts of a pass, by index of the class. */
void job_class_set_verdicts(struct job_class_set *classes,
                            const struct pending_verdict *verdicts);

#endif
