/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_resources.h: resources in a plan of preemptions: what victims release, what
 * claims take of that, and what is left for the next job.
 *
 * A running job releases the resources of PREEMPTABLE_RESOURCES when it is suspended,
 * and all that it reserves when it is terminated instead; the site says which
 * (`releases` of preempt_job). Each alternative of a class is looked at on its own.
 *
 * Units, Ownership: as rusage_supply.h. Layer: sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_RESOURCES_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_RESOURCES_H

#include "sched/preempt/preempt.h"

struct preempt_resources {
    const struct rusage_supply
        *supply;       /* without supplies: no job reserves resources */
    int64_t *released; /* by supply: by victims, less what claims will take of it */
    int64_t *left;     /* by pool: of the pass, and that; as the line began and since */
    struct rusage_piece *pieces; /* scratch */
};

void preempt_resources_init(struct preempt_resources *resources, struct arena *arena,
                            const struct place_snapshot *place);
/* A class with rusage is looked at; `left` is the pass's. */
void preempt_resources_begin(struct preempt_resources *resources, const int64_t *left);

/* The job becomes a victim, or is spared. */
void preempt_resources_set(struct preempt_resources *resources,
                           const struct preempt_job *job, bool is_victim);
/* By pool (`reserve` NULL: there are none): what a slot, a host or a job takes there, 0
 * for pools of none of those hosts; no two items have a pool. */
int64_t *preempt_resources_demand(const struct rusage_supply *reserve,
                                  struct arena *arena,
                                  const struct rusage_request *rusage,
                                  const uint8_t *allowed, int n_hosts);
/* True if the job releases any of that. */
bool preempt_resources_has(const struct preempt_job *job, const int64_t *demand);
/* True if the victim releases a resource of which there may be too little. */
bool preempt_resources_helps(const struct preempt_resources *resources,
                             const int64_t *demand, int n_slots,
                             const struct preempt_job *job);
/* False if all those hosts lack a resource that no victim can release. */
bool preempt_resources_may_suffice(const struct preempt_resources *resources,
                                   const struct rusage_request *rusage,
                                   const uint8_t *allowed, int n_hosts);

/* Slots that a job with these pieces on `places` may have on that host as well. */
int preempt_resources_max_slots(struct preempt_resources *resources,
                                const struct rusage_request *rusage, int host,
                                const struct host_slots *hosts, const int *places,
                                int n_pieces);
/* Takes what a claim, or a part of it, reserves: from `left`, which is the pass's, as
 * much as there is, and the rest from what victims release. */
void preempt_resources_claim(struct preempt_resources *resources, struct arena *arena,
                             const struct place_part *part, int64_t *left);

#endif
