/* SPDX-License-Identifier: Apache-2.0 */
/* line.h: waiting jobs that are alike stand in one line: of the same queue, user,
 * slots, hosts and whatever else decides where a job may start. If the first of a line
 * cannot start, none of it can: a pass looks at lines, not at jobs.
 *
 * Order in a line: priority (-sp, higher first), then place (btop, bbot; lower first),
 * then key, which is the order of submission.
 * Ownership: turns are the caller's (part of its jobs) and must not change while they
 * stand in a line; lines belong to the set. A line without turns is dropped.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_LINE_H
#define SUBLET_SCHED_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/reason.h"

/* One waiting job's turn. */
struct line_turn {
    int64_t priority;
    int64_t place;
    uint64_t key; /* model/job_id.h; no two turns have the same */
};

/* Below 0 where a comes before b. */
int line_compare(const struct line_turn *a, const struct line_turn *b);

struct line;
struct lines;
struct lines *lines_new(void);
void lines_free(struct lines *lines);

/* Puts the turn into the line of that name, which is made where there is none: all that
 * makes jobs alike, as one text. */
struct line *line_add(struct lines *lines, const char *name, struct line_turn *turn);
/* A turn that stands in this line. */
void line_remove(struct lines *lines, struct line *line, struct line_turn *turn);

/* The turns in order; valid until the line changes. */
struct line_turn *const *line_turns(const struct line *line, int *n_turns);

/* What the last pass made of it; REASON_NEW until there was one. */
const struct reason_verdict *line_verdict(const struct line *line);

/* All lines, in no order that means anything. */
int lines_count(const struct lines *lines);
struct line *lines_at(const struct lines *lines, int index);
int line_index(const struct line *line);

/* A line's turns, and a number that no line had before: another one whenever another
 * turn has become its first. Who has kept something of the first turn's job asks that
 * instead of the job. */
struct line_head {
    struct line_turn *const *turns;
    int n_turns;
    uint64_t number; /* from 1 */
};

/* Of all lines, by index; valid until one of them changes. */
const struct line_head *lines_heads(const struct lines *lines);
/* What a pass made of all lines, by index. */
void lines_set_verdicts(struct lines *lines, const struct reason_verdict *verdicts);

#endif
