/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h: the life of this site's jobs from dispatch to their end. Each attempt of
 * a job is one run, on own hosts (site/run/runs.h) or on borrowed hosts (consumer/).
 *
 * One struct lifecycle is shared by job_dispatch.c (starts attempts), job_report.c
 * (what is known of runs), job_end.c, suspend.c (suspension and its causes) and
 * control_job.c (kill, stop, resume, signal, requeue).
 *
 * Every change of a job is stored (ROW_JOB_STATE) before any message that follows from
 * it is sent.
 * Control actions are numbered; only the latest one counts. Units: milliseconds.
 * Ownership: the parts are borrowed, and outlive it.
 * Source: docs/design/scheduling.md "Suspended jobs and limits", "Suspend, resume,
 * terminate"; docs/adr/0009, 0010. Layer: site. */
#ifndef SUBLET_SITE_LIFECYCLE_LIFECYCLE_H
#define SUBLET_SITE_LIFECYCLE_LIFECYCLE_H

#include "consumer/consumer.h"
#include "model/effect.h"
#include "sched/place/place.h"
#include "site/client/site_client.h"
#include "site/config/site_config.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/pass/pass_request.h"
#include "site/pass/resize_requests.h"
#include "site/run/runs.h"

struct lifecycle_parts {
    const char *site; /* its name */
    const struct site_config *config;
    const struct host_resources *host_resources;
    struct job_table *jobs;
    struct runs *runs;
    struct consumer *consumer;
    struct fairshare_ledger *fairshare;
    struct accept_times *accept_times;
    struct history *history;
    struct terminals *terminals;
    struct waiters *waiters;
    struct resize_requests *resize_requests;
    struct pass_request *pass_request;
};

struct lifecycle;
struct lifecycle *lifecycle_new(const struct lifecycle_parts *parts);
void lifecycle_free(struct lifecycle *life);
/* Another configuration, with other shares. */
void lifecycle_reload(struct lifecycle *life, const struct site_config *config,
                      struct fairshare_ledger *fairshare);
void lifecycle_reload_resources(struct lifecycle *life,
                                const struct host_resources *host_resources);

/* ---- the run of a job's attempt, on own or on borrowed hosts */

/* The id of its attempt's run. */
struct run_id lifecycle_run_id(const struct lifecycle *life, const struct job *job);
/* The run on own hosts. NULL: there is none. */
struct run *lifecycle_run(const struct lifecycle *life, const struct job *job);

/* The host has confirmed that the run is suspended as ordered. */
bool lifecycle_is_suspended(const struct lifecycle *life, const struct job *job);
/* The run is suspended, and nothing but slots is missing to resume it. */
bool lifecycle_is_resumable(const struct lifecycle *life, const struct job *job);

/* The run of the job has another run limit from now on, that of its spec, or another
 * memory limit; 0: that one stays. The order repeats a suspension or a resumption,
 * which it may overtake. */
void lifecycle_change_limits(struct lifecycle *life, struct job *job,
                             bool has_run_limit, int64_t mem_limit_kib, int64_t now_ms,
                             struct effects *effects);

/* Stores a control action, then sends it to the host or the provider. To
 * suspend, resume or kill a job, call the functions below instead. */
void lifecycle_control(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, int64_t now_ms,
                       struct effects *effects);

/* ---- kills
 *
 * The kill of a yielded job that has post-execution commands is deferred until the job
 * has its slots again, so that the commands run on slots of their own.
 *
 * A job with a deferred kill is marked as killed, or as to be requeued, but its run has
 * not been ordered to end. It waits for slots like any yielded job, is resumed in its
 * turn, and is then ended by the usual signals. If it still waits after
 * JOB_POSTPROC_TIMEOUT (ten minutes if that is not set), it is ended while suspended,
 * and its commands run beside other jobs. The same happens if its end cannot wait: its
 * user sends SIGKILL, or its slots are recalled.
 *
 * The deadline is not stored: after a restart the time begins anew. */

/* Ends the run of a job by `signal` (0: the usual signals), or defers that. */
void lifecycle_kill(struct lifecycle *life, struct job *job, int signal, int64_t now_ms,
                    struct effects *effects);
/* The job is running: if its kill was deferred, it is ended now. */
void lifecycle_kill_resumed(struct lifecycle *life, struct job *job, int64_t now_ms,
                            struct effects *effects);
/* Ends the job at once, while it is suspended. */
void lifecycle_kill_now(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects);
/* Ends the jobs whose deadline has passed. */
void lifecycle_kill_tick(struct lifecycle *life, int64_t now_ms,
                         struct effects *effects);
/* When the next deadline is due. */
int64_t lifecycle_kill_wake_ms(const struct lifecycle *life);

/* Ends jobs that wait and whose time is over (job_table_first_expired), so many at a
 * time that a step stays short. */
void job_end_expired(struct lifecycle *life, int64_t now_ms, struct effects *effects);

/* ---- dispatch and restart */

/* Stores at once the attempt numbers of the `n_starts` jobs that are started next. */
void job_dispatch_reserve_numbers(struct lifecycle *life, int n_starts,
                                  struct effects *effects);
/* Gives the job an attempt on those hosts and starts its run. `reserved`: what the
 * attempt reserves (rusage), as text. */
void job_dispatch_start(struct lifecycle *life, struct job *job,
                        const struct place_start *start, const char *reserved,
                        int64_t now_ms, struct effects *effects);
/* Rows of the journal, after those of the jobs: the number of the last attempt, and
 * runs. */
void job_dispatch_load_counter(struct lifecycle *life, uint64_t last_attempt);
/* The number of the last attempt; and raises it, for later attempts, which is stored by
 * the caller. */
uint64_t job_dispatch_last_attempt(const struct lifecycle *life);
void job_dispatch_raise(struct lifecycle *life, uint64_t last_attempt);
void job_dispatch_load_run(struct lifecycle *life, const struct row_run *row);
/* The site starts: open attempts are joined to their runs. */
void job_dispatch_restore(struct lifecycle *life, int64_t now_ms,
                          struct effects *effects);

/* ---- reports of runs, and ends of jobs */

/* The run of one of this site's jobs on an own host has changed. */
void job_report_run(struct lifecycle *life, struct run *run, int64_t now_ms,
                    struct effects *effects);
/* The consumer reports on an attempt on borrowed hosts. */
void job_report_apply(struct lifecycle *life, const struct consumer_report *report,
                      int64_t now_ms, struct effects *effects);
/* Output of such an attempt was written to its file, or could not be (`error`). */
void job_report_written(struct lifecycle *life, uint64_t key, int error, int64_t now_ms,
                        struct effects *effects);

/* Forgets jobs that ended longer than CLEAN_PERIOD ago. */
void job_end_clean(struct lifecycle *life, int64_t now_ms, struct effects *effects);

/* ---- suspension
 *
 * Several causes may hold at a time: a user has stopped the job, its slots went to
 * another job (preemption), the window of its queue or host is closed, its host is
 * overloaded. While any of them holds, the job's run is suspended; that order is stored
 * before the host hears of it.
 *
 * A job yields if its slots are released while it is suspended: once its host has
 * confirmed that all of it is suspended, other jobs may use them. A yielded job is
 * resumed only when a scheduling pass has found slots for it again (suspend_resume). A
 * job that does not yield keeps its slots, and is resumed when its last cause is gone.
 *
 * A job yields if it was preempted. If the site has preemption, a job yields whatever
 * the cause, since LSF does not count suspended jobs on a host then; an exclusive job
 * yields only to preemption. */

/* Adds a cause; the job has an attempt. `by`: the job that preempts it
 * (SUSPEND_PREEMPT), else 0. */
void suspend_add_cause(struct lifecycle *life, struct job *job,
                       enum suspend_cause cause, uint64_t by, int64_t now_ms,
                       struct effects *effects);
/* The cause is gone. If it was the last one, a yielded job waits for slots
 * (SUSPEND_PREEMPT); any other job, and one whose suspension its host has not confirmed
 * yet, is resumed. */
void suspend_clear_cause(struct lifecycle *life, struct job *job,
                         enum suspend_cause cause, int64_t now_ms,
                         struct effects *effects);
/* The system adds a cause. If TERMINATE_WHEN of the queue names that cause, the job is
 * ended: it is requeued if it is rerunnable, else it is EXIT. If JOB_CONTROLS suspends
 * by requeueing, the job is requeued in any case. Else as suspend_add_cause. */
void suspend_or_terminate(struct lifecycle *life, struct job *job,
                          enum suspend_cause cause, uint64_t by, int64_t now_ms,
                          struct effects *effects);
/* The job has its slots again: its run is resumed. */
void suspend_resume(struct lifecycle *life, struct job *job, int64_t now_ms,
                    struct effects *effects);

/* ---- control by users and by recalls */

/* A control action for a job that has not ended; `who` has asked for it. A pending job
 * is killed, stopped or resumed at once; if the job has an attempt, its run is
 * controlled. A signal for a suspended job is dropped. */
void control_job_apply(struct lifecycle *life, struct job *job,
                       enum control_action action, int signal, const char *who,
                       int64_t now_ms, struct effects *effects);
/* Requeues a job that has an attempt: its run is ended first. */
void control_job_requeue(struct lifecycle *life, struct job *job, const char *who,
                         int64_t now_ms, struct effects *effects);
/* The same because the grace period of a recall has expired: its run is ended by
 * SIGKILL.
 */
void control_job_recall(struct lifecycle *life, struct job *job, int64_t now_ms,
                        struct effects *effects);

#endif
