/* SPDX-License-Identifier: Apache-2.0 */
/* site_view.h: what a site shows of itself: the listings that `sublet jobs`, `hosts`,
 * `queues`, `load`, `users`, `limits` and `exports` print.
 *
 * A view reads the parts of the site and changes none of them.
 *
 * Units: milliseconds. Ownership: the parts are borrowed for the time of one query;
 * what is shown lives in the arena. Layer: site. */
#ifndef SUBLET_SITE_VIEW_SITE_VIEW_H
#define SUBLET_SITE_VIEW_SITE_VIEW_H

#include "consumer/consumer.h"
#include "model/page.h"
#include "model/row.h"
#include "provider/provider.h"
#include "site/config/site_config.h"
#include "site/exchange/site_uplink.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/ledger/site_ledger.h"
#include "site/load/site_load.h"
#include "site/pass/capacity.h"
#include "site/pass/host_list_cache.h"
#include "site/pass/host_status.h"
#include "site/pass/pass.h"
#include "site/pass/resize_requests.h"
#include "site/pass/resreq_cache.h"
#include "site/resource/site_resource.h"
#include "site/run/host_admin.h"
#include "site/run/runs.h"

/* The parts of a site that its listings show. Most rows join many of them: a row of
 * `hosts` shows the configuration, the session with the host, its runs, its resources,
 * reservations, leases and windows. */
struct site_view {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    const struct fairshare_ledger *fairshare;
    const struct host_table *hosts;
    const struct capacity *capacity;
    const struct host_status_parts *host_status;
    const struct host_resources *host_resources;
    const struct host_admin *host_admin;
    const struct runs *runs;
    const struct reservation_table *reservations;
    const struct preempt_claims *claims;
    const struct resize_requests *resize_requests;
    struct load_suspend *load_suspend; /* caches the conditions that it has judged */
    const struct rusage_sources *rusage_sources;
    struct provider *provider; /* sums its splits when it is asked */
    const struct export_select *export_select;
    const struct consumer *consumer;
    const struct site_uplink *uplink;
    struct resreq_cache *resreq_cache;  /* caches requirements that it has compiled */
    struct host_list_cache *host_lists; /* caches lists of hosts that it has parsed */
    int64_t now_ms;                     /* of the query */
    int64_t event_ms;                   /* of the site's latest event */
    int64_t local_ms;                   /* the same as local time, for windows */
};

/* The listing that the query asks for: an object with schema_version and one array;
 * `next` as in msg_reply. */
struct value *site_view_list(struct site_view *view, struct arena *arena,
                             const struct msg_query *query, const char **next);
/* Whether the query's requirement string, if it has one, can be read. ERR_PARSE with
 * LSF's sentence and ours. */
int site_view_check(struct site_view *view, struct arena *arena,
                    const struct msg_query *query, struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- overview_view.c */

/* What the site tells the federation of itself, as far as OVERVIEW allows: the first
 * hosts, queues and pending jobs, in the order of their listings, and all of them
 * counted. Jobs have the reason of their class. NULL: OVERVIEW = none. */
enum { OVERVIEW_HOSTS = 100, OVERVIEW_QUEUES = 50, OVERVIEW_JOBS = 50 };
struct value *overview_view_make(struct site_view *view, struct arena *arena);

/* ---------------------------------------------------------------- history_view.c */

/* `hist`: the events of jobs with their times, and how long each job
 * was in each state.
 *
 * The time between two events counts for the state after the first one; after the end
 * of a job no time counts. An array has a row for each element that has events; if none
 * has, there is one row for the whole array, or for the element that was asked for.
 *
 * The number of a row is the key of its job (model/job_id.h).
 *
 * Units: milliseconds. Ownership: in the page's arena. */

/* A row shows at most so many events, the latest ones, so that it fits a page: of a job
 * that is asked for by id, and of each job in a list. */
enum { HISTORY_VIEW_EVENTS = 200, HISTORY_VIEW_LISTED = 20 };

struct history_view {
    struct page *page;
    int64_t now_ms;
    int shown_max; /* events in a row */
    int index;     /* the element that is asked for; 0: all elements */
};

/* Adds the events of one job or array: by element, then by time. */
void history_view_add(const struct history_view *view,
                      const struct row_job_event *events, int n_events);

#endif
