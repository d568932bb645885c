/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_span.c: the victims of a job with span or same (place_span.h).
 *
 * Each further victim leaves as much room or more everywhere, so the fewest first jobs
 * of the order that suffice are found by bisection. The caller spares those that are
 * not on the hosts which the job gets.
 *
 *     n1 4 slots: a 2, b 2; n2 4 slots: c 2, d 2; in the order a c b d
 *     -n 4 span[hosts=1] fits after a, c and b are suspended, on n1: the victims are a
 *     and b; c is spared */
#include "sched/preempt/preempt_tentative.h"

/* Makes the first `n_wanted` jobs victims; the first `n_set` already are. */
static void set_victims(struct preempt *preempt,
                        const struct preempt_selection *selection, int n_set,
                        int n_wanted)
{
    for (int i = n_set; i < n_wanted; i++) {
        preempt_tentative_set(preempt, selection, selection->order[i], true);
    }
    for (int i = n_wanted; i < n_set; i++) {
        preempt_tentative_set(preempt, selection, selection->order[i], false);
    }
}

bool preempt_span_select(struct preempt *preempt, struct preempt_selection *selection)
{
    int n_few = -1, n_enough = selection->n_order, n_set = n_enough;
    selection->n_victims = 0;
    set_victims(preempt, selection, 0, n_set);
    if (!preempt_tentative_place(preempt, selection)) {
        set_victims(preempt, selection, n_set, 0);
        return false;
    }
    while (n_enough - n_few > 1) {
        int n_half = n_few + (n_enough - n_few) / 2;
        set_victims(preempt, selection, n_set, n_half);
        n_set = n_half;
        if (preempt_tentative_place(preempt, selection)) {
            n_enough = n_half;
        } else {
            n_few = n_half;
        }
    }
    set_victims(preempt, selection, n_set, n_enough);
    for (int i = 0; i < n_enough; i++) {
        selection->victims[selection->n_victims++] = selection->order[i];
    }
    return preempt_tentative_place(preempt, selection);
}
