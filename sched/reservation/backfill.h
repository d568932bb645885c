/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.h: when waiting jobs that reserve will start, as far as the run limits of
 * the jobs in their way tell. A job that ends until then may use what they reserve.
 *
 * Each takes what is free, then what falls free as jobs come to their limits, until it
 * has what it lacks: slots of any of its hosts, or, where it has chosen its hosts, so
 * many of each and so much of each pool (rusage_supply.h). Those before it take first.
 * Of what the others do nothing is assumed but that they end: one without a run limit
 * never does, and a job that needs its slots has no start that anybody knows.
 *
 * Units: milliseconds, slots, thousandths. Ownership: all is borrowed, and has to last
 * as long as the supply; that lives in the arena. Order: runs by end, then key; who
 * takes first, comes first. Source: lsf.md 6.2. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESERVATION_BACKFILL_H
#define SUBLET_SCHED_RESERVATION_BACKFILL_H

#include <stdint.h>

#include "base/arena.h"
#include "sched/resource/rusage_supply.h"

#define BACKFILL_NEVER INT64_MAX

/* A job that has slots. */
struct backfill_run {
    uint64_t key;
    int64_t end_ms; /* by its run limit; BACKFILL_NEVER: it has none */
    const struct rusage_piece *pieces;
    int n_pieces;
    const struct rusage_amount *parts; /* what it reserves */
    int n_parts;
};

/* What a job that reserves has not in hand. */
struct backfill_want {
    int n_missing;          /* slots, ... */
    const uint8_t *allowed; /* ... by host: 1, it may have them there; 0; or NULL: */
    const struct rusage_piece *pieces; /* slots of these hosts ... */
    int n_pieces;
    const struct rusage_amount *parts; /* ... and so much of these pools */
    int n_parts;
};

/* Puts the runs in order. */
void backfill_sort(struct backfill_run *runs, int n_runs);

/* What is free now, by host and by supply (below 0: more is reserved than there is),
 * and what the runs, in order, will free. */
struct backfill_supply;
struct backfill_supply *backfill_supply_new(struct arena *arena,
                                            const struct backfill_run *runs, int n_runs,
                                            const int *n_free, int n_hosts,
                                            const int64_t *left, int n_pools);
/* It takes what it lacks; returns when it has all of it, not before `now_ms`. */
int64_t backfill_take(struct backfill_supply *supply, const struct backfill_want *want,
                      int64_t now_ms);
/* Adds what has not been taken of the first `n_runs` runs, also of runs without an end.
 */
void backfill_supply_add(const struct backfill_supply *supply, int n_runs, int *n_free,
                         int64_t *left);

#endif
