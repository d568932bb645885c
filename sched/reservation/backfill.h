/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.h: when pending jobs that reserve can start, by the run limits of the
 * running jobs. A job that ends earlier may use the reserved slots.
 *
 * A reserving job takes what is free, then what running jobs free at their run limits,
 * until it has what it lacks: slots on any of its hosts, or, if it has chosen its
 * hosts, slots on each and an amount of each supply (rusage_supply.h). Earlier jobs
 * take first. A running job without a run limit is taken never to end; the start of a
 * job that needs its slots is unknown.
 *
 * Units: milliseconds, slots, thousandths. Ownership: all is borrowed, and has to last
 * as long as the supply; that lives in the arena. Order: runs by end, then key. Source:
 * docs/design/scheduling.md "Reservation and backfill". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESERVATION_BACKFILL_H
#define SUBLET_SCHED_RESERVATION_BACKFILL_H

#include <stdint.h>

#include "base/arena.h"
#include "sched/resource/rusage_supply.h"

#define BACKFILL_NEVER INT64_MAX

/* A job that has slots. */
struct backfill_run {
    uint64_t key, attempt;
    int64_t end_ms; /* by its run limit; BACKFILL_NEVER: none */
    const struct rusage_piece *pieces;
    int n_pieces;
    const struct rusage_amount *amounts; /* amounts that it uses */
    int n_amounts;
};

/* What a reserving job lacks. */
struct backfill_need {
    int n_missing;          /* slots on any allowed host */
    const uint8_t *allowed; /* by host; NULL: the job has chosen its hosts */
    const struct rusage_piece *pieces;
    int n_pieces;
    const struct rusage_amount *amounts;
    int n_amounts;
};

void backfill_sort(struct backfill_run *runs, int n_runs);

/* What is free now, by host and by supply (negative: overcommitted), and what the runs,
 * in order, will free. */
struct backfill_supply;
struct backfill_supply *backfill_supply_new(struct arena *arena,
                                            const struct backfill_run *runs, int n_runs,
                                            const int *n_free, int n_hosts,
                                            const int64_t *left, int n_pools);
/* Takes what the job lacks. Returns when it has all, not before `now_ms`. */
int64_t backfill_take(struct backfill_supply *supply, const struct backfill_need *need,
                      int64_t now_ms);
/* What is not taken yet of the first `n_runs` runs, even if these never end: slots of
 * the host, and what is added by supply. */
int backfill_supply_freed(struct backfill_supply *supply, int n_runs, int host);
void backfill_supply_add_left(struct backfill_supply *supply, int n_runs,
                              int64_t *left);

#endif
