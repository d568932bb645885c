/* SPDX-License-Identifier: Apache-2.0 */
/* place_order.h: whose turn it is in a pass: the lines, in a heap by their next job.
 *
 * Order: queue priority (higher first), queue place in the file, then as the jobs stand
 * in line (line.h). Ownership: all of it lives in the arena; the snapshot is borrowed.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_PLACE_ORDER_H
#define SUBLET_SCHED_PLACE_ORDER_H

#include "sched/place.h"

struct place_order {
    const struct place_snapshot *snapshot;
    int *next_turn; /* by line */
    int *heap;      /* lines that are not through */
    int n_heap;
};

void place_order_init(struct place_order *order, struct arena *arena,
                      const struct place_snapshot *snapshot);
/* The line whose next job is looked at now; -1: all are through. */
int place_order_top(const struct place_order *order);
/* That job starts: true where it was its line's last. */
bool place_order_advance(struct place_order *order);
/* Nothing more of that line starts in this pass. */
void place_order_drop(struct place_order *order);

#endif
