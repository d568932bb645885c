/* SPDX-License-Identifier: Apache-2.0 */
/* shown_lines.h: the lines of waiting jobs as a pass sees them, kept from one pass to
 * the next: a line is as its first job is, so what that job says is read once, when it
 * becomes the first. A pass over thousands of lines that have not changed touches none
 * of their jobs.
 *
 * Ownership: what is shown lives until the next look. Layer: site. */
#ifndef SUBLET_SITE_SHOWN_LINES_H
#define SUBLET_SITE_SHOWN_LINES_H

#include "sched/place/place.h"
#include "site/job/job.h"
#include "site/pass_terms.h"

struct shown_lines;
struct shown_lines *shown_lines_new(void);
void shown_lines_free(struct shown_lines *shown);

/* All lines, by their index in the set; the hosts of the pass are known (needs.h). */
const struct place_class *shown_lines_look(struct shown_lines *shown,
                                           const struct job_table *jobs,
                                           const struct site_config *config,
                                           const struct pass_terms *terms,
                                           struct arena *arena, int *n_lines);

#endif
