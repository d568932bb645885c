/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_span.c: whom a job preempts whose slots may not lie anywhere
 * (place_span.h).
 *
 * Each victim more leaves as much room or more everywhere, so the fewest first ones of
 * the order that suffice are found by halving; which of those are in the way on the
 * hosts that the job gets is the caller's.
 *
 *     n1 4 slots: a 2, b 2; n2 4 slots: c 2, d 2; in the order a c b d
 *     -n 4 span[hosts=1]: with a nowhere, with a c nowhere, with a c b on n1: a and b;
 *     c is not in the way there, and is let go */
#include "sched/preempt/preempt_tentative.h"

/* The first so many stand still, of which `n_still` do already. */
static void set_still(struct preempt *preempt,
                      const struct preempt_selection *selection, int n_still,
                      int n_wanted)
{
    for (int i = n_still; i < n_wanted; i++) {
        preempt_tentative_set(preempt, selection->candidates, selection->order[i],
                              true);
    }
    for (int i = n_wanted; i < n_still; i++) {
        preempt_tentative_set(preempt, selection->candidates, selection->order[i],
                              false);
    }
}

bool preempt_span_select(struct preempt *preempt, struct preempt_selection *selection)
{
    int n_few = -1, n_enough = selection->n_order, n_still = n_enough;
    selection->n_victims = 0;
    set_still(preempt, selection, 0, n_still);
    if (!preempt_tentative_place(preempt, selection)) {
        set_still(preempt, selection, n_still, 0);
        return false;
    }
    while (n_enough - n_few > 1) {
        int n_half = n_few + (n_enough - n_few) / 2;
        set_still(preempt, selection, n_still, n_half);
        n_still = n_half;
        if (preempt_tentative_place(preempt, selection)) {
            n_enough = n_half;
        } else {
            n_few = n_half;
        }
    }
    set_still(preempt, selection, n_still, n_enough);
    for (int i = 0; i < n_enough; i++) {
        selection->victims[selection->n_victims++] = selection->order[i];
    }
    return preempt_tentative_place(preempt, selection);
}
