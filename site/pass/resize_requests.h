/* SPDX-License-Identifier: Apache-2.0 */
/* resize_requests.h: running jobs whose slots change: what they ask a pass for, and
 * what becomes of it.
 *
 * A job that asks for more than it has (job->resize.max_slots) has one request at a
 * time, for what is lacking; a pass serves it as far as it can. The new slots are the
 * job's from then on, to limits, shares and preemption too, and that is on record
 * before its host hears of it. Its host tells the job's command, if it has one; where
 * that does not want them they are given back, and the request waits a while. Slots
 * that a user releases (job_resize_request.h) are the job's until its command has
 * agreed.
 *
 * One resize at a time; until it is over nothing suspends the job. A job that
 * is preempted in the pass that gave it more does not get it.
 *
 * Units: slots, milliseconds. Source: docs/design/scheduling.md "Resizable jobs",
 * "Preemption and other policies", docs/design/leases.md "The consumer's side";
 * docs/design/scheduling.md "Resizable jobs". Layer: site. */
#ifndef SUBLET_SITE_PASS_RESIZE_REQUESTS_H
#define SUBLET_SITE_PASS_RESIZE_REQUESTS_H

#include "sched/place/place.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/pass/pass_request.h"
#include "site/pass/pass_terms.h"
#include "site/run/host_table.h"
#include "site/run/run_table.h"
#include "site/run/runs.h"

struct resize_requests_parts {
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    const struct host_table *hosts;
    struct accept_times *accept_times;
    const struct history *history;
    struct pass_request *pass_request;
};

struct resize_requests;
struct resize_requests *resize_requests_new(const struct resize_requests_parts *parts);
void resize_requests_free(struct resize_requests *requests);

/* Adds the requests to the pass's lines; in the arena. */
void resize_requests_add_classes(struct resize_requests *requests,
                                 struct pass_terms *terms, struct arena *arena,
                                 struct place_snapshot *snapshot);
/* What the pass made of all its lines. */
void resize_requests_set_verdicts(struct resize_requests *requests,
                                  const struct pending_verdict *verdicts);
/* Of the job's request in the last pass; NULL: it was not looked at. */
const struct pending_verdict *
resize_requests_verdict(const struct resize_requests *requests, const struct job *job);
/* Another configuration: what the last pass said speaks of the old one. */
void resize_requests_reload(struct resize_requests *requests,
                            const struct site_config *config);

/* The pass has more slots for the job. */
void resize_requests_grow(struct resize_requests *requests, struct job *job,
                          const struct place_start *more, int64_t now_ms,
                          struct effects *effects);
/* The job gives up those slots, and asks for `max_slots` (0: for none) from then on. */
void resize_requests_shrink(struct resize_requests *requests, struct job *job,
                            const struct host_slots *gone, int n_gone, int max_slots,
                            int64_t now_ms, struct effects *effects);
/* It asks for so many from now on. */
void resize_requests_set_max(struct resize_requests *requests, struct job *job,
                             int max_slots, struct effects *effects);
/* Its host has answered. */
void resize_requests_answered(struct resize_requests *requests, struct job *job,
                              struct run *run, int64_t now_ms, struct effects *effects);
/* After a restart: its host is asked again. */
void resize_requests_restore(const struct resize_requests *requests,
                             const struct job *job, struct run *run);

/* When a request that waits is looked at again; INT64_MAX: none does. */
int64_t resize_requests_wake_ms(const struct resize_requests *requests);

#endif
