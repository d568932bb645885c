/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool_ledger.h: what the queues of a site's slot pools use and have used: slot
 * time that fades, and how far each is ahead of its share or behind it
 * (sched/fairshare/fairshare.h).
 *
 * On record (ROW_SHARE) when slots of a pool's queue change, or whether it waits: all
 * queues of the pool, as of the same instant, as what each is due hangs on the others.
 * So a restart goes on from there, and nothing jumps.
 *
 * Ownership: the configuration is borrowed. Units: milliseconds, ledger, hours of one
 * slot. Layer: site. */
#ifndef SUBLET_SITE_LEDGER_SLOT_POOL_LEDGER_H
#define SUBLET_SITE_LEDGER_SLOT_POOL_LEDGER_H

#include "model/effect.h"
#include "sched/place/place.h"

struct site_config;
struct slot_pool_ledger;
struct slot_pool_ledger *slot_pool_ledger_new(const struct site_config *config);
void slot_pool_ledger_free(struct slot_pool_ledger *ledger);
/* Another configuration: what was used goes with the names of pools and queues. Then
 * slot_pool_ledger_settle. */
void slot_pool_ledger_inherit(struct slot_pool_ledger *ledger,
                              const struct slot_pool_ledger *before, int64_t now_ms);
/* Queues had the slots all the time that their jobs have now. */
void slot_pool_ledger_settle(struct slot_pool_ledger *ledger);

/* A row of the journal: false where there is no such queue in such a pool. */
bool slot_pool_ledger_load(struct slot_pool_ledger *ledger,
                           const struct row_share *row);
/* Jobs of the queue (-1: none) have so many slots more. */
void slot_pool_ledger_add_slots(struct slot_pool_ledger *ledger, int queue,
                                int n_slots);
/* By queue: whether jobs of it wait for slots (place_plan). */
void slot_pool_ledger_set_waiting(struct slot_pool_ledger *ledger, const bool *waits);
/* Stores what has changed. */
void slot_pool_ledger_tick(struct slot_pool_ledger *ledger, int64_t now_ms,
                           struct effects *effects);

/* What a pass needs; arrays are in the arena. */
void slot_pool_ledger_snapshot(const struct slot_pool_ledger *ledger,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot);
/* The queue's; false: it is in no pool. */
bool slot_pool_ledger_find(const struct slot_pool_ledger *ledger, int queue,
                           int64_t now_ms, struct slot_member *member);

#endif
