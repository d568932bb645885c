/* SPDX-License-Identifier: Apache-2.0 */
/* effective_rules.h: the rules that apply to a job: those of the site's parameters, its
 * queue and its application profile together (sched/queue/job_rules.h).
 *
 * An application that is not configured any more has no rules.
 * Ownership: borrowed from the configuration. Layer: site. */
#ifndef SUBLET_SITE_JOB_EFFECTIVE_RULES_H
#define SUBLET_SITE_JOB_EFFECTIVE_RULES_H

#include "site/job/job.h"
#include "site/site.h"

/* `queue`: its index, -1: it is not configured any more. `app`: "": none. */
struct job_rules_stack effective_rules_stack(const struct site_config *config,
                                             int queue, const char *app);
/* The rules of a job, merged. */
void effective_rules_of(const struct site_config *config, const struct job *job,
                        struct job_rules *rules);
/* A post-execution command follows it (POST_EXEC), as the rules are now. */
bool effective_rules_has_post(const struct site_config *config, const struct job *job);

#endif
