/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_fixture.h: a PostgreSQL server of the test's own (tests/postgres-server).
 * A test that gets none skips, and says so. */
#ifndef SUBLET_TESTS_IO_POSTGRES_FIXTURE_H
#define SUBLET_TESTS_IO_POSTGRES_FIXTURE_H

#include <stdbool.h>

struct postgres_fixture {
    bool is_there;
    char directory[64];
    char url[128]; /* of an empty database of the role "sublet" */
};

/* False, with a sentence on standard error: there is no server to test with. */
bool postgres_fixture_start(struct postgres_fixture *fixture);
/* Runs SQL as the administrator, in the database "sublet"; fails the test. */
void postgres_fixture_run(const struct postgres_fixture *fixture, const char *sql);
void postgres_fixture_restart(const struct postgres_fixture *fixture);
/* Drops all tables. */
void postgres_fixture_clear(const struct postgres_fixture *fixture);
void postgres_fixture_stop(struct postgres_fixture *fixture);

#endif
