/* SPDX-License-Identifier: Apache-2.0 */
/* pg_migrate.c: brings a database to the program's tables (pg.h). Its version is in a
 * table of its own, as a file's is in user_version. */
#include "sys/pg/pg.h"

#include <inttypes.h>
#include <stdio.h>

/* Two sessions that create a table at once would fail on each other's entries in the
 * catalogue. */
static const char begin_sql[] =
    "BEGIN; SELECT pg_advisory_xact_lock(1398491202);" /* "SbLB" */
    "CREATE TABLE IF NOT EXISTS schema_version (number INTEGER NOT NULL)";
static const char version_sql[] = "SELECT coalesce(max(number), 0) FROM schema_version";

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
        snprintf(stamp, sizeof(stamp),
                 "DELETE FROM schema_version; INSERT INTO schema_version VALUES (%d)",
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
    PQclear(rows);
    for (const struct db_migration *step = migrations; step->number != 0; step++) {
        last = step->number;
    }
    return *version <= last
               ? 0
               : err_set(err, ERR_VERSION,
                         "the database has schema %" PRId64 ", this program knows %d",
                         *version, last);
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
