/* SPDX-License-Identifier: Apache-2.0 */
/* place_fairshare.h: the order of classes in a fairshare queue during a pass: at each
 * level of the share tree a heap of accounts by dynamic priority, which falls as slots
 * are granted.
 *
 * From the root down, the first account at each level that has pending jobs is chosen;
 * classes of one account are served in their own order. An account that has waited too
 * long, or has one below it that has, comes before the others. Only accounts with
 * pending jobs are looked at, and after a start only those above the one that was
 * served.
 *
 * Several queues of one scope may each have such an order; what one grants counts for
 * all (place_fairshare_scope).
 *
 * Ownership: the arena's; the tree and the classes are borrowed. Layer: sched. */
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

/* Below 0 if the next job of class a comes before that of class b. */
typedef int (*place_compare_fn)(const void *arg, int a, int b);

struct place_fairshare;
/* Lines by index, each with an account. */
struct place_fairshare *place_fairshare_new(struct arena *arena,
                                            struct place_fairshare_scope *given,
                                            const struct place_class *all,
                                            const int *lines, int n_lines,
                                            place_compare_fn compare, const void *arg);
/* The class whose job is next; -1: none is left. */
int place_fairshare_top(struct place_fairshare *share);
/* The next job of that class starts with so many slots. The class leaves: `n_slots` 0,
 * `is_through` true. */
void place_fairshare_advance(struct place_fairshare *share, int n_slots,
                             bool is_through);

#endif
