/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c: see accounts.h. */
#include "sys/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int64_t accounts_own_uid(void)
{
    return (int64_t)geteuid();
}

const char *accounts_own_name(struct arena *arena)
{
    const struct passwd *account = getpwuid(geteuid());
    return account != NULL ? arena_str(arena, account->pw_name)
                           : arena_printf(arena, "%lld", (long long)geteuid());
}

int64_t accounts_find(const char *name)
{
    const struct passwd *account = name[0] != '\0' ? getpwnam(name) : NULL;
    return account != NULL ? (int64_t)account->pw_uid : -1;
}

static bool is_in(int64_t number, int64_t first, int64_t last)
{
    return number >= first && number <= last;
}

static const char *meet_users(int64_t first, int64_t last, struct arena *arena)
{
    const char *found = NULL;
    const struct passwd *user;
    setpwent();
    while (found == NULL && (user = getpwent()) != NULL) {
        if (is_in((int64_t)user->pw_uid, first, last) ||
            is_in((int64_t)user->pw_gid, first, last)) {
            found = arena_printf(arena, "user %s", user->pw_name);
        }
    }
    endpwent();
    return found;
}

static const char *meet_groups(int64_t first, int64_t last, struct arena *arena)
{
    const char *found = NULL;
    const struct group *group;
    setgrent();
    while (found == NULL && (group = getgrent()) != NULL) {
        if (is_in((int64_t)group->gr_gid, first, last)) {
            found = arena_printf(arena, "group %s", group->gr_name);
        }
    }
    endgrent();
    return found;
}

/* Lines "NAME:START:COUNT". */
const char *accounts_meet_subordinates(const char *path, int64_t first, int64_t last,
                                       struct arena *arena)
{
    const char *found = NULL;
    char line[512], name[256];
    long long start, count;
    FILE *file = fopen(path, "re");
    while (file != NULL && found == NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "%255[^:]:%lld:%lld", name, &start, &count) == 3 &&
            count > 0 && start <= last && first < start + count) {
            found = arena_printf(arena, "a range of %s in %s", name, path);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

const char *accounts_meet(int64_t first, int64_t last, struct arena *arena)
{
    const char *found = accounts_meet_subordinates("/etc/subuid", first, last, arena);
    if (found == NULL) {
        found = accounts_meet_subordinates("/etc/subgid", first, last, arena);
    }
    if (found == NULL) {
        found = meet_users(first, last, arena);
    }
    return found != NULL ? found : meet_groups(first, last, arena);
}
