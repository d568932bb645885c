/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h: the life of this site's jobs once a pass has chosen hosts for them. Each
 * attempt of a job is one run, on own hosts (runs.h) or on borrowed ones (consumer/).
 *
 * job_dispatch.h starts attempts and follows what becomes of them, suspend.h suspends
 * and resumes jobs, deferred_kill.h defers the end of suspended jobs, attempt.h
 * controls the run of an attempt. All of them work on one struct lifecycle.
 *
 * Ownership: the parts are borrowed, and outlive it. Layer: site. */
#ifndef SUBLET_SITE_JOB_LIFECYCLE_H
#define SUBLET_SITE_JOB_LIFECYCLE_H

#include "consumer/consumer.h"
#include "site/accepts.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/pass_request.h"
#include "site/run/runs.h"
#include "site/shares.h"
#include "site/site.h"
#include "site/terminals.h"
#include "site/waiters.h"

struct lifecycle_parts {
    const char *site; /* its name */
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    struct consumer *consumer;
    struct shares *shares;
    struct accepts *accepts;
    struct history *history;
    struct terminals *terminals;
    struct waiters *waiters;
    struct pass_request *pass_request;
    /* The host of a running job has answered the change of its slots; an attempt was
     * found again after a restart. */
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
                      struct shares *shares);

#endif
