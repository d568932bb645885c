/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h: one scheduling pass. It is built from the ledgers of the site, makes one plan
 * and is thrown away. The ledgers do not know it.
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
    const struct fairshare_ledger *fairshare;
    const struct capacity *capacity;
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
    struct pass_terms terms;
    struct place_snapshot snapshot;
    struct place_plan plan;
};

/* Builds the pass and makes its plan, which starts at most `max_starts` jobs. Starts
 * jobs whose claimed slots have become free; the plan has all else. */
void pass_make(struct pass *pass, const struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects);

#endif
