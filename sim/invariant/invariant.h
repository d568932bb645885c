/* SPDX-License-Identifier: Apache-2.0 */
/* invariant.h: what must hold in a simulated federation after every step.
 *
 * 1 Slots of running jobs on a host never exceed max(its size, slots in use when it
 * shrank), counted at the executors. Exception: a job that was suspended when the host
 * shrank may resume there alone. The hosts of an exclusive job run no other job of any
 * site. 2 Each side's use of a lease is within its share in the provider's ledger. 3 A
 * contract's epoch only grows, and one epoch has one content. 4 A contract that the
 * broker sent to a consumer survives every crash of the broker. 5 An acknowledged job
 * is in the journal of its site, and only there, until it has ended. It ends once. It
 * starts once, unless it is rerunnable, or its run has ended and its site recorded a
 * cause for the requeue. 6 On each exported host, provider's + consumer's is what was
 * exported. 7 After faults have stopped, no lease is inactive for longer than max(two
 * reclaim delays, two freeze time-outs). 8 The sum over all leases (also draining ones)
 * of a shared resource never exceeds NINSTANCES and its amount in ResourceMap; the sum
 * of memory and of swap space never exceeds what the host has reported since its site
 * started. An excess from before a reduction may remain, but not grow. 9 The unfinished
 * jobs of a site never reserve more of a resource than its configured or exported
 * amount, except for reservations from before a reduction or under an earlier contract.
 * A yielded job holds no releasable resource. 10 If a host is beyond loadStop of one of
 * several jobs there, one job is suspended soon, or SBD_SLEEP_TIME after the last
 * change because of load. Two changes on a host are at least one load report apart,
 * unless one is caused by another host of the job. 11 A pool's cycle grants nothing
 * above a quota and recalls nothing below one. Its quotas are within the bounds of
 * docs/design/plans.md "Invariants". 12 Slots that a pending job reserves are
 * backfilled only with jobs whose run limit ends before that job can start. Queues with
 * INTERRUPTIBLE_BACKFILL need at least their minimum time. 13 The slots of a job that
 * starts satisfy its span. 14 The exit code of a job is that of a process of its own.
 * 15 The books of a lease balance to the millisecond: what is booked by hour is what
 * the rows of provider and consumer say, a consumer books no use of which its provider
 * has no run, no quota counts less than its runs use, and at the end what was used and
 * held is equal in the records of all who have it, but for splits that nobody told
 * them. 16 No hand-over begins that gives slots of other sites to a leaf while hours
 * (HOURS) of it, or of a node above it, are used up; no job starts on a lease whose
 * hours are.
 *
 * The world reports each change (commits, starts and ends at hosts), so that the cost
 * of a check depends only on the changes. Rows of jobs are checked at commit. At each
 * restart, and every some hundred steps, the machine's memory is compared with them. A
 * site's ledger is checked after the site's steps, the broker's contracts after its
 * own.
 *
 * Ownership: names are copied. Source: docs/design/interfaces.md "Scenarios". Layer:
 * sim. */
#ifndef SUBLET_SIM_INVARIANT_INVARIANT_H
#define SUBLET_SIM_INVARIANT_INVARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "sim/world/executor.h"
#include "site/config/site_config.h"
#include "site/site.h"

/* The machines to check. Machines that are down are NULL, and checked when they are up
 * again. */
struct invariants_site {
    const struct site_config *config;
    struct site *site;
};

struct invariants_view {
    const struct broker *broker;
    struct invariants_site *sites;
    int n_sites;
};

struct invariants;
struct invariants *invariants_new(void);
void invariants_free(struct invariants *invariants);
/* For invariant 7: twice the longest reclaim delay or freeze time-out. 0: not checked.
 */
void invariants_set_patience(struct invariants *invariants, int64_t patience_ms);

/* Checks return false with the reason in `text` if an invariant does not hold. */
struct invariants_text {
    char *text;
    int size;
};

/* Sets the time of the calls that follow; 0: unknown. */
void invariants_set_now(struct invariants *invariants, int64_t now_ms);
/* Report what has happened. */
bool invariant_job_acknowledged(struct invariants *invariants, const char *site,
                                uint64_t job, struct invariants_text *text);
bool invariant_job_stored(struct invariants *invariants,
                          const struct site_config *config, const struct row *row,
                          int64_t now_ms, struct invariants_text *text);
/* Any row, of a site (its index and name) or of the broker (-1 and NULL). */
bool invariant_ledger_stored(struct invariants *invariants, int index, const char *site,
                             const struct row *row, int64_t now_ms,
                             struct invariants_text *text);
/* The same, for invariant 16; `hour_ms` as in site_config. */
bool invariant_hours_stored(struct invariants *invariants, bool is_broker,
                            const struct row *row, int64_t hour_ms,
                            struct invariants_text *text);
/* A run of the job with that id and name has begun. After its journal was restored, a
 * site may give the id to another job. */
bool invariant_job_started(struct invariants *invariants, const char *site,
                           const char *job, const char *name,
                           struct invariants_text *text);
/* The site's journal was restored from a copy: what was put on record since is lost.
 * Report the rows of the copy with invariant_job_stored, then call it with `is_over`.
 */
void invariant_job_restored(struct invariants *invariants, const char *site,
                            bool is_over);
/* Reported by the executor of a host of the site: the job's process has ended. */
void invariant_job_exited(struct invariants *invariants, const struct run_id *run,
                          int status);
/* Likewise. */
bool invariant_host_used(struct invariants *invariants, const char *site,
                         const struct executor_use *use, struct invariants_text *text);
/* The host has a run of that lease which uses slots. */
bool invariant_host_is_used(const struct invariants *invariants, const char *site,
                            const char *host, const char *lease);
/* Sets the size of a host, at first and at each change. `n_decided` slots are recorded
 * for runs that have not ended. */
void invariant_host_sized(struct invariants *invariants, const char *site,
                          const char *host, int n_slots, int n_decided);
/* The site has another configuration, maybe at the same address. */
void invariant_rusage_reloaded(struct invariants *invariants, const char *site);
/* The broker sent a consumer the contract of that epoch. */
void invariants_contract_sent(struct invariants *invariants, const char *lease,
                              uint64_t epoch);
/* The broker was restored from a backup: contracts sent since are forgotten. */
void invariants_restored(struct invariants *invariants);

/* Call it after each step of the site, and with `is_restarted` after its start. */
bool invariants_check_site(struct invariants *invariants,
                           const struct invariants_site *site, bool is_restarted,
                           struct invariants_text *text);
/* Call it after each step of the broker. `calm_ms`: the end of the last fault. */
bool invariants_check_broker(struct invariants *invariants,
                             const struct invariants_view *view, int64_t calm_ms,
                             int64_t now_ms, struct invariants_text *text);
/* False while a contract is being changed, broker, provider and consumer disagree about
 * one, or a job has not ended. */
bool invariants_settled(struct invariants *invariants,
                        const struct invariants_view *view,
                        struct invariants_text *text);

#endif
