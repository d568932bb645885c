/* SPDX-License-Identifier: Apache-2.0 */
/* history_view.h: the events of a job as `hist` shows them: what happened and when, and
 * how long the job was in each state.
 *
 * The time from one event to the next counts for the state that the first one led to;
 * after an end nothing counts. An array has a row for each element that something
 * happened to; where nothing has, one for all of it, or for the element asked for.
 *
 * Rows come under their keys (model/job_id.h), as many as fit the page.
 *
 * Units: milliseconds. Ownership: in the page's arena. Layer: site. */
#ifndef SUBLET_SITE_VIEW_HISTORY_VIEW_H
#define SUBLET_SITE_VIEW_HISTORY_VIEW_H

#include "model/row.h"
#include "site/view/site_page.h"

/* Of the events of a row, the last ones: of a job that is asked for, and of one in a
 * list. A row must fit a page. */
enum { HISTORY_VIEW_EVENTS = 200, HISTORY_VIEW_LISTED = 20 };

struct history_view {
    struct site_page *page;
    int64_t now_ms;
    int shown_max; /* events of a row */
    int index;     /* the element that is asked for; 0: all that there are */
};

/* Events of one id: elements in their order, each as it happened. */
void history_view_add(const struct history_view *view,
                      const struct row_job_event *events, int n_events);

#endif
