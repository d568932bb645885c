/* SPDX-License-Identifier: Apache-2.0 */
/* site_parts.h: struct site, for the files that compose the site and dispatch its
 * messages. The parts do not know it. Layer: site. */
#ifndef SUBLET_SITE_SITE_PARTS_H
#define SUBLET_SITE_SITE_PARTS_H

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "site/client/site_client.h"
#include "site/config/site_config.h"
#include "site/exchange/exchange.h"
#include "site/exchange/site_uplink.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/ledger/site_ledger.h"
#include "site/load/site_load.h"
#include "site/pass/capacity.h"
#include "site/pass/host_list_cache.h"
#include "site/pass/host_status.h"
#include "site/pass/pass.h"
#include "site/pass/pass_request.h"
#include "site/pass/resize_requests.h"
#include "site/pass/resreq_cache.h"
#include "site/resource/site_resource.h"
#include "site/run/host_admin.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"
#include "site/site.h"

struct site {
    struct arena config_arena;
    const struct site_config *config;
    char *name;    /* outlives configurations */
    int n_leaving; /* hosts that are not configured any more */
    struct limits *limits;
    struct fairshare_ledger *fairshare;
    struct rusage_ledger *rusage; /* of its open jobs */
    struct rusage_sources rusage_sources;
    struct job_table *jobs;
    struct queue_table *queues;
    struct host_table *hosts;
    struct host_resources *host_resources; /* of the hosts */
    struct borrowed_load borrowed_load;
    struct lease_resources lease_resources;
    struct runs *runs;
    struct provider *provider;
    struct export_select *export_select; /* of its export policies */
    struct consumer *consumer;
    struct site_uplink *uplink;
    struct resreq_cache *resreq_cache; /* of its waiting jobs */
    struct host_list_cache *host_lists;
    struct preempt_claims *claims;
    struct load_suspend *load_suspend; /* what the load of hosts does to jobs */
    struct reservation_table *reservations;
    struct resize_requests *resize_requests; /* of its running jobs */
    struct scheduler *scheduler;
    struct pass_request pass_request;
    struct accept_times *accept_times; /* of hosts, by name */
    struct capacity *capacity;
    struct host_status_parts host_status;
    struct waiters *waiters;
    struct terminals *terminals; /* of interactive jobs */
    struct history *history;
    struct lifecycle *life; /* of its jobs */
    struct lending *lending;
    struct recall_enforce *recall_enforce;
    struct host_admin host_admin;
    struct time_windows time_windows;
    /* The journal's counters. */
    uint64_t boot, last_job;
    struct journal_loss loss;
    int64_t load_ms;              /* when hosts' load last had jobs looked at again */
    int64_t now_ms;               /* of the latest event */
    int64_t utc_offset_ms;        /* of local time, as of the latest tick */
    bool has_scheduled;           /* in the last tick */
    uint64_t n_passes, passes_us; /* ticks that scheduled, and what they took */
    struct msg_pass_times pass_times;
};

#endif
