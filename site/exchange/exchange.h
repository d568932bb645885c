/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h: what a site exchanges with its broker and, through it, with other sites:
 * runs of consumers, recalls, reports on own attempts, usage, and how far the journal
 * is. What all of it is sent with is site_uplink.h.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_EXCHANGE_H
#define SUBLET_SITE_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "consumer/consumer.h"
#include "model/effect.h"
#include "provider/provider.h"
#include "site/config/site_config.h"
#include "site/exchange/site_uplink.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/lifecycle/lifecycle.h"
#include "site/pass/capacity.h"
#include "site/pass/pass.h"
#include "site/pass/pass_request.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"

/* ---------------------------------------------------------- journal_loss.c */

/* Notices that this site's journal is older than what others know of
 * it: it was replaced by an older copy, or has lost commits.
 *
 * Others are the broker (WELCOME), the site's hosts (HOST_HELLO, RUN_FOUND, RUN_STATE)
 * and the providers of its leases (ATTEMPT_STATE). Nothing is started on a host or on a
 * lease before that host, or the broker, has sent its mark. Once the journal is known
 * to be behind, nothing is started before all hosts have connected (host_table.h). What
 * a mark missed is refused by the host or the provider that has the attempt, and its
 * answer has the next mark. After each mark all counters of the site are above it, so
 * that no number is used again.
 *
 * What was about to start by the journal may have started and ended (site/run/runs.c
 * for runs on own hosts, consumer_doubt for leased ones).
 *
 * A job that waits by the journal may have been started by a lost attempt, and may have
 * ended. It is not started again until an administrator has accepted the loss, unless
 * it is rerunnable.
 *
 * What was lost is added up in the journal, as an alarm, until an administrator has
 * accepted it. The range of lost attempts is remembered for good: runs with such an
 * attempt are orphans (site/run/runs.h), whenever they are found.
 *
 * Source: docs/design/safety.md "Journals that are behind". */

struct journal_loss {
    struct journal_mark lost;    /* how many of each; until they are accepted */
    uint64_t from, to;           /* attempts that may have been lost; to 0: none */
    struct journal_mark present; /* as of the latest commit */
    uint64_t loaded_job;         /* the last job of the journal at the start ... */
    uint64_t loaded_attempt;     /* ... and the last attempt */
    uint64_t doubted_attempt;    /* the last attempt that the journal had when it was
                                    found to be behind: what is undecided up to there
                                    may have started and ended; 0: none. For good */
    uint64_t doubted_to;         /* jobs that the journal had when attempts were found
                                    to be missing: those that wait may have started */
};

/* A counter of the journal: "commits", "lost_commits" and so on. Others are ignored. */
void journal_loss_load(struct journal_loss *loss, const struct row_counter *counter);

/* Compares `present` with what another knows, and raises it above that. True if the
 * journal was behind: it is logged, and the counters are stored. `who`: "host n1". */
bool journal_loss_learn(struct journal_loss *loss, const struct journal_mark *known,
                        const char *who, struct effects *effects);
/* The alarm is over. */
void journal_loss_accept(struct journal_loss *loss, struct effects *effects);
/* Jobs with numbers up to this one are not started again before the loss of attempts is
 * accepted; 0: there is none. */
uint64_t journal_loss_doubted_to(const struct journal_loss *loss);
bool journal_loss_is_alarm(const struct journal_loss *loss);
/* The batch stores something: it has the next number. */
void journal_loss_count_commit(struct journal_loss *loss, struct effects *effects);

/* --------------------------------------------------------------- lending.c */

/* Runs of consumers on this site's hosts: the requests of consumers, and the
 * reports to them. provider/ decides on starts, runs.h has the runs. The consumer is
 * the site that the broker names as the sender; it can only reach its own runs.
 *
 * Every request is answered by ATTEMPT_STATE. The end of a run is reported again until
 * its consumer has acknowledged it (ATTEMPT_ACK). Source: docs/design/safety.md "Jobs"
 * 7-9. */

/* What it works on; all of it is borrowed. */
struct lending_parts {
    const char *site; /* its name */
    struct runs *runs;
    struct host_table *hosts;
    struct provider *provider;
    struct site_uplink *uplink;
    struct history *history;
    struct pass_request *pass_request;
    bool is_slurm; /* as in site_config */
};

struct lending;
struct lending *lending_new(const struct lending_parts *parts);
void lending_free(struct lending *lending);

/* START, ATTEMPT_ASK, ATTEMPT_CONTROL, ATTEMPT_ACK, OUTPUT_ASK and STREAM_DOWN of the
 * consumer `msg->site`. A message about a run of another site is ignored. */
void lending_request(struct lending *lending, const struct msg *msg, int64_t now_ms,
                     struct effects *effects);

/* A host has sent output of a consumer's run: it is forwarded. */
void lending_forward_output(struct lending *lending, const struct msg *msg,
                            struct effects *effects);
/* STREAM_UP of a host (its index): it is forwarded until the run ends. */
void lending_stream_up(struct lending *lending, int host,
                       const struct msg_stream_up *up, struct effects *effects);
/* Tells the provider whether the run uses its slots, or is suspended. */
void lending_count_use(struct lending *lending, const struct run *run, int64_t now_ms,
                       struct effects *effects);
/* The run of a consumer has changed. */
void lending_run_changed(struct lending *lending, struct run *run, int64_t now_ms,
                         struct effects *effects);
/* A session with the broker begins: all ends that are not acknowledged are sent again.
 */
void lending_new_session(struct lending *lending, int64_t now_ms);
void lending_tick(struct lending *lending, int64_t now_ms, struct effects *effects);
int64_t lending_wake_ms(const struct lending *lending);

/* EVICT: the consumer of the lease is lost. Its runs are ended if the policy still says
 * so. */
void lending_evict(struct lending *lending, const struct msg_evict *evict,
                   int64_t now_ms, struct effects *effects);

/* -------------------------------------------------------- recall_enforce.c */

/* Carries out recalls of slots: which jobs end, and when.
 *
 * If a leaf of a plan has to give back slots of a borrowed contract (consumer/), this
 * site chooses the jobs (recall_victims.h). Each is warned once, by SIGURG, which
 * processes ignore by default; its grace period is in its environment as
 * SUBLET_RECALL_GRACE, in seconds. When that has expired, the job is ended and
 * requeued. If the slots are no longer needed before that, the job runs on.
 *
 * If slots of a contract that this site lends (provider/) are still used after the
 * deadline, their runs are ended here, whatever the consumer has done; both sides
 * choose by the same rule, and so the same jobs. This also holds for the site's own
 * jobs on slots that it has as a leaf itself.
 *
 * Units: slots, milliseconds. Order: ties by the higher number of the job or attempt.
 * Source: Symphony, "Reclaim grace period"; docs/adr/0012. */

/* What it works on; all of it is borrowed. */
struct recall_enforce_parts {
    const struct site_config *config;
    struct job_table *jobs;
    struct runs *runs;
    struct provider *provider;
    struct consumer *consumer;
    struct lending *lending;
    struct lifecycle *life;
};

struct recall_enforce;
struct recall_enforce *recall_enforce_new(const struct recall_enforce_parts *parts);
void recall_enforce_free(struct recall_enforce *recalls);
void recall_enforce_reload(struct recall_enforce *recalls,
                           const struct site_config *config);

void recall_enforce_tick(struct recall_enforce *recalls, int64_t now_ms,
                         struct effects *effects);
int64_t recall_enforce_wake_ms(const struct recall_enforce *recalls);

/* No slots of the lease are recalled any more: its jobs run on. */
void recall_enforce_forget(struct recall_enforce *recalls, const char *lease);

/* ---------------------------------------------------------- report_queue.c */

/* Reports of the consumer on its attempts. They are collected while
 * consumer/ is at work, and applied after it, since what they lead to calls consumer/
 * again.
 *
 * Ownership: copies, in the arena. */

struct report_queue {
    struct arena *arena;
    struct consumer_report *items;
    int count, capacity;
};

void report_queue_init(struct report_queue *reports, struct arena *arena);
/* A consumer_report_fn; `arg` is the queue. */
void report_queue_collect(void *arg, const struct consumer_report *report);
void report_queue_apply(const struct report_queue *reports, struct lifecycle *life,
                        struct pass_request *pass_request, int64_t now_ms,
                        struct effects *effects);

/* ------------------------------------------------------------ site_usage.c */

/* What the site reports of itself to the broker (USAGE): slots that are
 * used, idle, lent and borrowed, jobs by state, demand by lease and by queue. */

struct site_usage_parts {
    const struct site_config *config;
    const struct host_table *hosts;
    const struct runs *runs;
    const struct provider *provider;
    const struct consumer *consumer;
    const struct job_table *jobs;
    const struct queue_table *queues;
    const struct limits *limits;
    const struct capacity *capacity;
    const struct scheduler *scheduler;
    int64_t local_ms;
};

/* Lists live in the arena. The sequence number and the times of passes are left to the
 * caller. */
void site_usage_read(const struct site_usage_parts *parts, struct arena *arena,
                     struct msg_usage *usage);

#endif
