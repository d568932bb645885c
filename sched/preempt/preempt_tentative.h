/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_tentative.h: the state of a plan of preemptions, and what there would be if
 * its victims were suspended.
 *
 * The pass counts the slots of a victim as used, as they are until it is suspended.
 * What victims free, less what claims will take of it, is in `delta`, so that the next
 * job that preempts sees what is left. Layer: sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_TENTATIVE_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_TENTATIVE_H

#include "sched/place/place_trial.h"
#include "sched/preempt/preempt_candidates.h"
#include "sched/preempt/preempt_resources.h"

/* One job's choice that is being made. */
struct preempt_selection {
    const struct place_class *class;
    struct preempt_candidates
        *candidates; /* for one alternative of the class's rusage */
    int group;
    int *order; /* indexes of jobs, as they are taken */
    int n_order;
    int *victims;
    int n_victims;
    bool takes_all; /* a limit is exceeded by far: one victim alone shows no effect */
};

struct preempt {
    const struct preempt_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    uint64_t *claims; /* of the snapshot, sorted */
    struct preempt_running running;
    struct limits_tentative
        *limits;               /* as if all victims were suspended; NULL: no limits */
    struct place_state *state; /* of the pass */
    struct preempt_resources resources;
    int *delta;           /* by host: what victims give and claims will take of it */
    bool *is_victim;      /* by job */
    bool *is_vacated;     /* by host: its exclusive job is a victim */
    bool is_exclusive;    /* the class that is looked at */
    int *order, *victims; /* scratch of a choice, by job */
    /* Of the class that is looked at: one for each alternative of its rusage. */
    struct preempt_candidates *candidates[RESREQ_RUSAGES_MAX];
    int n_candidates;
    struct host_slots *hosts; /* scratch: where the job would be, ... */
    int *indexes;             /* ... the same as indexes */
    int n_hosts;
    struct arena scratch;     /* of a trial */
    struct place_start start; /* where the last trial has placed the job */
    /* By group, for the class that is looked at: free slots on its candidates (-1: not
     * counted yet), and a host before which there are none. */
    int64_t *free_slots;
    int *first_host;
    struct preempt_plan plan;
    bool is_idle, is_idle_known; /* there is no victim at all; that is known */
};

/* ---------------------------------------------------------------- as if */

/* Makes the job a victim, or spares it. Returns how many slots that adds. */
int preempt_tentative_set(struct preempt *preempt,
                          const struct preempt_selection *selection, int index,
                          bool is_victim);
/* Free slots of the host for the class; for an exclusive one, 0 unless it is empty. */
int preempt_tentative_free_slots(const struct preempt *preempt, int host);
/* Slots that limits leave that do not depend on hosts. */
int preempt_tentative_limit_slots(const struct preempt *preempt,
                                  const struct place_class *class);
/* Places the job on hosts of the group in the tentative state; false if it does not
 * fit. */
bool preempt_tentative_place(struct preempt *preempt,
                             const struct preempt_selection *selection);
/* True if a trial finds where the job fits (place_trial.h): it has parts. */
bool preempt_tentative_needs_trial(const struct preempt_selection *selection);
/* Places such a job once more. The start has its parts, and lives as long as the plan.
 */
void preempt_tentative_set_start(struct preempt *preempt,
                                 const struct preempt_selection *selection);
/* Free slots on the group's hosts. */
int64_t preempt_tentative_free_in_group(struct preempt *preempt,
                                        const struct preempt_selection *selection);

/* ---------------------------------------------------------------- choosing */

/* The first group that suffices, in the order of their best victims; under
 * OPTIMAL_MINI_JOB the first one with the fewest victims. -1: none. */
int preempt_select_group(struct preempt *preempt, struct preempt_selection *selection);
/* Takes victims in the group of the selection, and places the job. */
bool preempt_select_in_group(struct preempt *preempt,
                             struct preempt_selection *selection);
/* The group where the victims of other jobs free enough; -1: none. */
int preempt_select_left_over(struct preempt *preempt,
                             struct preempt_selection *selection);

#endif
