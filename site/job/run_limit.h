/* SPDX-License-Identifier: Apache-2.0 */
/* run_limit.h: how long the run of a job may take. That is its run limit (-W); or, if
 * the job was backfilled into slots that another job needs earlier, the time until then
 * as it was known at dispatch, whatever is configured by now.
 *
 * Units: milliseconds. Layer: site. */
#ifndef SUBLET_SITE_JOB_RUN_LIMIT_H
#define SUBLET_SITE_JOB_RUN_LIMIT_H

#include "site/job/job.h"

/* 0: no limit. */
int64_t run_limit_ms(const struct job *job, int64_t now_ms);
/* The end of the backfill gap ends the run, not the job's own run limit. */
bool run_limit_is_cut(const struct job *job, int64_t now_ms);

#endif
