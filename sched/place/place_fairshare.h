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

/* What the queues of one scope grant in a pass. */
struct place_fairshare_scope {
    const struct fairshare_tree *tree;
    int64_t now_ms;
    int64_t *slots;  /* by account */
    uint64_t number; /* of the last change */
};

struct place_fairshare_scope *
place_fairshare_scope_new(struct arena *arena, const struct fairshare_tree *tree,
                          int64_t now_ms);

/* Below 0 if the next job of class a comes before that of class b. */
typedef int (*place_compare_fn)(const void *arg, int a, int b);

struct place_fairshare;
/* `classes` are indexes in `all`; each has an account. */
struct place_fairshare *place_fairshare_new(struct arena *arena,
                                            struct place_fairshare_scope *scope,
                                            const struct place_class *all,
                                            const int *classes, int n_classes,
                                            place_compare_fn compare, const void *arg);
/* The class whose job is next; -1: none is left. */
int place_fairshare_top(struct place_fairshare *share);
/* The next job of that class starts with so many slots, 0 if it does not start. The
 * class leaves the order if `is_through`. */
void place_fairshare_advance(struct place_fairshare *share, int n_slots,
                             bool is_through);

#endif
