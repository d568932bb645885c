/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h: a site's SQLite file: its books of lent slots, its jobs, its runs.
 *
 * Rows as in model/row.h, tables as in schema/site. The shell writes the store effects
 * of a batch between db_begin and db_commit; after an error of either the
 * journal is dead, and the process with it.
 *
 * Ownership: rows are borrowed, both ways: what a load callback gets lives until it
 * returns.
 * Errors: ERR_IO with SQLite's words; from journal_open also ERR_VERSION for a file
 * that a newer program has written, ERR_EXISTS where another process has it open.
 * Order: loading goes by row_kind, inside a kind by key.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_H
#define SUBLET_SITE_IO_JOURNAL_H

#include "base/err.h"
#include "model/row.h"
#include "sys/db/db.h"

struct journal;

int journal_open(const char *path, bool accepts_loss, struct journal **journal,
                 struct err *err) MUST_CHECK;
void journal_close(struct journal *journal); /* NULL is fine */

typedef void (*journal_row_fn)(void *arg, const struct row *row);
int journal_load(struct journal *journal, journal_row_fn fn, void *arg,
                 struct err *err) MUST_CHECK;

struct db *journal_db(struct journal *journal);
int journal_write(struct journal *journal, const struct row *row,
                  struct err *err) MUST_CHECK;

/* ---- what happened to jobs (ROW_JOB_EVENT): appended, read by job, and forgotten, the
 * oldest first, by HISTORY_PERIOD and by number; each trim does a piece of the work, so
 * that no commit has much to do. What is read lives in the arena. */

/* Whose events, and which. */
struct journal_asked {
    const char *site; /* "": own jobs */
    uint64_t id;
    int first, last; /* elements, both among them; element 0 is always told */
    int limit;       /* events; of the elements */
};

/* The events that there are: elements, then as it happened. `is_cut`: there are more.
 */
int journal_read_history(struct journal *journal, const struct journal_asked *asked,
                         struct arena *arena, struct row_job_event **events,
                         int *n_events, bool *is_cut, struct err *err) MUST_CHECK;
/* Ids of own jobs above `after` that a user submitted ("": whoever), at most `limit`.
 */
int journal_read_history_ids(struct journal *journal, const char *user, uint64_t after,
                             int limit, struct arena *arena, uint64_t **ids, int *n_ids,
                             struct err *err) MUST_CHECK;

#endif
