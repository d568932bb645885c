/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h: scheduling passes. A pass is built from the ledgers of the site, makes one
 * plan and is thrown away. The ledgers do not know it. The scheduler decides when a
 * pass is due, runs it and executes its plan.
 *
 * A pass looks at every class of pending jobs and starts at most SCHEDULER_STARTS_MAX
 * of them. If there may be more, the next tick starts over, so that slots that became
 * free go to the first jobs.
 *
 * Ownership: all of a pass lives in its arena; the parts are borrowed. Units:
 * milliseconds. Layer: site. */
#ifndef SUBLET_SITE_PASS_PASS_H
#define SUBLET_SITE_PASS_PASS_H

#include "site/load/load_suspend.h"
#include "site/pass/capacity.h"
#include "site/pass/class_snapshot.h"
#include "site/pass/pass_terms.h"
#include "site/pass/preempt_claims.h"
#include "site/pass/reservation_table.h"
#include "site/pass/resize_requests.h"

/* What a pass is built from. */
struct pass_parts {
    const struct site_config *config;
    struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    struct fairshare_ledger *fairshare;
    struct capacity *capacity;
    const struct rusage_sources *rusage_sources;
    struct resreq_cache *resreq_cache;  /* compiled requirements */
    struct host_list_cache *host_lists; /* host lists that were read */
    struct class_snapshot *snapshot;    /* classes as the last pass saw them */
    struct resize_requests *resize_requests;
    struct preempt_claims *claims;
    struct load_suspend *load_suspend;
    struct reservation_table *reservations;
};

struct pass {
    struct arena *arena;
    int64_t now_ms;
    struct rusage_pass *rusages; /* what is left of resources */
    const struct place_snapshot *snapshot;
    struct place_plan plan;
};

/* Builds the pass and makes its plan, which starts at most `max_starts` jobs. Starts
 * jobs whose claimed slots have become free; the plan has all else. */
void pass_make(struct pass *pass, struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects);

struct scheduler_parts {
    struct pass_parts pass; /* without the classes, which are of the scheduler */
    struct provider *provider;
    struct lifecycle *life;
    struct pass_request *pass_request;
};

struct scheduler;
struct scheduler *scheduler_new(void);
/* At the start and after a reload; borrowed. */
void scheduler_set_parts(struct scheduler *scheduler,
                         const struct scheduler_parts *parts);
void scheduler_free(struct scheduler *scheduler);

/* At a tick: runs a pass if one is due. */
bool scheduler_run(struct scheduler *scheduler, int64_t now_ms, int64_t utc_offset_ms,
                   struct effects *effects);
int64_t scheduler_wake_ms(const struct scheduler *scheduler, int64_t now_ms);

/* The slots of pending jobs that could use the lease, as of the last complete pass. */
int scheduler_waiting_lease(const struct scheduler *scheduler, const char *lease);

#endif
