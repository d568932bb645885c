/* SPDX-License-Identifier: Apache-2.0 */
/* job_dispatch.h: starts the attempts that a scheduling pass has planned. Layer: site.
 */
#ifndef SUBLET_SITE_JOB_JOB_DISPATCH_H
#define SUBLET_SITE_JOB_JOB_DISPATCH_H

#include "sched/place/place.h"
#include "site/job/lifecycle.h"

/* Stores at once the attempt numbers of the `n_starts` jobs that are started next. */
void job_dispatch_reserve_numbers(struct lifecycle *life, int n_starts,
                                  struct effects *effects);
/* Gives the job an attempt on those hosts and starts its run. `reserved`: what the
 * attempt reserves (rusage), as text. */
void job_dispatch_start(struct lifecycle *life, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects);

#endif
