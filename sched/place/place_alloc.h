/* SPDX-License-Identifier: Apache-2.0 */
/* place_alloc.h: gives one job its slots on the hosts of one group.
 *
 * The job gets as many slots as it may use, up to the most it asks for, if that is at
 * least the fewest it asks for; otherwise it gets none. Stacked: along the order of
 * hosts, as many on each as are free. Balanced: one slot on each host along that order,
 * then a second one on each, and so on. With span or same: as place_span.h says. The
 * hosts of an exclusive job are closed to other jobs. Resources of the job's rusage are
 * taken with the slots.
 *
 *     free: n1 3, n2 2, n3 2 (in that order)      stacked        balanced
 *     -n 4                                        n1 3, n2 1     n1 2, n2 1, n3 1
 *     -n 2,9                                      n1 3 n2 2 n3 2, either way
 *
 * Ownership: the state is the pass's; what a start points to lives in the arena.
 * Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_ALLOC_H
#define SUBLET_SCHED_PLACE_PLACE_ALLOC_H

#include "sched/place/candidates.h"

struct place_alloc_host {
    struct candidate candidate;
    int n_slots;
    bool is_popped; /* of the heap */
};

struct place_alloc {
    struct place_state *state;
    const struct limits_tentative *limits;       /* NULL: no limits */
    const struct reservation_pass *reservations; /* NULL: no queue reserves slots */
    struct place_alloc_host *tried; /* scratch: hosts that were looked at */
    int n_tried;
    struct rusage_piece *pieces; /* scratch: what the job has so far */
    int *indexes;                /* of the last start's hosts: their indexes */
    int *
        preferences; /* scratch: by host, of a job with compute units; NULL: none yet */
    int *slots_on;   /* scratch: by host, of a job with span or same; else 0 */
    bool is_reservation; /* the slots are reserved: the job is not dispatched yet */
    bool is_backfill;    /* limits on hosts do not apply on hosts with reserved slots */
    int lacking;      /* of the last job: the item that left too little of a host; -1 */
    int n_span_slots; /* of the last job with span or same: slots that could be placed
                         as it asks */
};

/* What is wanted of the hosts. */
struct place_alloc_request {
    int min, max; /* slots */
    bool is_balanced, is_exclusive;
};

void place_alloc_init(struct place_alloc *alloc, struct place_state *state,
                      const struct limits_tentative *draft,
                      const struct reservation_pass *reservations);
/* True, and the start has its hosts; else `limit` names what left too little on a host,
 * if it was one. */
bool place_alloc(struct place_alloc *alloc, struct candidates *view,
                 struct candidate_group *group, const struct place_alloc_request *want,
                 struct place_start *start, const struct limit **limit);
/* Slots that limits leave on the host, in addition to those pieces on others; INT_MAX:
 * no bound. */
int place_alloc_limited(const struct place_alloc *alloc, const struct candidates *view,
                        int host, const struct host_slots *pieces, int n_pieces,
                        const struct limit **limit);

#endif
