/* SPDX-License-Identifier: Apache-2.0 */
/* runs_account.c: the account that a run has on its host; see runs.h. */
#include "site/run/runs_parts.h"

#include <string.h>

/* The pair has a run on record; user NULL: a host has not reported its runs. */
static bool is_account_used(void *arg, const char *site, const char *user)
{
    const struct runs *runs = arg;
    for (int i = 0; user == NULL && i < host_table_count(runs->hosts); i++) {
        if (!host_table_is_ready(runs->hosts, i)) {
            return true;
        }
    }
    for (int i = 0; user != NULL && i < run_table_count(runs->table); i++) {
        const struct run *run = run_table_at(runs->table, i);
        if (run != NULL && run->lease[0] != '\0' && strcmp(run->id.site, site) == 0 &&
            strcmp(run->spec->user, user) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL: none; "": the daemon's own, or one of lease_uids. */
static const char *configured_account(const struct runs *runs, const char *site,
                                      const char *user)
{
    return user_map_account(runs->setting.users, user, site,
                            runs->setting.lease_account);
}

bool runs_account_has(const struct runs *runs, const char *site, const char *user,
                      int64_t now_ms)
{
    const char *account = configured_account(runs, site, user);
    return account != NULL &&
           (account[0] != '\0' || !runs->setting.is_root ||
            lease_accounts_has(runs->accounts, site, user, is_account_used,
                               (void *)(uintptr_t)runs, now_ms));
}

/* A leased run whose user has no account any more is root's: the host refuses it. */
const char *runs_account_of(const struct runs *runs, const struct run *run,
                            int64_t now_ms, struct effects *effects)
{
    const char *user = run->spec->user;
    if (run->lease[0] == '\0') {
        return runs->setting.is_root ? user : "";
    }
    const char *account = configured_account(runs, run->id.site, user);
    if (account == NULL || account[0] != '\0' || !runs->setting.is_root) {
        return account != NULL ? account : "root";
    }
    int64_t uid =
        lease_accounts_take(runs->accounts, run->id.site, user, is_account_used,
                            (void *)(uintptr_t)runs, now_ms, effects);
    return uid != 0 ? lease_accounts_name(&effects->arena, uid) : "root";
}
