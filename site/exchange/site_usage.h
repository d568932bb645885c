/* SPDX-License-Identifier: Apache-2.0 */
/* site_usage.h: what the site reports of itself to the broker (USAGE): slots that are
 * used, idle, lent and borrowed, jobs by state, demand by lease and by queue.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_SITE_USAGE_H
#define SUBLET_SITE_EXCHANGE_SITE_USAGE_H

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "site/config/site_config.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/pass/capacity.h"
#include "site/pass/pass.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

struct site_usage_parts {
    const struct site_config *config;
    const struct host_table *hosts;
    const struct runs *runs;
    const struct provider *provider;
    const struct consumer *consumer;
    const struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    const struct capacity *capacity;
    const struct scheduler *scheduler;
    int64_t local_ms;
};

/* Lists live in the arena. The sequence number and the times of passes are left to the
 * caller. */
void site_usage_read(const struct site_usage_parts *parts, struct arena *arena,
                     struct msg_usage *usage);

#endif
