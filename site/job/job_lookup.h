/* SPDX-License-Identifier: Apache-2.0 */
/* job_lookup.h: jobs of the job table, found by an id as users write it.
 * Layer: site. */
#ifndef SUBLET_SITE_JOB_JOB_LOOKUP_H
#define SUBLET_SITE_JOB_JOB_LOOKUP_H

#include "site/job/job.h"

/* The job with that id ("12", "12[3]"). NULL: there is none, or the id names more than
 * one. */
struct job *job_lookup_one(const struct job_table *jobs, const char *id);
/* The first element of the job array with that id ("12"). NULL: there is none. */
struct job *job_lookup_array(const struct job_table *jobs, const char *id);

#endif
