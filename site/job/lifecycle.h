/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h: the life of this site's jobs from dispatch to their end. Each attempt of
 * a job is one run, on own hosts (site/run/runs.h) or on borrowed hosts (consumer/).
 *
 * One struct lifecycle is shared by job_dispatch.h (starts attempts), control_job.h
 * (kill, stop, resume, signal, requeue), suspend.h (suspension and its causes),
 * deferred_kill.h and job_attempt.h (the run of an attempt). The functions below apply
 * what is known of runs: after a restart, from own hosts, and from providers.
 *
 * Every change of a job is stored (ROW_JOB_STATE) before any message that follows from
 * it is sent.
 * Ownership: the parts are borrowed, and outlive it. Layer: site. */
#ifndef SUBLET_SITE_JOB_LIFECYCLE_H
#define SUBLET_SITE_JOB_LIFECYCLE_H

#include "consumer/consumer.h"
#include "site/client/site_client.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/ledger/accept_times.h"
#include "site/ledger/fairshare_ledger.h"
#include "site/pass/pass_request.h"
#include "site/run/runs.h"
#include "site/site.h"

struct lifecycle_parts {
    const char *site; /* its name */
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    struct consumer *consumer;
    struct fairshare_ledger *shares;
    struct accept_times *accepts;
    struct history *history;
    struct terminals *terminals;
    struct waiters *waiters;
    struct pass_request *pass_request;
    /* Called when the host of a running job has answered a change of its slots, and
     * when an attempt was found again after a restart. */
    void (*on_resized)(void *arg, struct job *job, struct run *run, int64_t now_ms,
                       struct effects *effects);
    void (*on_restored)(void *arg, const struct job *job, struct run *run);
    void *arg; /* of both */
};

struct lifecycle;
struct lifecycle *lifecycle_new(const struct lifecycle_parts *parts);
void lifecycle_free(struct lifecycle *life);
/* Another configuration, with other shares. */
void lifecycle_reload(struct lifecycle *life, const struct site_config *config,
                      struct fairshare_ledger *shares);

/* Rows of the journal, after those of the jobs: the number of the last attempt, and
 * runs. */
void job_dispatch_load_counter(struct lifecycle *life, uint64_t last_attempt);
void job_dispatch_load_run(struct lifecycle *life, const struct row_run *row);
/* The site starts: open attempts are joined to their runs. */
void job_dispatch_restore(struct lifecycle *life, int64_t now_ms,
                          struct effects *effects);

/* The run of one of this site's jobs on an own host has changed. */
void job_progress_run(struct lifecycle *life, struct run *run, int64_t now_ms,
                      struct effects *effects);
/* The consumer reports on an attempt on borrowed hosts. */
void job_report_apply(struct lifecycle *life, const struct consumer_report *report,
                      int64_t now_ms, struct effects *effects);
/* Output of such an attempt was written to its file, or could not be (`error`). */
void job_report_written(struct lifecycle *life, uint64_t key, int error, int64_t now_ms,
                        struct effects *effects);

/* Forgets jobs that ended longer than CLEAN_PERIOD ago. */
void job_end_clean(struct lifecycle *life, int64_t now_ms, struct effects *effects);

#endif
