/* SPDX-License-Identifier: Apache-2.0 */
/* slot_use.h: what the queues of a site's slot pools use and have used: slot time that
 * fades, and how far each is ahead of its share or behind it
 * (sched/fairshare/slot_pool.h).
 *
 * On record (ROW_SHARE) when slots of a pool's queue change, or whether it waits: all
 * queues of the pool, as of the same instant, as what each is due hangs on the others.
 * So a restart goes on from there, and nothing jumps.
 *
 * Ownership: the configuration is borrowed. Units: milliseconds, slots, hours of one
 * slot. Layer: site. */
#ifndef SUBLET_SITE_SLOT_USE_H
#define SUBLET_SITE_SLOT_USE_H

#include "model/effect.h"
#include "sched/place/place.h"

struct site_config;
struct slot_use;
struct slot_use *slot_use_new(const struct site_config *config);
void slot_use_free(struct slot_use *slots);
/* Another configuration: what was used goes with the names of pools and queues. Then
 * slot_use_settle. */
void slot_use_inherit(struct slot_use *slots, const struct slot_use *before,
                      int64_t now_ms);
/* Queues had the slots all the time that their jobs have now. */
void slot_use_settle(struct slot_use *slots);

/* A row of the journal: false where there is no such queue in such a pool. */
bool slot_use_load(struct slot_use *slots, const struct row_share *row);
/* Jobs of the queue (-1: none) have so many slots more. */
void slot_use_count(struct slot_use *slots, int queue, int n_slots);
/* By queue: whether jobs of it wait for slots (place_plan). */
void slot_use_wait(struct slot_use *slots, const bool *waits);
/* Stores what has changed. */
void slot_use_tick(struct slot_use *slots, int64_t now_ms, struct effects *effects);

/* What a pass needs; arrays are in the arena. */
void slot_use_show(const struct slot_use *slots, struct arena *arena, int64_t now_ms,
                   struct place_snapshot *snapshot);
/* The queue's; false: it is in no pool. */
bool slot_use_find(const struct slot_use *slots, int queue, int64_t now_ms,
                   struct slot_member *member);

#endif
