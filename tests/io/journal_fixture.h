/* SPDX-License-Identifier: Apache-2.0 */
/* journal_fixture.h: a site's journal in a directory of its own, for tests: open, and
 * gone when the test is over. */
#ifndef SUBLET_TESTS_IO_JOURNAL_FIXTURE_H
#define SUBLET_TESTS_IO_JOURNAL_FIXTURE_H

#include "site/io/journal.h"
#include "tests/io/journal_rows.h"

struct journal_fixture {
    char directory[64], path[96];
    struct journal *journal;
    struct arena arena; /* of what is read */
};

/* For cmocka: the state is the fixture. */
int journal_fixture_setup(void **state);
int journal_fixture_teardown(void **state);

void journal_fixture_reopen(struct journal_fixture *fixture);
/* In one transaction. */
void journal_fixture_write(struct journal_fixture *fixture, const struct row *rows,
                           size_t n_rows);
/* Closes the journal, and changes its file. */
void journal_fixture_run_sql(struct journal_fixture *fixture, const char *sql);
/* After a restart of the journal it hands over just these rows, in this order. */
void journal_fixture_assert_loads(struct journal_fixture *fixture,
                                  const struct row *rows, size_t n_rows);

#endif
