/* SPDX-License-Identifier: Apache-2.0 */
/* place_trial.h: where a job would be placed if slots and resources were other than
 * the pass has them: after some jobs have ended, or were suspended. All rules of a
 * start hold except JOB_ACCEPT_INTERVAL.
 *
 * Ownership: the trial lives in an arena of the caller, and so do its results; the
 * state that it comes from is borrowed and not changed. Layer: sched. */
#ifndef SUBLET_SCHED_PLACE_PLACE_TRIAL_H
#define SUBLET_SCHED_PLACE_PLACE_TRIAL_H

#include "sched/place/place_alloc.h"

struct place_trial {
    struct place_snapshot snapshot;
    /* `used`, `is_used_exclusively` and `supply_left` are for the caller to set. */
    struct place_state state;
    struct place_alloc alloc;
};

/* The trial is as the pass began. `limits` NULL: none. */
void place_trial_init(struct place_trial *trial, struct arena *arena,
                      const struct place_state *of,
                      const struct limits_tentative *limits);
/* Places one job of the class, with the fewest slots that it asks for, on hosts of the
 * group, with one alternative, or with all parts of a compound requirement. The start
 * has what the state then lacks, and `alloc.indexes` are those of its hosts. False: it
 * does not fit. */
bool place_trial_fit(struct place_trial *trial, const struct place_class *class,
                     int alternative, int group, struct place_start *start);

#endif
