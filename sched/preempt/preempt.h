/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h: which running jobs are suspended so that pending jobs can start. The pass
 * (place.h) calls it when a class finds no room, before it serves later classes, so
 * that free slots go to the job that preempts for the rest.
 *
 * Victims are unprotected running jobs of queues that the job's queue may preempt
 * (preempt_policy.c), on hosts where the job may run. All are on own hosts, or all are
 * on hosts of one lease. They are taken in this order, as many as are needed:
 *
 *     queues with a preference, the higher number first; then queues of lower priority;
 *     with PREEMPT_FOR=LEAST_RUN_TIME: the job that has run for the shortest time;
 *     else: the job whose most loaded host is the least loaded, there the job that
 *     started last;
 *     the higher key first
 *
 * A victim that turns out not to be needed is spared, unless it and the preempting job
 * are both parallel; under MINI_JOB it is spared then, too. OPTIMAL_MINI_JOB suspends
 * the fewest jobs, whatever their order. If a limit still prevents the start after
 * that, nothing is suspended (limits count suspended jobs as their own header says).
 *
 * For a job with span, same or a compound requirement, jobs are suspended only on hosts
 * where that lets the job be placed as required; no victim that can be spared is taken.
 *
 * By default an exclusive job never preempts, and does not free its hosts when it is
 * preempted; it is suspended only for a limit or a resource that a job on other hosts
 * needs. With EXCLUSIVE in PREEMPT_JOBTYPE exclusive jobs preempt, and their hosts are
 * open to other jobs while they are suspended. For an exclusive job, own hosts are
 * emptied; under OPTIMAL_MINI_JOB with the fewest victims (preempt_optimal.h).
 *
 * A job that lacks a resource of its rusage preempts jobs that hold it, if the resource
 * is one of PREEMPTABLE_RESOURCES (preempt_resources.h). Of several alternatives (||)
 * the first counts for which the victims of other jobs leave enough; else the first for
 * which some job may be preempted.
 *
 * The plan names, for each preempting job, its victims and the slots that are held for
 * it. A job that can start on what the victims of other jobs leave has no victims. A
 * preempting job starts only after all of its victims are suspended.
 *
 * Units: slots, milliseconds. Ownership: the snapshot is borrowed and not changed; the
 * plan lives in the arena. Order: as above, complete. Source: LSF, "Preemptive
 * scheduling"; docs/design/scheduling.md. Layer: sched. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_H

#include "base/conf/conf.h"
#include "model/row.h"
#include "sched/place/place.h"
#include "sched/queue/queue.h"

/* A running job. */
struct preempt_job {
    uint64_t key;
    int queue;
    int n_slots;
    const struct rusage_piece *pieces;
    const struct host_slots *hosts; /* the same by name, for limits */
    int n_pieces;
    const struct limit_owner *limit_class; /* NULL: no limits */
    int64_t start_ms;
    int64_t running_since_ms; /* its start, or when it last resumed */
    int64_t ran_ms;           /* in all */
    int64_t suspended_ms;     /* in all */
    int64_t run_limit_ms;     /* 0: none */
    int n_preempted;
    const struct preempt_protection *protection; /* NULL: of its queue */
    const struct rusage_amount *releases; /* reserved amounts that it would free */
    int n_releases;
    bool is_exclusive;
};

struct preempt_snapshot {
    const struct preempt_policy *policy;
    const struct preempt_job *jobs; /* all running jobs, in any order; needed where
                                       preempt_needs_jobs */
    int n_jobs;
    const int *loads; /* by host: a smaller number is less load; among equal numbers,
                         and for NULL, running slots / slots decides */
    const uint64_t *claims; /* pending jobs that victims already make room for */
    int n_claims;
    int max_jobs; /* that preempt, of one plan */
};

/* A job that preempts. */
struct preempt_claim {
    uint64_t job;
    int class_index;
    const char *lease; /* "": own hosts */
    struct host_slots *hosts;
    int n_hosts;
    const int *victims; /* indexes of jobs */
    int n_victims;
    const struct rusage_request *rusage; /* what it reserves; NULL: nothing */
};

struct preempt_plan {
    struct preempt_claim *claims;
    int n_claims;
    const struct preempt_job *jobs; /* what `victims` means */
    bool is_cut;                    /* max_jobs was reached */
    int64_t next_ms; /* PREEMPT_DELAY or NO_PREEMPT_INTERVAL of a job is over;
                        INT64_MAX: of none */
};

/* A class of the snapshot could preempt jobs, if there are any to preempt. */
bool preempt_needs_jobs(const struct place_snapshot *snapshot,
                        const struct preempt_policy *policy);

struct preempt;
struct place_state;
/* `snapshot` has one of preemption; `state` is the pass's, and claims count as used in
 * it. The plan in the arena outlives this. */
struct preempt *preempt_new(struct arena *arena, const struct place_snapshot *snapshot,
                            struct place_state *state);
void preempt_free(struct preempt *preempt); /* NULL is fine */

/* The pass has started a job on these hosts. */
void preempt_count_start(struct preempt *preempt, const struct limit_owner *class,
                         const struct host_slots *hosts, int n_hosts);
/* A running job, on the hosts of `has`, gets the slots of `more` too. */
void preempt_count_growth(struct preempt *preempt, const struct limit_owner *class,
                          const struct host_slots *has, int n_has,
                          const struct host_slots *more, int n_more);
/* The jobs of the class from `first` on found no room. The verdict says why, and this
 * adds what they preempt. From then on the free slots of a claim count as used, and its
 * job counts for the limits. */
void preempt_for_class(struct preempt *preempt, int class, int first,
                       struct limits_tentative *draft, struct pending_verdict *verdict);
/* True if there is no job that any class could preempt: then the verdict of
 * preempt_for_class does not depend on earlier classes. */
bool preempt_is_idle(struct preempt *preempt);
const struct preempt_plan *preempt_result(const struct preempt *preempt);

/* ---------------------------------------------------------------- preempt_policy.c */

/* Which queues may preempt which, in what order, and what protects a
 * job: PREEMPTION of queues and all parameters around it.
 *
 *     PREEMPTION = PREEMPTIVE[low+1 normal] PREEMPTABLE[high]
 *
 * A queue may preempt jobs of a queue of lower priority if the first one is PREEMPTIVE
 * or the second one is PREEMPTABLE. A list restricts either word to the queues in it.
 * Preemption is not transitive. A queue of a slot pool neither preempts nor is
 * preempted.
 *
 * By default jobs of a queue with BACKFILL are not preempted, because they use what a
 * pending job reserves, and suspending them would delay that job. With PREEMPT_JOBTYPE
 * = BACKFILL they are preempted, but only by queues of higher priority than all queues
 * that reserve.
 *
 *     queueR 80 SLOT_RESERVE, queueB 50 BACKFILL PREEMPTABLE, queueP 75 PREEMPTIVE
 *     queueP does not preempt queueB; one of priority 85 does
 *
 * Parameters of an application override those of a queue, and these override those of
 * the site. Times are in minutes, PREEMPT_DELAY, PREEMPTION_WAIT_TIME and
 * RESUME_RESERVE_TIME in seconds.
 * NO_PREEMPT_... may also be a percentage of the run limit of a job.
 *
 * Units: milliseconds. Ownership: in conf's arena. Errors: diagnostics.
 * Source: LSF, "Preemptive scheduling"; docs/design/scheduling.md "Which queue preempts
 * which", "What protects a job", "Decided". Layer: sched
 * (base only). */

/* PREEMPT_FOR. */
enum preempt_for {
    PREEMPT_FOR_GROUP_JLP = 1,
    PREEMPT_FOR_GROUP_MAX = 2,
    PREEMPT_FOR_HOST_JLU = 4,
    PREEMPT_FOR_USER_JLP = 8,
    PREEMPT_FOR_LEAST_RUN_TIME = 16,
    PREEMPT_FOR_MINI_JOB = 32,
    PREEMPT_FOR_OPTIMAL_MINI_JOB = 64,
};

/* A time, or percent of a job's run limit; both 0: not set. */
struct preempt_duration {
    int64_t ms;
    int percent;
};

struct preempt_protection {
    struct preempt_duration ran;    /* NO_PREEMPT_RUN_TIME */
    struct preempt_duration finish; /* NO_PREEMPT_FINISH_TIME */
    int64_t interval_ms;  /* NO_PREEMPT_INTERVAL: since it started or resumed */
    int64_t max_total_ms; /* MAX_TOTAL_TIME_PREEMPT; 0: any */
    int max_count;        /* MAX_JOB_PREEMPT: protected above it; 0: none */
    int64_t delay_ms;     /* PREEMPT_DELAY: before a pending job preempts */
};

/* The parameters of an application. A field that is not set is -1; of a duration, its
 * percentage is. */
struct preempt_app {
    const char *name;
    struct preempt_protection protection;
};

struct preempt_target {
    int queue;
    int level; /* of preference; 0: none */
};

struct preempt_queue {
    bool is_preemptive, is_preemptable;
    bool is_in_slot_pool;                 /* of a slot pool: neither */
    const struct preempt_target *targets; /* of PREEMPTIVE; none: all that are lower */
    int n_targets;
    const int *preemptable_by; /* of PREEMPTABLE; none: all that are higher */
    int n_preemptable_by;
    struct preempt_protection protection;
    int terminate_when; /* TERMINATE_WHEN: sum of the causes (SUSPEND_...) for which
                           jobs are terminated instead of suspended */
};

/* MAX_JOB_PREEMPT_RESET: when the count of MAX_JOB_PREEMPT is reset. */
enum preempt_reset {
    PREEMPT_RESET_BY_USER, /* not set: if a user requeues the job */
    PREEMPT_RESET_ALWAYS,  /* Y: whenever the job is pending again */
    PREEMPT_RESET_NEVER,   /* N */
};

struct preempt_policy {
    bool is_enabled;                    /* some queue is preemptive or preemptable */
    const struct preempt_queue *queues; /* by index, as the configuration's */
    int n_queues;
    const struct preempt_app *apps; /* only those with such parameters */
    int n_apps;
    int preempt_for; /* sum of the values of PREEMPT_FOR */
    int64_t wait_ms; /* PREEMPTION_WAIT_TIME: other victims are chosen after it */
    int64_t resume_reserve_ms; /* RESUME_RESERVE_TIME: slots are kept for a suspended
                                  job, which cannot use them yet, at most for so long */
    bool has_exclusive; /* PREEMPT_JOBTYPE: exclusive jobs preempt and free their hosts
                         */
    bool has_backfill;  /* PREEMPT_JOBTYPE: jobs of BACKFILL queues are preempted ... */
    int reserving_priority; /* ... by queues above this PRIORITY, the highest of a queue
                      with SLOT_RESERVE */
    enum preempt_reset reset;
};

/* Reads sections Queue (read into `queues` already), Application and Parameters. */
void preempt_policy_read(struct conf *conf, const struct queue_config *queues,
                         int n_queues, struct preempt_policy *policy);
/* Only PREEMPT_FOR, for limit_config_read; -1: no queue has PREEMPTION. */
int preempt_policy_read_for(const struct conf *conf);

/* What protects jobs of that queue and application ("": none): the rules of the queue,
 * or a copy in the arena that the application overrides. */
const struct preempt_protection *
preempt_policy_protection(const struct preempt_policy *policy, struct arena *arena,
                          int queue, const char *app);

/* True if TERMINATE_WHEN of the queue has the cause. `queue` -1: it was removed. */
bool preempt_policy_terminates(const struct preempt_policy *policy, int queue,
                               enum suspend_cause cause);

/* True if jobs of queue `high` may preempt jobs of `low`; gives the preference. */
bool preempt_policy_may(const struct preempt_policy *policy,
                        const struct queue_config *queues, int high, int low,
                        int *level);

#endif
