/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_fixture.c: see postgres_fixture.h. */
#include "tests/io/postgres_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int control(const struct postgres_fixture *fixture, const char *command)
{
    char line[192];
    snprintf(line, sizeof(line), "tests/postgres-server %s %s >/dev/null", command,
             fixture->directory);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool postgres_fixture_start(struct postgres_fixture *fixture)
{
    *fixture = (struct postgres_fixture){0};
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-postgres-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    int status = control(fixture, "start");
    if (status == 77) {
        fprintf(stderr, "skipped: there is no PostgreSQL server to test with\n");
        return false;
    }
    assert_int_equal(status, 0);
    snprintf(fixture->url, sizeof(fixture->url), "postgresql://sublet@/sublet?host=%s",
             fixture->directory);
    fixture->is_there = true;
    return true;
}

void postgres_fixture_run(const struct postgres_fixture *fixture, const char *sql)
{
    char url[160];
    snprintf(url, sizeof(url), "postgresql://admin@/sublet?host=%s",
             fixture->directory);
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        PQresultStatus(result) != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    }
    PQclear(result);
    PQfinish(connection);
}

void postgres_fixture_restart(const struct postgres_fixture *fixture)
{
    assert_int_equal(control(fixture, "restart"), 0);
}

void postgres_fixture_clear(const struct postgres_fixture *fixture)
{
    postgres_fixture_run(fixture, "SET client_min_messages = warning;"
                                  "DROP SCHEMA public CASCADE;"
                                  "CREATE SCHEMA public AUTHORIZATION sublet");
}

void postgres_fixture_stop(struct postgres_fixture *fixture)
{
    char line[128];
    if (fixture->is_there) {
        assert_int_equal(control(fixture, "stop"), 0);
    }
    if (fixture->directory[0] != '\0') {
        snprintf(line, sizeof(line), "rm -rf %s", fixture->directory);
        assert_int_equal(system(line), 0);
    }
}
