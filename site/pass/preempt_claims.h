/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_claims.h: executes the preemption that a pass plans.
 *
 * A claim is a pending job and the slots that its victims are giving up. No other job
 * gets these slots. The job starts once all of them are free. A claim ends if its job
 * no longer pends, may not start, or did not get its slots within PREEMPTION_WAIT_TIME.
 * The victims resume when the scheduler has slots for them.
 *
 * Claims are not on disk. After a restart the job, which comes before its victims, gets
 * their slots first or preempts again.
 *
 * Layer: site. */
#ifndef SUBLET_SITE_PASS_PREEMPT_CLAIMS_H
#define SUBLET_SITE_PASS_PREEMPT_CLAIMS_H

#include "model/effect.h"
#include "sched/preempt/preempt.h"
#include "site/job/job.h"
#include "site/pass/pass_terms.h"
#include "site/run/host_table.h"

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
/* The number of preemptions since the start. */
uint64_t preempt_claims_count_preempted(const struct preempt_claims *claims);

#endif
