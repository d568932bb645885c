/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_text.h: requirement strings as text: several strings as one, section by
 * section. The strings have been compiled before.
 *
 * Ownership: the arena's. Source: LSF, bjobs -l. Layer: sched. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_TEXT_H
#define SUBLET_SCHED_RESREQ_RESREQ_TEXT_H

#include "sched/resreq/resreq.h"

/* Joins several strings of one job: "select[(a) && (b)] order[x:y]"; a single string
 * stays as it is. */
const char *resreq_text_join(struct arena *arena, const char *const *strings,
                             int n_strings);

/* The strings of all levels as one. `resreq`: what they were compiled to; none of them
 * has braces. */
const char *resreq_text_levels(struct arena *arena, const struct resources *resources,
                               const struct resreq_strings *from,
                               const struct resreq *resreq);

#endif
