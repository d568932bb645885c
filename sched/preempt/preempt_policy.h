/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_policy.h: which queues may preempt which, in what order, and what protects a
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
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_POLICY_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_POLICY_H

#include "base/conf.h"
#include "model/row.h"
#include "sched/queue/queue.h"

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
