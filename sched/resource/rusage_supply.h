/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_supply.h: what of consumable resources jobs may still reserve, host by host.
 *
 * A pool is an amount that some hosts share: a host's own memory, the licences of all
 * hosts of a place. What is left of it is what the site knows of it (told by hosts,
 * configured, or granted by a lease) less what running jobs have reserved there. LSF's
 * rule, also where a value is measured: memory that a job uses is gone from what its
 * host tells, and what it reserves is taken off that, so that jobs that grow into their
 * memory say for how long (duration, decay).
 *
 * What a job reserves comes from the pool of each of its hosts: /host and /slot there,
 * /job from that of its first one. A host counts for a job only where its pools have
 * what the job would take there alone, one slot of it at least.
 *
 * A load index (r1m) has no pool: reserving it only adds to the load.
 *
 * Units: thousandths (resreq_rusage.h). Ownership: all is the arena's of the pass, and
 * borrowed. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESOURCE_RUSAGE_SUPPLY_H
#define SUBLET_SCHED_RESOURCE_RUSAGE_SUPPLY_H

#include "sched/resreq/resreq_rusage.h"

/* A resource that jobs of the pass reserve. */
struct rusage_resource {
    const char *name;
    int id;
    const int *pool_of;  /* by host; -1: it has none of it */
    bool is_preemptable; /* PREEMPTABLE_RESOURCES: who holds it may be preempted */
};

struct rusage_supply {
    const struct rusage_resource *kinds;
    int n_kinds;
    const int64_t *left; /* by pool; below 0 where less is there than is reserved */
    int n_pools;
};

/* One resource of what a job reserves. */
struct rusage_item {
    int kind;                /* index */
    enum resreq_scope scope; /* never DEFAULT */
    int64_t milli;
};

struct place_filter;

/* An alternative of a line, as a pass sees it. */
struct rusage_request {
    const struct rusage_item *items;
    int n_items;
    const struct place_filter *filter; /* what it makes of hosts; NULL: as the line */
    const struct resreq_rusage *usage; /* what it is made of, scopes included */
    const uint8_t *has; /* by host: 1, it reserves there once a host already; NULL: it
                           does nowhere */
};

struct rusage_piece {
    int host; /* index */
    int n_slots;
};

/* An amount of one pool. */
struct rusage_amount {
    int pool;
    int64_t milli;
};

/* How often a job takes an amount for that many slots on a host, its first or not. */
int64_t rusage_supply_times(enum resreq_scope scope, int n_slots, bool is_first);

/* Slots that a job may have on that host, beside its pieces on others; INT_MAX: any
 * number. `left` is by pool; `lacking`, where it is 0, becomes the item that is to
 * blame. */
int rusage_supply_max_slots(const struct rusage_supply *reserve, const int64_t *left,
                            const struct rusage_request *asks, int host,
                            const struct rusage_piece *pieces, int n_pieces,
                            int *lacking);
/* The same for a job that has no piece elsewhere. */
int rusage_supply_max_slots_alone(const struct rusage_supply *reserve,
                                  const int64_t *left,
                                  const struct rusage_request *asks, int host,
                                  int *lacking);

/* What a job with these pieces takes, the first one first, as parts: `parts` has room
 * for n_items times n_pieces. Returns how many. */
int rusage_supply_amounts(const struct rusage_supply *reserve,
                          const struct rusage_request *asks,
                          const struct rusage_piece *pieces, int n_pieces,
                          struct rusage_amount *parts);
/* Takes the parts from `left` (sign 1), or gives them back (-1). */
void rusage_supply_take(int64_t *left, const struct rusage_amount *parts, int n_parts,
                        int sign);
/* All of it is there. */
bool rusage_supply_has(const int64_t *left, const struct rusage_amount *parts,
                       int n_parts);

#endif
