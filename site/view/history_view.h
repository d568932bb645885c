/* SPDX-License-Identifier: Apache-2.0 */
/* history_view.h: `hist`: the events of jobs with their times, and how long each job
 * was in each state.
 *
 * The time between two events counts for the state after the first one; after the end
 * of a job no time counts. An array has a row for each element that has events; if none
 * has, there is one row for the whole array, or for the element that was asked for.
 *
 * The number of a row is the key of its job (model/job_id.h).
 *
 * Units: milliseconds. Ownership: in the page's arena. Layer: site. */
#ifndef SUBLET_SITE_VIEW_HISTORY_VIEW_H
#define SUBLET_SITE_VIEW_HISTORY_VIEW_H

#include "model/page.h"
#include "model/row.h"

/* A row shows at most so many events, the latest ones, so that it fits a page: of a job
 * that is asked for by id, and of each job in a list. */
enum { HISTORY_VIEW_EVENTS = 200, HISTORY_VIEW_LISTED = 20 };

struct history_view {
    struct page *page;
    int64_t now_ms;
    int shown_max; /* events in a row */
    int index;     /* the element that is asked for; 0: all elements */
};

/* Adds the events of one job or array: by element, then by time. */
void history_view_add(const struct history_view *view,
                      const struct row_job_event *events, int n_events);

#endif
