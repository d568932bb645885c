/* SPDX-License-Identifier: Apache-2.0 */
/* resrsv_limit.h: RESRSV_LIMIT of a queue: what its jobs reserve of a resource at least
 * and at most.
 *
 *     [mem=10,4G] [lic=2]     mem from 10 MB to 4 GB; of lic at most 2
 *
 * Where a resource stands there the queue's own rusage is no bound any more, only what
 * holds for jobs that say nothing. Of phases the first is judged: none has more.
 *
 * Units: thousandths (resreq_rusage.h). Ownership: the arena's. Errors: ERR_PARSE with
 * the fault filled. Source: lsf.md 5.4, 5.9. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESRSV_LIMIT_H
#define SUBLET_SCHED_RESREQ_RESRSV_LIMIT_H

#include "sched/resreq/resreq_rusage.h"

/* Unknown names, resources that are not consumable, a name twice, amounts out of order
 * are errors; of the fault the hint and the column are for people. */
int resrsv_limit_parse(struct arena *arena, const struct resources *resources,
                       const char *text, struct resrsv_limits *ranges,
                       struct resreq_error *fault) MUST_CHECK;

/* What a job would reserve, with whichever alternative, is within the ranges; else the
 * fault has LSF's sentence. */
int resrsv_limit_check(struct arena *arena, const struct resources *resources,
                       const struct resrsv_limits *ranges,
                       const struct resreq_rusages *usages,
                       struct resreq_error *fault) MUST_CHECK;

#endif
