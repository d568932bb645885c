/* SPDX-License-Identifier: Apache-2.0 */
/* pg_migrate.c: brings a database to the program's tables (pg.h). Its version is in a
 * table of its own, as a file's is in user_version.
 *
 * A migration expands the tables so that programs of earlier versions can go on beside
 * this one, as long as the brokers are upgraded one by one. One that takes something
 * away says in its last statement from which version on programs may use the tables:
 *
 *     UPDATE schema_version SET usable_from = 21; */
#include "sys/pg/pg.h"

#include <inttypes.h>
#include <stdio.h>

/* Two sessions that create a table at once would fail on each other's entries in the
 * catalogue. */
static const char begin_sql[] =
    "BEGIN; SELECT pg_advisory_xact_lock(1398491202);" /* "SbLB" */
    "CREATE TABLE IF NOT EXISTS schema_version (number INTEGER NOT NULL);"
    "ALTER TABLE schema_version"
    " ADD COLUMN IF NOT EXISTS usable_from INTEGER NOT NULL DEFAULT 0;"
    "INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT FROM schema_version)";
static const char version_sql[] = "SELECT number, usable_from FROM schema_version";

static int run_steps(struct pg *pg, const struct db_migration *migrations,
                     int64_t version, struct err *err)
{
    int rc = 0;
    for (const struct db_migration *step = migrations; step->number != 0 && rc == 0;
         step++) {
        char stamp[96];
        if (step->number <= version) {
            continue;
        }
        snprintf(stamp, sizeof(stamp), "UPDATE schema_version SET number = %d",
                 step->number);
        rc = pg_run(pg, step->sql, err);
        rc = rc == 0 ? pg_run(pg, stamp, err) : rc;
        if (rc < 0) {
            err_prefix(err, "migration %d (%s)", step->number, step->name);
        }
    }
    return rc;
}

static int read_version(struct pg *pg, const struct db_migration *migrations,
                        int64_t *version, struct err *err)
{
    PGresult *rows;
    int last = 0;
    if (pg_query(pg, version_sql, &rows, err) < 0) {
        return err->code;
    }
    *version = pg_number(rows, 0, 0);
    int64_t usable_from = pg_number(rows, 0, 1);
    PQclear(rows);
    for (const struct db_migration *step = migrations; step->number != 0; step++) {
        last = step->number;
    }
    return *version <= last || usable_from <= last
               ? 0
               : err_set(err, ERR_VERSION,
                         "the database has schema %" PRId64
                         ", which programs may use from %" PRId64
                         " on; this program knows %d",
                         *version, usable_from, last);
}

int pg_migrate(struct pg *pg, const struct db_migration *migrations, struct err *err)
{
    struct err ignored;
    int64_t version = 0;
    int rc = pg_run(pg, begin_sql, err);
    if (rc == 0) {
        rc = read_version(pg, migrations, &version, err);
    }
    if (rc == 0) {
        rc = run_steps(pg, migrations, version, err);
    }
    if (rc < 0) {
        (void)!pg_run(pg, "ROLLBACK", &ignored); /* the first error counts */
        return rc;
    }
    return pg_run(pg, "COMMIT", err);
}
