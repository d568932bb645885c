/* SPDX-License-Identifier: Apache-2.0 */
/* account.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The number of "sublet-2000000000"; 0: it is another name. */
static uid_t parse_number(const char *name)
{
    static const char prefix[] = "sublet-";
    char *end = NULL;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0) {
        return 0;
    }
    const char *digits = name + sizeof(prefix) - 1;
    errno = 0;
    unsigned long number = strtoul(digits, &end, 10);
    bool is_number = digits[0] >= '1' && digits[0] <= '9' && *end == '\0';
    return is_number && errno == 0 && number < INT32_MAX ? (uid_t)number : 0;
}

static char *dup_string(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size, 1), text, size);
}

static void describe(struct account *account, const char *name, const char *home,
                     const char *shell)
{
    account->name = dup_string(name);
    account->home = home != NULL && home[0] == '/' ? dup_string(home) : NULL;
    account->shell = dup_string(shell != NULL && shell[0] == '/' ? shell : "/bin/sh");
}

/* An account that exists by its number alone. */
static int find_number(const char *name, uid_t number, struct account *account,
                       struct err *err)
{
    const struct passwd *entry = getpwuid(number);
    if (entry != NULL) {
        return err_set(err, ERR_DENIED,
                       "\"%s\" is user \"%s\" on this host (LEASE_UIDS)", name,
                       entry->pw_name);
    }
    account->uid = number;
    account->gid = (gid_t)number;
    describe(account, name, NULL, NULL);
    return 0;
}

static int find_name(const char *name, bool is_leased, struct account *account,
                     struct err *err)
{
    const struct passwd *entry = name[0] != '\0' ? getpwnam(name)
                                 : is_leased     ? getpwuid(account->uid)
                                                 : NULL;
    if (entry == NULL && name[0] != '\0') {
        return err_set(err, ERR_NOT_FOUND, "no account \"%s\" on this host", name);
    }
    if (name[0] != '\0') {
        account->uid = entry->pw_uid;
        account->gid = entry->pw_gid;
    }
    if (is_leased && entry != NULL) {
        describe(account, entry->pw_name, entry->pw_dir, entry->pw_shell);
    } else if (is_leased) {
        char number[24];
        snprintf(number, sizeof(number), "%ld", (long)account->uid);
        describe(account, number, NULL, NULL);
    }
    return 0;
}

int account_find(const char *name, bool is_leased, struct account *account,
                 struct err *err)
{
    uid_t own = geteuid();
    *account = (struct account){.uid = own, .gid = getegid()};
    uid_t number = is_leased ? parse_number(name) : 0;
    int code = number != 0 ? find_number(name, number, account, err)
                           : find_name(name, is_leased, account, err);
    if (code != 0) {
        return code;
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
    if (number == 0) {
        find_groups(name, account);
    }
    return 0;
}

void account_release(struct account *account)
{
    free(account->groups);
    free(account->name);
    free(account->home);
    free(account->shell);
    *account = (struct account){0};
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
