/* SPDX-License-Identifier: Apache-2.0 */
/* journal_runs.h: ROW_RUN in its two tables: how a run on this site's hosts is, and
 * what it runs, which is written once.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_RUNS_H
#define SUBLET_SITE_IO_JOURNAL_RUNS_H

#include "site/io/journal.h"
#include "sys/db/db.h"

struct journal_runs {
    sqlite3_stmt *put, *put_spec, *cut, *all;
};

int journal_runs_put(struct journal_runs *runs, struct db *db,
                     const struct row_run *run, struct err *err) MUST_CHECK;
int journal_runs_load(struct journal_runs *runs, struct db *db, journal_row_fn fn,
                      void *arg, struct err *err) MUST_CHECK;

#endif
