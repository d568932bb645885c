/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_range.h: RESRSV_LIMIT of a queue: what its jobs reserve of a resource at least
 * and at most.
 *
 *     [mem=10,4G] [lic=2]     mem from 10 MB to 4 GB; of lic at most 2
 *
 * Where a resource stands there the queue's own rusage is no bound any more, only what
 * holds for jobs that say nothing. Of phases the first is judged: none has more.
 *
 * Units: thousandths (resreq_usage.h). Ownership: the arena's. Errors: ERR_PARSE with
 * the fault filled. Source: lsf.md 5.4, 5.9. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RANGE_H
#define SUBLET_SCHED_RESREQ_RANGE_H

#include "sched/resreq_usage.h"

/* Unknown names, resources that are not consumable, a name twice, amounts out of order
 * are errors; of the fault the hint and the column are for people. */
int resreq_range_parse(struct arena *arena, const struct resources *resources,
                       const char *text, struct resreq_ranges *ranges,
                       struct resreq_fault *fault) MUST_CHECK;

/* What a job would reserve, with whichever alternative, is within the ranges; else the
 * fault has LSF's sentence. */
int resreq_range_check(struct arena *arena, const struct resources *resources,
                       const struct resreq_ranges *ranges,
                       const struct resreq_usages *usages,
                       struct resreq_fault *fault) MUST_CHECK;

#endif
