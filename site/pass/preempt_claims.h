/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_claims.h: preemption carried out: what the plan is shown, who is suspended,
 * and the slots that are kept for whom until they are free.
 *
 * A claim is a waiting job and the slots that its victims are giving up. While the
 * victims are being stopped the slots are nobody else's; once all are free the job
 * starts on them. A claim is given up where its job does not wait any more, may not
 * start, or its slots have not come within PREEMPTION_WAIT_TIME; then whoever stands
 * still goes on when the scheduler has slots for it.
 *
 * Claims are not on disk: after a restart the job, which stands before its victims, is
 * the first to get what they gave up, or preempts again. Layer: site. */
#ifndef SUBLET_SITE_PASS_PREEMPT_CLAIMS_H
#define SUBLET_SITE_PASS_PREEMPT_CLAIMS_H

#include "model/effect.h"
#include "sched/preempt/preempt.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"
#include "site/pass/pass_terms.h"
#include "site/run/host_table.h"

struct preempt_claims_parts {
    const struct site_config *config;
    const struct job_table *jobs;
    const struct queue_table *queues;
    struct limits *limits;
    const struct host_table *hosts;
    struct lifecycle *life;
};

struct preempt_claims;
struct preempt_claims *preempt_claims_new(const struct preempt_claims_parts *parts);
void preempt_claims_reload(struct preempt_claims *preempts,
                           const struct site_config *config, struct limits *limits);
void preempt_claims_free(struct preempt_claims *preempts);

/* Before a pass: claimed jobs whose slots are free start; what is free of the others'
 * slots counts as used in `hosts`. */
void preempt_claims_begin_pass(struct preempt_claims *preempts,
                               struct place_host *hosts, int n_hosts,
                               struct rusage_pass *reserves, int64_t now_ms,
                               int64_t local_ms, struct effects *effects);
/* Jobs that stand still and wait for their slots, in order; in the arena. */
void preempt_claims_list_resumes(struct preempt_claims *preempts,
                                 struct rusage_pass *reserves, struct arena *arena,
                                 struct place_snapshot *snapshot);
/* What the pass needs to preempt, once all else of `place` is there; in the arena.
 * NULL: the site has no preemption. */
const struct preempt_snapshot *
preempt_claims_snapshot(struct preempt_claims *preempts, const struct pass_terms *terms,
                        struct arena *arena, const struct place_snapshot *place);
/* Those whom the plan preempts know it while the pass is carried out. NULL: nobody. */
void preempt_claims_mark_victims(struct preempt_claims *preempts,
                                 const struct preempt_plan *plan, bool is_victim);
/* After the pass has been carried out: victims are suspended. True where there may be
 * more. `plan` NULL: nothing. */
bool preempt_claims_suspend_victims(struct preempt_claims *preempts,
                                    const struct preempt_plan *plan,
                                    struct rusage_pass *reserves, int64_t now_ms,
                                    struct effects *effects);

/* When a claim is given up, or a time that protects a job is over. */
int64_t preempt_claims_wake_ms(const struct preempt_claims *preempts);
/* How often this site's jobs were preempted since it started. */
uint64_t preempt_claims_count_preempted(const struct preempt_claims *preempts);

#endif
