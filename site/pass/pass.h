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

#include "model/effect.h"
#include "sched/preempt/preempt.h"
#include "sched/reservation/reservation.h"
#include "site/job/job.h"
#include "site/ledger/site_ledger.h"
#include "site/lifecycle/lifecycle.h"
#include "site/load/site_load.h"
#include "site/pass/capacity.h"
#include "site/pass/class_snapshot.h"
#include "site/pass/pass_request.h"
#include "site/pass/pass_terms.h"
#include "site/pass/resize_requests.h"
#include "site/run/host_table.h"

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

/* ---------------------------------------------------------------- reservation_table.c
 */

/* Slots and resources that are reserved for pending jobs from one
 * pass to the next (sched/reservation/reservation.h).
 *
 * A reservation belongs to a class of equal pending jobs: when another job becomes the
 * first of the class, the reservation is its. It ends when its job does not pend any
 * more, or after the time that SLOT_RESERVE allows; the job then reserves nothing for
 * one interval. Reservations are not on disk: the first pass after a restart makes them
 * anew, and their time starts again. Reserved slots of a lease are idle to its
 * contract, which may move them and thereby shrink the reservation.
 *
 * Units: milliseconds. Ownership: listings are borrowed until the next pass. Source:
 * docs/design/scheduling.md "Reservation and backfill"; docs/adr/0017. */

struct reservation_table_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct host_table *hosts;
    const struct lifecycle *life;
    struct pass_request *pass_request;
};

struct reservation_table;
struct reservation_table *
reservation_table_new(const struct reservation_table_parts *parts);
void reservation_table_reload(struct reservation_table *table,
                              const struct site_config *config);
void reservation_table_free(struct reservation_table *table);

/* The reservations as the pass needs them, in the arena; its classes are known. NULL:
 * no queue has SLOT_RESERVE. */
const struct reservation_snapshot *
reservation_table_snapshot(struct reservation_table *table,
                           struct rusage_pass *rusage_pass, struct arena *arena,
                           const struct place_snapshot *place);
/* Stores the result after the pass has been executed. */
void reservation_table_store(struct reservation_table *table,
                             struct rusage_pass *rusage_pass, struct arena *arena,
                             const struct place_snapshot *snapshot,
                             struct reservation_pass *shown);

/* When a reservation ends, or a job may reserve again. */
int64_t reservation_table_wake_ms(const struct reservation_table *table);

/* An amount of a resource; `host` is the first of its hosts that draws from the supply.
 */
struct reserved_amount {
    const char *resource, *host;
    int64_t milli, need_milli;
};

struct reserved_job {
    uint64_t job;
    const char *lease;              /* "": own hosts */
    const struct host_slots *hosts; /* 0 slots: chosen, none is free yet */
    const int *lent; /* of these slots, by host: used by running backfill jobs */
    int n_hosts;
    int n_wanted; /* slots on hosts that it has chosen; 0: as many as it has itself */
    const struct reserved_amount *parts;
    int n_parts;
    int64_t since_ms;
    int64_t start_ms; /* BACKFILL_NEVER: unknown */
};
int reservation_table_count(const struct reservation_table *table);
void reservation_table_at(const struct reservation_table *table, int index,
                          struct reserved_job *reserved);
/* False: the job has none. */
bool reservation_table_find(const struct reservation_table *table, uint64_t job,
                            struct reserved_job *reserved);

/* ---------------------------------------------------------------- preempt_claims.c */

/* Executes the preemption that a pass plans.
 *
 * A claim is a pending job and the slots that its victims are giving up. No other job
 * gets these slots. The job starts once all of them are free. A claim ends if its job
 * no longer pends, may not start, or did not get its slots within PREEMPTION_WAIT_TIME.
 * The victims resume when the scheduler has slots for them.
 *
 * Claims are not on disk. After a restart the job, which comes before its victims, gets
 * their slots first or preempts again. */

struct preempt_claims_parts {
    const struct site_config *config;
    struct job_table *jobs;
    const struct queue_table *queues;
    struct limits *limits;
    const struct host_table *hosts;
    struct lifecycle *life;
};

struct preempt_claims;
struct preempt_claims *preempt_claims_new(const struct preempt_claims_parts *parts);
void preempt_claims_reload(struct preempt_claims *claims,
                           const struct site_config *config, struct limits *limits);
void preempt_claims_free(struct preempt_claims *claims);

/* Before a pass: starts the jobs whose claimed slots are free, and counts the free
 * slots of the other claims as used in `hosts`. */
void preempt_claims_begin_pass(struct preempt_claims *claims, struct place_host *hosts,
                               int n_hosts, struct rusage_pass *rusage_pass,
                               int64_t now_ms, int64_t local_ms,
                               struct effects *effects);
/* Lists the suspended jobs that wait for slots, in order; in the arena. */
void preempt_claims_list_resumes(struct preempt_claims *claims,
                                 struct rusage_pass *rusage_pass, struct arena *arena,
                                 struct place_snapshot *snapshot);
/* A suspended job resumes, perhaps in its gap. */
void preempt_claims_note_resumed(struct preempt_claims *claims, const struct job *job);
/* After a pass: free slots were kept for these jobs. */
void preempt_claims_store_kept(struct preempt_claims *claims,
                               const struct place_plan *plan, int64_t now_ms);
/* The slots that the last pass has kept for suspended jobs, and until when it will. */
struct kept_slots {
    uint64_t job;
    int n_slots;
    int64_t until_ms;
};
const struct kept_slots *preempt_claims_kept(const struct preempt_claims *claims,
                                             int *n_kept);
/* What the pass needs to preempt, once all else of `place` is there; in the arena.
 * NULL: the site has no preemption. */
const struct preempt_snapshot *
preempt_claims_snapshot(struct preempt_claims *claims, struct pass_terms *terms,
                        struct arena *arena, const struct place_snapshot *place);
/* Marks or unmarks the victims of the plan while it is executed. `plan` may be NULL. */
void preempt_claims_mark_victims(struct preempt_claims *claims,
                                 const struct preempt_plan *plan, bool is_victim);
/* After the plan has been executed: suspends the victims. True if another pass may
 * preempt more. `plan` may be NULL. */
bool preempt_claims_suspend_victims(struct preempt_claims *claims,
                                    const struct preempt_plan *plan,
                                    struct rusage_pass *rusage_pass, int64_t now_ms,
                                    struct effects *effects);

/* When a claim ends for lack of slots, a time that protects a job ends, or one in which
 * slots are kept for a suspended job. */
int64_t preempt_claims_wake_ms(const struct preempt_claims *claims);
/* No job waits for slots of suspended jobs, and none are kept for them. */
bool preempt_claims_is_empty(const struct preempt_claims *claims);
/* The number of preemptions since the start. */
uint64_t preempt_claims_count_preempted(const struct preempt_claims *claims);

#endif
