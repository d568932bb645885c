/* SPDX-License-Identifier: Apache-2.0 */
/* pool_place.h: which hosts' idle slots a leaf is granted.
 *
 * Hosts of the leaf's own site come first. Then the pool's PLACEMENT decides:
 *
 *     stacked    a host is used up before the next, in the order of policies and hosts
 *     balanced   slot by slot, each time from the host with most idle slots
 *     exclusive  whole hosts of which nobody has a slot, and which are not larger than
 * what is still to be granted
 *
 * Units: slots. Ownership: the memory is the arena's; the idle slots of the snapshot's
 * hosts are reduced. Order: ties by policy, then host, as in the snapshot.
 * Source: hybrid.md 1.6, 3.9; ARCHITECTURE 5. Layer: broker. */
#ifndef SUBLET_BROKER_POOL_POOL_PLACE_H
#define SUBLET_BROKER_POOL_POOL_PLACE_H

#include "broker/pool/pool_snapshot.h"

/* Slots of one host for a leaf. */
struct pool_pick {
    int host; /* index into the snapshot's hosts */
    int n_slots;
};

struct pool_place;
struct pool_place *pool_place_new(struct pool_snapshot *snapshot,
                                  enum plan_placement placement, struct arena *arena);

/* Picks up to so many slots for a leaf of that site, which are not idle any more: each
 * host once, in the snapshot's order. Returns how many picks. */
int pool_place_pick(struct pool_place *place, const char *site, int64_t n_slots,
                    struct arena *arena, struct pool_pick **picks);

#endif
