/* SPDX-License-Identifier: Apache-2.0 */
/* store_present.c: the fields of listings that are in no row, because only the running
 * broker knows them: status, the delay in force, a site's slots. They are written for
 * snapshots, from the pages of the listings, so that both agree. The path of a column
 * is that of its value in the JSON. */
#include "broker/io/store/store_sqlite.h"

#include <stdio.h>
#include <string.h>

static const char put_lease_sql[] =
    "INSERT INTO present_lease (lease, status, reclaim_delay_s, next_rebalance_at,"
    " reason, interactive, behind_epoch, price, hours, hours_used)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
static const char *const lease_paths[] = {"id",
                                          "status",
                                          "reclaim_delay_s",
                                          "next_rebalance_at",
                                          "reason",
                                          "interactive",
                                          "behind_epoch",
                                          "price",
                                          "hours",
                                          "hours_used",
                                          NULL};

static const char put_site_sql[] =
    "INSERT INTO present_site (site, roles, status, slots_own, slots_used, slots_lent,"
    " slots_borrowed, slots_idle, pending, jobs_PEND, jobs_PSUSP, jobs_RUN, jobs_USUSP,"
    " jobs_SSUSP, jobs_UNKWN, jobs_DONE, jobs_EXIT, schedule_passes, schedule_s, since,"
    " journal_lost_commits, journal_lost_attempts, journal_lost_jobs)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
    " ?17, ?18, ?19, ?20, ?21, ?22, ?23)";
static const char *const site_paths[] = {"site",
                                         "roles",
                                         "status",
                                         "slots.own",
                                         "slots.used",
                                         "slots.lent",
                                         "slots.borrowed",
                                         "slots.idle",
                                         "pending",
                                         "jobs.PEND",
                                         "jobs.PSUSP",
                                         "jobs.RUN",
                                         "jobs.USUSP",
                                         "jobs.SSUSP",
                                         "jobs.UNKWN",
                                         "jobs.DONE",
                                         "jobs.EXIT",
                                         "schedule_passes",
                                         "schedule_s",
                                         "since",
                                         "journal_lost.commits",
                                         "journal_lost.attempts",
                                         "journal_lost.jobs",
                                         NULL};

/* The words of an array, with a blank between them. */
static void bind_words(sqlite3_stmt *put, int at, const struct value *words)
{
    char text[256] = "";
    for (const struct value *word = words->first; word != NULL; word = word->next) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s", length > 0 ? " " : "",
                 word->text);
    }
    sqlite3_bind_text(put, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_value(sqlite3_stmt *put, int at, const struct value *value)
{
    switch (value != NULL ? value->kind : VALUE_NULL) {
    case VALUE_BOOL:
        sqlite3_bind_int(put, at, value->flag);
        break;
    case VALUE_INT:
        sqlite3_bind_int64(put, at, value->number);
        break;
    case VALUE_REAL:
        sqlite3_bind_double(put, at, value->real);
        break;
    case VALUE_TEXT:
        db_column_bind_text(put, at, value->text);
        break;
    case VALUE_ARRAY:
        bind_words(put, at, value);
        break;
    case VALUE_OBJECT:
    case VALUE_NULL:
    default:
        sqlite3_bind_null(put, at);
        break;
    }
}

int store_present_clear(struct store *store, struct err *err)
{
    struct store_present *present = &store_sqlite_of(store)->present;
    struct db *db = store_db(store);
    sqlite3_stmt *leases =
        db_statement(db, &present->cut_leases, "DELETE FROM present_lease");
    sqlite3_stmt *sites =
        db_statement(db, &present->cut_sites, "DELETE FROM present_site");
    int rc = db_run(db, leases, err);
    return rc == 0 ? db_run(db, sites, err) : rc;
}

int store_present_put(struct store *store, enum query_kind kind,
                      const struct value *page, struct err *err)
{
    bool is_sites = kind == QUERY_SITES;
    struct store_present *present = &store_sqlite_of(store)->present;
    struct db *db = store_db(store);
    sqlite3_stmt **slot = is_sites ? &present->put_site : &present->put_lease;
    const char *const *paths = is_sites ? site_paths : lease_paths;
    const struct value *row = value_find(page, is_sites ? "sites" : "leases")->first;
    int rc = 0;
    for (; row != NULL && rc == 0; row = row->next) {
        sqlite3_stmt *put =
            db_statement(db, slot, is_sites ? put_site_sql : put_lease_sql);
        for (int i = 0; paths[i] != NULL; i++) {
            bind_value(put, i + 1, value_find(row, paths[i]));
        }
        rc = db_run(db, put, err);
    }
    return rc;
}
