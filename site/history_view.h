/* SPDX-License-Identifier: Apache-2.0 */
/* history_view.h: the events of a job as `hist` shows them: what happened and when, and
 * how long the job was in each state.
 *
 * The time from one event to the next counts for the state that the first one led to;
 * after an end nothing counts. An array has a row for each element that something
 * happened to; where nothing has, one for all of it.
 *
 * Units: milliseconds. Ownership: in the arena. Layer: site. */
#ifndef SUBLET_SITE_HISTORY_VIEW_H
#define SUBLET_SITE_HISTORY_VIEW_H

#include "base/row.h"
#include "base/value.h"

struct history_view {
    struct arena *arena;
    struct value *rows; /* they are added there */
    int64_t now_ms;
    int shown_max; /* of the events of a row, the last ones */
};

/* Events of one id: elements in their order, each as it happened. Returns the index of
 * the last element that was shown; 0: none. */
int history_view_add(const struct history_view *view,
                     const struct row_job_event *events, int n_events);

#endif
