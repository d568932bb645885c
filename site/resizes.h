/* SPDX-License-Identifier: Apache-2.0 */
/* resizes.h: running jobs whose slots change: what they ask a pass for, and what
 * becomes of it.
 *
 * A job that asks for more than it has (job->resize.max_slots) has one request at a
 * time, for what is lacking; a pass serves it as far as it can. The new slots are the
 * job's from then on, to limits, shares and preemption too, and that is on record
 * before its host hears of it. Its host tells the job's command, if it has one; where
 * that does not want them they are given back, and the request waits a while. Slots
 * that a user releases (job_resize_request.h) are the job's until its command has
 * agreed.
 *
 * One resize at a time; until it is over nothing makes the job stand still. A job that
 * is preempted in the pass that gave it more does not get it.
 *
 * Units: slots, milliseconds. Source: lsf.md 6.1, 3.6, 1.6; ADR 0034. Layer: site. */
#ifndef SUBLET_SITE_RESIZES_H
#define SUBLET_SITE_RESIZES_H

#include "sched/place/place.h"
#include "site/accepts.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/pass_request.h"
#include "site/pass_terms.h"
#include "site/run/host_table.h"
#include "site/run/run_table.h"
#include "site/run/runs.h"

struct resizes_parts {
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    const struct host_table *hosts;
    struct accepts *accepts;
    const struct history *history;
    struct pass_request *pass_request;
};

struct resizes;
struct resizes *resizes_new(const struct resizes_parts *parts);
void resizes_free(struct resizes *resizes);

/* Adds the requests to the pass's lines; in the arena. */
void resizes_show(struct resizes *resizes, const struct pass_terms *terms,
                  struct arena *arena, struct place_snapshot *snapshot, int64_t now_ms);
/* What the pass made of all its lines. */
void resizes_set_verdicts(struct resizes *resizes,
                          const struct pending_verdict *verdicts);
/* Of the job's request in the last pass; NULL: it was not looked at. */
const struct pending_verdict *resizes_verdict(const struct resizes *resizes,
                                              const struct job *job);
/* Another configuration: what the last pass said speaks of the old one. */
void resizes_reload(struct resizes *resizes, const struct site_config *config);

/* The pass has more slots for the job. */
void resizes_grow(struct resizes *resizes, struct job *job,
                  const struct place_start *more, int64_t now_ms,
                  struct effects *effects);
/* The job gives up those slots, and asks for `max_slots` (0: for none) from then on. */
void resizes_shrink(struct resizes *resizes, struct job *job,
                    const struct host_slots *gone, int n_gone, int max_slots,
                    int64_t now_ms, struct effects *effects);
/* It asks for so many from now on. */
void resizes_ask(struct resizes *resizes, struct job *job, int max_slots,
                 struct effects *effects);
/* Its host has answered. */
void resizes_answered(struct resizes *resizes, struct job *job, struct run *run,
                      int64_t now_ms, struct effects *effects);
/* After a restart: its host is asked again. */
void resizes_restore(const struct resizes *resizes, const struct job *job,
                     struct run *run);

/* When a request that waits is looked at again; INT64_MAX: none does. */
int64_t resizes_wake_ms(const struct resizes *resizes);

#endif
