/* SPDX-License-Identifier: Apache-2.0 */
/* job_class.h: waiting jobs that are alike stand in one line: of the same queue, user,
 * slots, hosts and whatever else decides where a job may start. If the first of a line
 * cannot start, none of it can: a pass looks at lines, not at jobs.
 *
 * Order in a line: priority (-sp, higher first), then place (btop, bbot; lower first),
 * then key, which is the order of submission.
 * Ownership: turns are the caller's (part of its jobs) and must not change while they
 * stand in a line; lines belong to the set. A line without turns is dropped.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_PENDING_JOB_CLASS_H
#define SUBLET_SCHED_PENDING_JOB_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/pending/pending_reason.h"

/* One waiting job's turn. */
struct job_class_entry {
    int64_t priority;
    int64_t place;
    uint64_t key; /* model/job_id.h; no two turns have the same */
    int64_t submit_ms;
};

/* Below 0 where a comes before b. */
int job_class_compare(const struct job_class_entry *a, const struct job_class_entry *b);

struct job_class;
struct job_classes;
struct job_classes *job_classes_new(void);
void job_classes_free(struct job_classes *lines);

/* Puts the turn into the line of that name, which is made where there is none: all that
 * makes jobs alike, as one text. */
struct job_class *job_class_add(struct job_classes *lines, const char *name,
                                struct job_class_entry *turn);
/* A turn that stands in this line. */
void job_class_remove(struct job_classes *lines, struct job_class *line,
                      struct job_class_entry *turn);

/* The turns in order; valid until the line changes. */
struct job_class_entry *const *job_class_entries(const struct job_class *line,
                                                 int *n_turns);

/* What the last pass made of it; REASON_NEW until there was one. */
const struct pending_verdict *job_class_verdict(const struct job_class *line);

/* All lines, in no order that means anything. */
int job_classes_count(const struct job_classes *lines);
struct job_class *job_classes_at(const struct job_classes *lines, int index);
int job_class_index(const struct job_class *line);

/* A line's turns, and a number that no line had before: another one whenever another
 * turn has become its first. Who has kept something of the first turn's job asks that
 * instead of the job. */
struct job_class_view {
    struct job_class_entry *const *turns;
    int n_turns;
    uint64_t number; /* from 1 */
};

/* Of all lines, by index; valid until one of them changes. */
const struct job_class_view *job_classes_views(const struct job_classes *lines);
/* What a pass made of all lines, by index. */
void job_classes_set_verdicts(struct job_classes *lines,
                              const struct pending_verdict *verdicts);

#endif
