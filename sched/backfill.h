/* SPDX-License-Identifier: Apache-2.0 */
/* backfill.h: when waiting jobs that reserve slots will start, as far as the run limits
 * of the jobs in their way tell. A job that ends until then may use what they reserve.
 *
 * Each takes what is free on its hosts, then what falls free there as jobs come to
 * their limits, until it has what it lacks; those before it in the list take first. Of
 * what the others do nothing is assumed but that they end: one without a run limit
 * never does, and a job that needs its slots has no start that anybody knows.
 *
 * Units: milliseconds, slots. Ownership: all is borrowed; the arena is for scratch.
 * Order: runs by end, then key; wants as they stand. Source: lsf.md 6.2.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_BACKFILL_H
#define SUBLET_SCHED_BACKFILL_H

#include <stdint.h>

#include "base/arena.h"

#define BACKFILL_NEVER INT64_MAX

struct backfill_piece {
    int host; /* index */
    int n_slots;
};

/* A job that has slots. */
struct backfill_run {
    uint64_t key;
    int64_t end_ms; /* by its run limit; BACKFILL_NEVER: it has none */
    const struct backfill_piece *pieces;
    int n_pieces;
};

/* A job that reserves. */
struct backfill_want {
    int n_missing;          /* slots that it has not in hand */
    const uint8_t *allowed; /* by host: 1, it may have slots there; 0 */
};

/* Puts the runs in order. */
void backfill_sort(struct backfill_run *runs, int n_runs);
/* By want: its start, not before `now_ms`. `n_free`, by host, is what nobody has or
 * reserves. */
void backfill_starts(struct arena *arena, const struct backfill_run *runs, int n_runs,
                     const int *n_free, int n_hosts, const struct backfill_want *wants,
                     int n_wants, int64_t now_ms, int64_t *starts_ms);

#endif
