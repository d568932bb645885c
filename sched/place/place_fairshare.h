/* SPDX-License-Identifier: Apache-2.0 */
/* place_fairshare.h: whose turn it is among the lines of a fairshare queue in a pass: a
 * heap of accounts at each level of the tree, by dynamic priority, which falls as slots
 * are given away.
 *
 * From the root down the first account at each level that has a line with a waiting
 * job; where users stand in one line, as they stand in it. One that is late
 * (fairshare_usage.h), or has one below it that is, comes before those that are not.
 * Only accounts that have lines are looked at, and after a start only those above it.
 *
 * Queues of one scope may each have such an order: what one gives away counts for all
 * (place_fairshare_scope_new).
 *
 * Ownership: the arena's; the tree and the lines are borrowed. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_FAIRSHARE_H
#define SUBLET_SCHED_PLACE_PLACE_FAIRSHARE_H

#include "sched/place/place.h"

/* Of one scope in a pass. */
struct place_fairshare_scope {
    const struct fairshare_tree *tree;
    int64_t now_ms;
    int64_t *slots;  /* by account */
    uint64_t number; /* of changes */
};

struct place_fairshare_scope *
place_fairshare_scope_new(struct arena *arena, const struct fairshare_tree *tree,
                          int64_t now_ms);

/* Below 0 where line a's next job comes before line b's. */
typedef int (*place_compare_fn)(const void *arg, int a, int b);

struct place_fairshare;
/* Lines by index, each with an account. */
struct place_fairshare *place_fairshare_new(struct arena *arena,
                                            struct place_fairshare_scope *given,
                                            const struct place_class *all,
                                            const int *lines, int n_lines,
                                            place_compare_fn compare, const void *arg);
/* The line whose job is next; -1: none is left. */
int place_fairshare_top(struct place_fairshare *share);
/* The next job of that line starts, or it leaves: `n_slots` 0, `is_through` true. */
void place_fairshare_advance(struct place_fairshare *share, int n_slots,
                             bool is_through);

#endif
