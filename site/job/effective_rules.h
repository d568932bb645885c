/* SPDX-License-Identifier: Apache-2.0 */
/* effective_rules.h: what a job of this site comes under: the site's parameters, its
 * queue, its application profile (sched/queue/job_rules.h), looked up by the job.
 *
 * An application that is not configured any more says nothing.
 * Ownership: borrowed from the configuration. Layer: site. */
#ifndef SUBLET_SITE_JOB_EFFECTIVE_RULES_H
#define SUBLET_SITE_JOB_EFFECTIVE_RULES_H

#include "sched/queue/queue.h"
#include "site/job/job.h"
#include "site/site.h"

/* `queue` is its index, -1: it is gone. `app` "": none. */
struct job_rules_stack effective_rules_stack(const struct site_config *config,
                                             int queue, const char *app);
/* All of it as one, of a job. */
void effective_rules_of(const struct site_config *config, const struct job *job,
                        struct job_rules *rules);
/* Some command is to run after it (POST_EXEC), as the rules are now. */
bool effective_rules_has_post(const struct site_config *config, const struct job *job);

#endif
