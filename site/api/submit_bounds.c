/* SPDX-License-Identifier: Apache-2.0 */
/* submit_bounds.c: how many jobs may be pending, and how much they may take:
 * MAX_PEND_JOBS, MAX_PEND_SLOTS, USER_JOBS_SIZE and the bound of the site itself. */
#include "site/api/site_api.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/record.h"
#include "site/api/permission.h"
#include "site/config/site_config.h"

/* One of the bounds of pending jobs. */
struct pending_bound {
    const struct pend_config *config;
    const char *key, *what;
    bool is_slots;
    int64_t n_more;
    struct pending_full *full; /* what is full, if it is; or NULL */
};

/* ERR_FULL if pending jobs have to start first. ERR_BOUNDS if that would not help. */
static int check_bound_of(const struct pending_bound *bound, struct pending_full of,
                          int64_t n, int max, struct err *err)
{
    bool is_group = strcmp(of.key, "group") == 0;
    char whose[sizeof(err->text)];
    if (strcmp(of.key, "site") == 0) {
        snprintf(whose, sizeof(whose), "the site");
    } else {
        snprintf(whose, sizeof(whose), "%s %s",
                 is_group ? "the users of group" : "user", of.name);
    }
    if (bound->n_more > max) {
        return err_set(err, ERR_BOUNDS,
                       "%lld %s at once are more than the %d of %s that %s may have",
                       (long long)bound->n_more, bound->what, max, bound->key, whose);
    }
    if (bound->n_more > max - n) {
        if (bound->full != NULL) {
            *bound->full = of;
        }
        return err_set(err, ERR_FULL,
                       "%s %s %lld %s, and with %lld more there are more than the "
                       "%d of %s; try again when some have started",
                       whose, is_group ? "have" : "has", (long long)n, bound->what,
                       (long long)bound->n_more, max, bound->key);
    }
    return 0;
}

/* MAX_PEND_JOBS of the groups that the user is in. */
static int check_pending_of_groups(const struct site_api *api, const char *user,
                                   const struct pending_bound *bound, struct err *err)
{
    int code = 0;
    for (int i = 0; i < bound->config->n_groups && code == 0; i++) {
        const struct pend_bound *of = &bound->config->groups[i];
        const struct name_set *members =
            &groups_find_users(&api->config->groups, of->user)->members;
        if (!groups_has(members, user)) {
            continue;
        }
        const char *one;
        int64_t of_group = 0, n_slots;
        int count;
        for (int k = 0;
             (one = job_index_pending_user(api->jobs, k, &count, &n_slots)) != NULL;
             k++) {
            int64_t n = bound->is_slots ? n_slots : count;
            of_group += groups_has(members, one) ? n : 0;
        }
        code = check_bound_of(bound, (struct pending_full){"group", of->user}, of_group,
                              of->max, err);
    }
    return code;
}

static int check_bound(const struct site_api *api, const struct peer *from,
                       const struct pending_bound *bound, int64_t of_user,
                       int64_t of_site, struct err *err)
{
    const struct site_config *config = api->config;
    int max = pend_config_of_user(bound->config, &config->groups, from->name);
    int most = bound->config->of_site;
    int code = check_bound_of(bound, (struct pending_full){"user", from->name}, of_user,
                              max, err);
    if (code == 0) {
        code = check_pending_of_groups(api, from->name, bound, err);
    }
    if (code == 0 && most > 0 && !permission_is_admin(config, from)) {
        code = check_bound_of(bound, (struct pending_full){"site", config->name},
                              of_site, most, err);
    }
    return code;
}

int submit_bounds_size(const struct site_api *api, const struct peer *from,
                       const struct row_job *row, int n_more, struct err *err)
{
    enum { MIB = 1 << 20 };
    int64_t more = (int64_t)record_size(schema_row_kinds[ROW_JOB], row) +
                   (int64_t)n_more * SUBMISSION_JOB_BYTES;
    int64_t of_user = job_index_user_bytes(api->jobs, row->spec.uid);
    if (permission_is_admin(api->config, from) ||
        of_user + more <= (int64_t)api->config->user_jobs_mib * MIB) {
        return 0;
    }
    return err_set(
        err, ERR_FULL,
        "the jobs of user %s take %lld MB, with those that have ended within "
        "CLEAN_PERIOD, and with this one more than the %d of "
        "USER_JOBS_SIZE; try again when some have been cleaned",
        row->spec.user, (long long)(of_user / MIB), api->config->user_jobs_mib);
}

static int64_t site_slots(const struct job_table *jobs)
{
    int64_t of_site = 0, n_slots;
    int count;
    for (int i = 0; job_index_pending_user(jobs, i, &count, &n_slots) != NULL; i++) {
        of_site += n_slots;
    }
    return of_site;
}

static int check_slots(const struct site_api *api, const struct peer *from,
                       int64_t n_more, struct pending_full *full, struct err *err)
{
    const struct pending_bound slots = {&api->config->pend_slots,
                                        "MAX_PEND_SLOTS",
                                        "pending slots",
                                        true,
                                        n_more,
                                        full};
    return check_bound(api, from, &slots, job_index_pending_slots(api->jobs, from->uid),
                       site_slots(api->jobs), err);
}

int submit_bounds_slots(const struct site_api *api, const struct peer *from,
                        int64_t n_more, struct err *err)
{
    return check_slots(api, from, n_more, NULL, err);
}

int submit_bounds_pending(const struct site_api *api, const struct peer *from,
                          int n_more, int n_slots, struct pending_full *full,
                          struct err *err)
{
    enum { RESERVED = 1000 };
    const struct site_config *config = api->config;
    const struct pending_bound jobs = {&config->pend, "MAX_PEND_JOBS", "pending jobs",
                                       false,         n_more,          full};
    int of_site = job_table_count_state(api->jobs, JOB_PEND) +
                  job_table_count_state(api->jobs, JOB_PSUSP);
    int most = JOBS_MAX - (permission_is_admin(config, from) ? 0 : RESERVED);
    int code = check_bound(api, from, &jobs,
                           job_index_count_pending(api->jobs, from->uid), of_site, err);
    if (code == 0) {
        code = check_slots(api, from, (int64_t)n_more * n_slots, full, err);
    }
    if (code == 0 && n_more > most - job_table_count_unfinished(api->jobs)) {
        return err_set(
            err, ERR_FULL,
            "the site has %d unfinished jobs and accepts %d; try again later",
            job_table_count_unfinished(api->jobs), most);
    }
    return code;
}
