/* SPDX-License-Identifier: Apache-2.0 */
/* pool_place.h: which hosts' idle slots a leaf is granted.
 *
 * First those of the leaf's own site. Then by the pool's PLACEMENT:
 *
 *     stacked    a host is used up before the next, in the order of policies and hosts
 *     balanced   slot by slot, from the host that has most idle slots then
 *     exclusive  whole hosts, none of whose slots anybody has, no larger than what is
 *                still to be granted
 *
 * Units: slots. Ownership: the placer's memory is the arena's; the snapshot's hosts are
 * worked on. Order: ties by policy, then host, as the snapshot has them.
 * Source: hybrid.md 1.6, 3.9; ARCHITECTURE 5. Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_PLACE_H
#define SUBLET_BROKER_POOL_POOL_PLACE_H

#include "broker/pool/pool_snapshot.h"

/* Slots of one host for a leaf. */
struct pool_pick {
    int host; /* index into the snapshot's */
    int n_slots;
};

struct pool_place;
struct pool_place *pool_place_new(struct pool_snapshot *snapshot,
                                  enum plan_placement placement, struct arena *arena);

/* Picks up to so many slots for a leaf of that site, which are idle no more: each host
 * once, in the snapshot's order. Returns how many picks. */
int pool_place_pick(struct pool_place *place, const char *site, int64_t n_slots,
                    struct arena *arena, struct pool_pick **picks);

#endif
