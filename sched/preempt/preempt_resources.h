/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_resources.h: preemption for what jobs reserve: what victims give back of it,
 * what claims take of that, and what there is then for the next one.
 *
 * A running job gives the resources of PREEMPTABLE_RESOURCES that it reserves, where
 * they go with a suspension, or all of those where it is ended instead; the site says
 * which (preempt_job's parts). Of a line's alternatives each is looked at alone.
 *
 * Units, Ownership: as rusage_supply.h. Layer: sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PREEMPT_RESOURCES_H
#define SUBLET_SCHED_PREEMPT_PREEMPT_RESOURCES_H

#include "sched/preempt/preempt.h"

struct preempt_resources {
    const struct rusage_supply *reserve; /* without pools: nobody reserves anything */
    int64_t *released; /* by pool: of victims, less what claims will take of it */
    int64_t *left;     /* by pool: of the pass, and that; as the line began and since */
    struct rusage_piece *pieces; /* scratch */
};

void preempt_resources_init(struct preempt_resources *give, struct arena *arena,
                            const struct place_snapshot *place);
/* A line begins that reserves something; `left` is the pass's. */
void preempt_resources_begin(struct preempt_resources *give, const int64_t *left);

/* The job is to stand still, or to go on after all. */
void preempt_resources_set(struct preempt_resources *give,
                           const struct preempt_job *job, bool is_still);
/* By pool (`reserve` NULL: there are none): what a slot, a host or a job takes there, 0
 * for pools of none of those hosts; no two items have a pool. */
int64_t *preempt_resources_demand(const struct rusage_supply *reserve,
                                  struct arena *arena,
                                  const struct rusage_request *asks,
                                  const uint8_t *allowed, int n_hosts);
/* True where the job gives any of that. */
bool preempt_resources_has(const struct preempt_job *job, const int64_t *wants);
/* It stands still, and gave something of which there may have been too little. */
bool preempt_resources_helps(const struct preempt_resources *give, const int64_t *wants,
                             int n_slots, const struct preempt_job *job);
/* False where a resource is lacking on all those hosts that nobody gives. */
bool preempt_resources_may_suffice(const struct preempt_resources *give,
                                   const struct rusage_request *asks,
                                   const uint8_t *allowed, int n_hosts);

/* Slots that a job with these pieces on `places` may have on that host besides. */
int preempt_resources_room(struct preempt_resources *give,
                           const struct rusage_request *asks, int host,
                           const struct host_slots *hosts, const int *places,
                           int n_pieces);
/* The claim has these: what is there is taken from the pass's at once, the rest from
 * what victims give. */
void preempt_resources_claim(struct preempt_resources *give, struct arena *arena,
                             const struct rusage_request *asks,
                             const struct host_slots *hosts, const int *places,
                             int n_pieces, int64_t *left);

#endif
