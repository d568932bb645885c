/* SPDX-License-Identifier: Apache-2.0 */
/* journal_history.h: ROW_JOB_EVENT: what happened to jobs, appended, read by job, and
 * forgotten, the oldest first.
 *
 * It is bounded by HISTORY_PERIOD and by JOURNAL_EVENTS_MAX; each trim does a piece of
 * the work, so that no commit has much to do.
 * Ownership: what is read lives in the arena. Order: elements, then as it happened.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_HISTORY_H
#define SUBLET_SITE_IO_JOURNAL_HISTORY_H

#include "base/err.h"
#include "model/row.h"
#include "sys/db/db.h"

enum { JOURNAL_EVENTS_MAX = 2000000 };

struct journal_history {
    sqlite3_stmt *append, *append_all, *trim, *of_job, *ids;
};

int journal_history_append(struct journal_history *history, struct db *db,
                           const struct row_job_event *event,
                           struct err *err) MUST_CHECK;

/* Whose events, and which. */
struct journal_asked {
    const char *site; /* "": own jobs */
    uint64_t id;
    int first, last; /* elements, both among them; element 0 is always told */
    int limit;       /* events; of the elements */
};

/* The events that there are; `is_cut`: there are more. */
int journal_history_read_events(struct journal_history *history, struct db *db,
                                const struct journal_asked *asked, struct arena *arena,
                                struct row_job_event **events, int *n_events,
                                bool *is_cut, struct err *err) MUST_CHECK;

/* Ids of own jobs above `after` that a user submitted ("": whoever), at most `limit`.
 */
int journal_history_read_ids(struct journal_history *history, struct db *db,
                             const char *user, uint64_t after, int limit,
                             struct arena *arena, uint64_t **ids, int *n_ids,
                             struct err *err) MUST_CHECK;

#endif
