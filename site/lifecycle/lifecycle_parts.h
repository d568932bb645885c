/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle_parts.h: struct lifecycle, and what the files that work on it call of each
 * other.
 *
 * Order of the units, each calls those before it: lifecycle, job_end, lost_order,
 * job_report, job_dispatch, suspend, control_job. Layer: site. */
#ifndef SUBLET_SITE_LIFECYCLE_LIFECYCLE_PARTS_H
#define SUBLET_SITE_LIFECYCLE_LIFECYCLE_PARTS_H

#include "site/lifecycle/lifecycle.h"

struct lifecycle {
    struct lifecycle_parts parts;
    uint64_t last_attempt, stored_attempt; /* numbers; stored: in the journal, 0 until
                                              an attempt was started */
    int64_t deferred_ms;                   /* when the next deferred kill is due */
};

/* The rules for the job: of its queue and its application profile, and its own (-Q). */
struct job_rules_stack lifecycle_rules_stack(const struct lifecycle *life,
                                             const struct job *job,
                                             struct arena *arena);
/* The CPU factor of the first host of the job if one of its limits depends on it; else
 * 1. */
double lifecycle_cpu_factor(const struct lifecycle *life, const struct job *job,
                            const struct job_rules_stack *stack);
/* The run limit of an attempt on its hosts. */
void lifecycle_set_run_limit(const struct lifecycle *life, struct job *job,
                             struct arena *arena);
/* The run of a job has ended: the job ends or is requeued (job_end.c says when). */
void job_end_run(struct lifecycle *life, struct job *job, const struct run_exit *exit,
                 int64_t now_ms, struct effects *effects);
/* A pending job was killed. */
void job_end_unstarted(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects);
/* The provider has refused the attempt: the job is requeued, or ends if it was killed
 * in the meantime. */
void job_end_refused(struct lifecycle *life, struct job *job, const char *reason,
                     int64_t now_ms, struct effects *effects);
/* The run has carried out an order with this number; see lost_order.c. */
void lost_order_note(struct lifecycle *life, struct job *job, uint64_t done,
                     bool is_suspended, int64_t now_ms, struct effects *effects);
/* The reason of a job that is requeued because its slots were recalled. */
extern const char job_end_recalled[];

#endif
