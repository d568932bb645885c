/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_policy.h: which queues may preempt which, in what order, and what protects a
 * job: PREEMPTION of queues and all parameters around it.
 *
 *     PREEMPTION = PREEMPTIVE[low+1 normal] PREEMPTABLE[high]
 *
 * A queue may preempt another of lower priority where it is PREEMPTIVE without a list
 * or with that queue in it, or where the other is PREEMPTABLE without a list or with it
 * in that; either suffices. It is not transitive. A queue of a slot pool may neither
 * preempt nor be preempted.
 *
 * Jobs of a queue with BACKFILL are not preempted: they use what a waiting job
 * reserves, and whoever stops them delays that one. With PREEMPT_JOBTYPE = BACKFILL
 * they are, but only by queues that stand above all that reserve.
 *
 *     queueR 80 SLOT_RESERVE, queueB 50 BACKFILL PREEMPTABLE, queueP 75 PREEMPTIVE
 *     queueP does not preempt queueB; one of priority 85 does
 *
 * Parameters of an application override those of a queue, these those of the site.
 * Times are minutes, NO_PREEMPT_... also percent of a job's run limit; PREEMPT_DELAY
 * and PREEMPTION_WAIT_TIME seconds.
 *
 * Units: milliseconds. Ownership: in conf's arena. Errors: diagnostics.
 * Source: seed 000; lsf.md 3.1, 3.4; ARCHITECTURE 5. Layer: sched (base only). */
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
    int64_t interval_ms;  /* NO_PREEMPT_INTERVAL: since it started or went on */
    int64_t max_total_ms; /* MAX_TOTAL_TIME_PREEMPT; 0: any */
    int max_count;        /* MAX_JOB_PREEMPT: protected above it; 0: none */
    int64_t delay_ms;     /* PREEMPT_DELAY: a job waits before it preempts */
};

/* What an application says of them; a field that it leaves to the queue is -1 (of a
 * span: its percentage). */
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
    int terminate_when; /* TERMINATE_WHEN: for which causes (HALT_...) its jobs are
                 ended, not suspended; added up */
};

/* MAX_JOB_PREEMPT_RESET: when the count of MAX_JOB_PREEMPT begins anew. */
enum preempt_reset {
    PREEMPT_RESET_BY_USER, /* not set: a user requeues the job */
    PREEMPT_RESET_ALWAYS,  /* Y: it waits again, whatever for */
    PREEMPT_RESET_NEVER,   /* N */
};

struct preempt_policy {
    bool is_enabled;                    /* some queue is preemptive or preemptable */
    const struct preempt_queue *queues; /* by index, as the configuration's */
    int n_queues;
    const struct preempt_app *apps; /* those that say something */
    int n_apps;
    int preempt_for;    /* of PREEMPT_FOR, added up */
    int64_t wait_ms;    /* PREEMPTION_WAIT_TIME: then other jobs are looked for */
    bool has_exclusive; /* PREEMPT_JOBTYPE: exclusive jobs preempt, and give hosts */
    bool has_backfill;  /* PREEMPT_JOBTYPE: jobs of BACKFILL queues are preempted ... */
    int reserving_priority; /* ... by queues above this PRIORITY, the highest of a queue
                      with SLOT_RESERVE */
    enum preempt_reset reset;
};

/* Of all Queue sections, which have been read, and Parameters. */
void preempt_policy_read(struct conf *conf, const struct queue_config *queues,
                         int n_queues, struct preempt_policy *policy);
/* PREEMPT_FOR alone; -1: PREEMPTION stands in no queue. For limit_config_read. */
int preempt_policy_read_for(const struct conf *conf);

/* Of a job of that queue and application ("": none): the queue's own, or in the arena
 * what the application makes of them. */
const struct preempt_protection *
preempt_policy_protection(const struct preempt_policy *policy, struct arena *arena,
                          int queue, const char *app);

/* TERMINATE_WHEN of that queue has it; -1: it is gone, and has nothing. */
bool preempt_policy_terminates(const struct preempt_policy *policy, int queue,
                               enum halt_cause cause);

/* True where a job of queue `high` may preempt one of `low`; then the preference. */
bool preempt_policy_may(const struct preempt_policy *policy,
                        const struct queue_config *queues, int high, int low,
                        int *level);

#endif
