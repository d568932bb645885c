/* SPDX-License-Identifier: Apache-2.0 */
/* running_slots.h: what the site's open jobs leave behind when they end, and when that
 * is, as far as run limits tell: what the start of a job that reserves is computed from
 * (sched/reservation/backfill.h).
 *
 * A job that stands still may stand so for long: it has no end that anybody knows, and
 * where it gave its slots away it leaves none. Memory, swap space and /tmp are what a
 * host tells: of what is in use there each job is taken to use as much as it reserves,
 * those first that end first; so much more is left when it ends. What nobody explains
 * is in use for ever.
 *
 * Ownership: the arena's. Source: docs/adr/0031. Layer: site. */
#ifndef SUBLET_SITE_PASS_RUNNING_SLOTS_H
#define SUBLET_SITE_PASS_RUNNING_SLOTS_H

#include "sched/place/place.h"
#include "sched/reservation/backfill.h"
#include "site/ledger/rusage_ledger.h"
#include "site/pass/reservation_table.h"

struct job;

/* In order. Slots are those of the place's hosts, resources those that its lines ask
 * for. */
struct backfill_run *running_slots_list(const struct reservation_table_parts *parts,
                                        struct rusage_pass *reserves,
                                        struct arena *arena,
                                        const struct place_snapshot *place,
                                        int *n_runs);

#endif
