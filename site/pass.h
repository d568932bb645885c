/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h: one scheduling pass. It is built from the ledgers of the site as they are at
 * one moment, yields one plan, and is thrown away: the ledgers know of no pass.
 *
 * Ownership: all of a pass lives in its arena; the parts are borrowed. Units:
 * milliseconds. Layer: site. */
#ifndef SUBLET_SITE_PASS_H
#define SUBLET_SITE_PASS_H

#include "site/capacity.h"
#include "site/overloads.h"
#include "site/pass_terms.h"
#include "site/preempts.h"
#include "site/resizes.h"
#include "site/shares.h"
#include "site/shown_lines.h"
#include "site/slot_reserves.h"

/* What a pass is built from. */
struct pass_parts {
    const struct site_config *config;
    struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    const struct shares *shares;
    const struct capacity *capacity;
    const struct reserves_sources *reserves;
    struct needs *needs;             /* compiled requirements */
    struct asked_lists *asked_lists; /* host lists that were read */
    struct shown_lines *shown;       /* lines as the last pass saw them */
    struct resizes *resizes;
    struct preempts *preempts;
    struct overloads *overloads;
    struct slot_reserves *slot_reserves;
};

struct pass {
    struct arena *arena;
    int64_t now_ms;
    struct reserves_pass *reserves; /* what is left of resources */
    struct pass_terms terms;
    struct place_snapshot snapshot;
    struct place_plan plan;
};

/* Builds the pass and makes its plan, which starts at most `max_starts` jobs. Jobs
 * whose preempted slots have become free are started on the way; all else is left to
 * the plan. */
void pass_make(struct pass *pass, const struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects);

#endif
