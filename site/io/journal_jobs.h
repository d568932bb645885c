/* SPDX-License-Identifier: Apache-2.0 */
/* journal_jobs.h: ROW_JOB and ROW_JOB_STATE: a job as submitted, and what has become of
 * it. A state that is gone takes the job with it.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_JOBS_H
#define SUBLET_SITE_IO_JOURNAL_JOBS_H

#include "site/io/journal.h"
#include "sys/db/db.h"

struct journal_jobs {
    sqlite3_stmt *put, *all, *put_state, *cut, *cut_states, *all_states;
};

int journal_jobs_put(struct journal_jobs *jobs, struct db *db,
                     const struct row_job *job, struct err *err) MUST_CHECK;
int journal_jobs_put_state(struct journal_jobs *jobs, struct db *db,
                           const struct row_job_state *state,
                           struct err *err) MUST_CHECK;
/* All jobs, then all states. */
int journal_jobs_load(struct journal_jobs *jobs, struct db *db, journal_row_fn fn,
                      void *arg, struct err *err) MUST_CHECK;

#endif
