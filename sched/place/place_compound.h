/* SPDX-License-Identifier: Apache-2.0 */
/* place_compound.h: places a job with a compound requirement: each part with its slots
 * on its own candidates, all at once, on hosts of one group.
 *
 * Parts are placed in their order, each by its span, same and cu, on what the parts
 * before leave. A host may have slots of several parts. A resource that a part reserves
 * per job counts once for the part, on its first host. The first host of the job is
 * that of the first part. With -n min,max the last part, if it has no number, has the
 * rest of min to max.
 *
 *     1*{rusage[mem=1000]} + 2*{rusage[mem=100]}, of n1 with 1150 MB and n2 with 500 MB
 *     n1 1 slot, 1000 MB; n1 1 slot more, 100 MB, and n2 1 slot, 100 MB
 *
 * If that leaves a later part without room, earlier ones take slots that it cannot use,
 * so that the job starts whenever its parts fit in some way. Only
 * PLACE_COMPOUND_TRIES_MAX ways are tried, the one in order first.
 *
 * Order: the group with own hosts, then those of leases; hosts as place_span.h has
 * them. Ownership: as place_alloc.h. Source: docs/design/resreq.md "Compound
 * requirements". Layer: sched, within place. */
#ifndef SUBLET_SCHED_PLACE_PLACE_COMPOUND_H
#define SUBLET_SCHED_PLACE_PLACE_COMPOUND_H

#include "sched/place/place_alloc.h"

enum {
    PLACE_COMPOUND_TRIES_MAX = 200, /* the first ones fit almost always */
};

/* The least number of slots of that part, of so many of the job. */
int place_compound_slots(const struct place_class *class, int part, int n_slots);

/* True, and the start has its hosts; else `part` is the first part that has no room,
 * and `limit` names what left too little on a host, if it was one. */
bool place_compound_alloc(struct place_alloc *alloc, const struct place_class *class,
                          int group, const struct place_alloc_request *want,
                          struct place_start *start, int *part,
                          const struct limit **limit);

#endif
