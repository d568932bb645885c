/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.h: which running jobs stand still so that waiting ones can start: asked by a
 * pass (place.h) whenever a line finds no room, before those behind it are looked at,
 * so that what is free goes to who preempts for the rest.
 *
 * Victims are running jobs that the line's queue may preempt (preempt_policy.h), that
 * nothing protects, on hosts where the job may run; all on own hosts, or all of one
 * lease. In the order
 *
 *     queues with a preference, the higher number first; then those of lower priority;
 *     PREEMPT_FOR=LEAST_RUN_TIME: who has run the shortest time;
 *     else: of the least loaded host, there the youngest start;
 *     the higher key first
 *
 * as many as are needed are taken. Where job and victims are parallel, one that turns
 * out not to be needed is taken too, but under MINI_JOB; under OPTIMAL_MINI_JOB the
 * fewest jobs are, whatever their order. If after that a limit still stands against the
 * job nobody is taken: limits count who stands still as bounds.h says.
 *
 * A job whose slots may not lie anywhere (place_span.h) preempts only who is in its
 * way on hosts where they lie as they have to then, and no parallel job that could be
 * spared; under OPTIMAL_MINI_JOB the same.
 *
 * Exclusive jobs preempt, and give their hosts to others while they stand still, where
 * PREEMPT_JOBTYPE has EXCLUSIVE; for one, hosts of the site are emptied, with no job
 * that could be spared; under OPTIMAL_MINI_JOB with the fewest (preempt_optimal.h).
 * Without it they preempt nobody and give no host: they stand still for a limit or a
 * resource, for a job on other hosts.
 *
 * A job that lacks a resource that it reserves preempts who holds it, where the
 * resource is one of PREEMPTABLE_RESOURCES, and more where slots are lacking too;
 * nobody is taken who gives neither (preempt_resources.h). Of alternatives (||) the
 * first is taken for which others' victims leave enough, else the first for which
 * somebody may be preempted: one that needs nobody to stand still has started by then
 * (place.h).
 *
 * The plan names, for each job that preempts, its victims and the slots that are kept
 * for it; a job for which those of others give enough has none of its own. Nothing
 * starts by it: first all of its victims must stand still.
 *
 * Units: slots, milliseconds. Ownership: the snapshot is borrowed and not changed; all
 * lives in the arena but the limits' draft. Order: as above, complete. Source: seed
 * 000; lsf.md 3. Layer: sched (base only). */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_H

#include "sched/place/place.h"
#include "sched/preempt/preempt_policy.h"

struct preempt_piece {
    int host; /* index in the snapshot */
    int n_slots;
};

/* A running job. */
struct preempt_job {
    uint64_t key;
    int queue;
    int n_slots;
    const struct preempt_piece *pieces;
    const struct host_slots *hosts; /* the same by name, for limits */
    int n_pieces;
    const struct limit_owner *limit_class; /* NULL: no limits */
    int64_t start_ms;
    int64_t running_since_ms; /* it runs since: its start, or when it went on last */
    int64_t ran_ms;           /* in all */
    int64_t suspended_ms;     /* it stood still in all */
    int64_t run_limit_ms;     /* 0: none */
    int n_preempted;
    const struct preempt_protection *protection; /* NULL: of its queue */
    const struct rusage_amount *releases; /* what it would give of what it reserves */
    int n_releases;
    bool is_exclusive;
};

struct preempt_snapshot {
    const struct preempt_policy *policy;
    const struct preempt_job *jobs; /* all running jobs, in any order; needed where
                                       preempt_needs_jobs */
    int n_jobs;
    const int *loads; /* by host: least loaded first; NULL: by running slots / slots */
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
/* `snapshot` has one of preemption. The plan in the arena outlives this. */
struct preempt *preempt_new(struct arena *arena, const struct place_snapshot *snapshot);
void preempt_free(struct preempt *preempt); /* NULL is fine */

/* The pass has started a job there. */
void preempt_count_start(struct preempt *preempt, const struct limit_owner *class,
                         const struct host_slots *hosts, int n_hosts);
/* One that runs, on the first hosts, has got the others more. */
void preempt_count_growth(struct preempt *preempt, const struct limit_owner *class,
                          const struct host_slots *has, int n_has,
                          const struct host_slots *more, int n_more);
/* The line's jobs from `first` on found no room, and the verdict says why: it is
 * completed. What is free of a claim's slots counts as used from then on, and the job
 * for the limits. */
struct place_state;
void preempt_for_class(struct preempt *preempt, int line, int first,
                       struct place_state *room, struct limits_tentative *draft,
                       struct pending_verdict *verdict);
/* There is nobody whom a line could preempt: what preempt_for_class tells of one does
 * not depend on those before it. */
bool preempt_is_idle(struct preempt *preempt);
const struct preempt_plan *preempt_result(const struct preempt *preempt);

#endif
