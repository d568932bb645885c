/* SPDX-License-Identifier: Apache-2.0 */
/* journal_rows.h: rows of a site's journal for tests: some with every field set, and
 * any row as a text, so that what was loaded is compared with what was written.
 *
 * A field that a row gains goes into both: it is set here and told in the text.
 * Ownership: texts of the rows are constants. */
#ifndef SUBLET_TESTS_IO_JOURNAL_ROWS_H
#define SUBLET_TESTS_IO_JOURNAL_ROWS_H

#include "model/row.h"

struct job_spec journal_rows_full(void);
struct job_spec journal_rows_empty(void);
struct run_exit journal_rows_exit(void);
struct row journal_rows_job(uint64_t id, struct job_spec spec);
struct row journal_rows_state(uint64_t id, enum job_state state);
struct row journal_rows_run(const char *site, uint64_t attempt, enum run_record record);

struct journal_rows_text {
    char text[65536];
    size_t length;
};
/* Adds the row, for journal_load; `arg` is the text. */
void journal_rows_add(void *arg, const struct row *row);

#endif
