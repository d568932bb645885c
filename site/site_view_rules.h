/* SPDX-License-Identifier: Apache-2.0 */
/* site_view_rules.h: what jobs come under, as it is shown: limits, commands before and
 * after, exit codes that mean something.
 *
 * Limits are an object: "run_s", "cpu_s" seconds, "mem_kib" and its like KiB, others
 * counts. Layer: site. */
#ifndef SUBLET_SITE_SITE_VIEW_RULES_H
#define SUBLET_SITE_SITE_VIEW_RULES_H

#include "base/value.h"
#include "site/job/job.h"
#include "site/site.h"

/* Of a job: app, limits that count for it; of one that was asked for its commands. */
void site_view_add_job_rules(struct arena *arena, struct value *row,
                             const struct site_config *config, const struct job *job,
                             bool is_asked);
/* Of a queue: what it says itself. */
void site_view_add_queue_rules(struct arena *arena, struct value *row,
                               const struct queue_rules *rules);

/* How many slots its jobs may have, as bqueues: of all (max), of a user (jl_u), for a
 * processor (jl_p), on a host (jl_h); of one job (PROCLIMIT); who may use it. */
void site_view_add_queue_limits(struct arena *arena, struct value *row,
                                const struct site_config *config,
                                const struct queue_config *queue);
/* Of a host: slots of a user (JL/U). */
void site_view_add_host_limit(struct arena *arena, struct value *row,
                              const struct site_config *config, const char *host);

#endif
