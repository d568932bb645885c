/* SPDX-License-Identifier: Apache-2.0 */
/* account.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

enum { GROUPS_MAX = 65536 }; /* NGROUPS_MAX of Linux */

/* The array grows until all groups fit; an account has at most GROUPS_MAX. */
static void find_groups(const char *name, struct account *account)
{
    int room = 64;
    for (;;) {
        account->groups =
            mem_grow(account->groups, (size_t)room, sizeof(*account->groups));
        account->n_groups = room;
        if (getgrouplist(name, account->gid, account->groups, &account->n_groups) >=
                0 ||
            room >= GROUPS_MAX) {
            break;
        }
        room *= 4;
    }
    if (account->n_groups > room) {
        account->n_groups = room;
    }
}

int account_find(const char *name, bool is_leased, struct account *account,
                 struct err *err)
{
    uid_t own = geteuid();
    *account = (struct account){.uid = own, .gid = getegid()};
    if (name[0] != '\0') {
        errno = 0;
        const struct passwd *entry = getpwnam(name);
        if (entry == NULL) {
            return err_set(err, ERR_NOT_FOUND, "no account \"%s\" on this host", name);
        }
        account->uid = entry->pw_uid;
        account->gid = entry->pw_gid;
    }
    if (is_leased && account->uid == 0) {
        return err_set(err, ERR_DENIED, "a leased run may not run as root");
    }
    if (account->uid == own) {
        return 0;
    }
    if (own != 0) {
        return err_set(err, ERR_DENIED,
                       "cannot run as \"%s\": sublet-host does not run as root", name);
    }
    account->is_other = true;
    find_groups(name, account);
    return 0;
}

void account_release(struct account *account)
{
    free(account->groups);
    account->groups = NULL;
}

int account_become(const struct account *account)
{
    if (!account->is_other) {
        return 0;
    }
    if (setgroups((size_t)account->n_groups, account->groups) != 0 ||
        setresgid(account->gid, account->gid, account->gid) != 0 ||
        setresuid(account->uid, account->uid, account->uid) != 0) {
        return errno;
    }
    return setuid(0) == 0 ? EPERM : 0; /* the account must have no way back to root */
}
