/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h: UserGroup, HostGroup and ComputeUnit sections, and lists of names that may
 * name groups.
 *
 *     GROUP_NAME  GROUP_MEMBER
 *     lab         (ana bo)
 *     some        (all ~lab ~cy)     everyone but those
 *     both        (lab some)         groups in groups
 *
 * GROUP_ADMIN names users and user groups. A level of rights behind a name ([full],
 * [usershares]) is accepted; it concerns changes of the configuration, which is files.
 *
 * `all` stands for every user, or every own host; `~x` excludes a name or a group. A
 * group may be named before its own row, but groups must not form a circle.
 *
 * A compute unit is a group of hosts with a type, and may be named wherever a group of
 * hosts may (compute_unit.h).
 *
 * Ownership: in conf's arena. Errors: diagnostics. Order: names sorted by strcmp.
 * Source: LSF's lsb.users and lsb.hosts. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_GROUPS_H
#define SUBLET_SCHED_QUEUE_GROUPS_H

#include <stdbool.h>

#include "base/conf/conf.h"

/* A set of names: these names, or all but these. */
struct name_set {
    bool is_all;
    const char *const *names; /* sorted, each once */
    int n_names;
};

struct name_group {
    const char *name;
    const char *type; /* of a compute unit; NULL: it is none */
    struct name_set members;
    struct name_set admins; /* GROUP_ADMIN: users that administrate it */
    bool is_condensed;      /* CONDENSE: LSF's listings show it in place of its hosts */
};

struct groups {
    const struct name_group *users, *hosts; /* file order; compute units last */
    const struct name_group *const *users_by_name, *const *hosts_by_name; /* sorted */
    int n_users, n_hosts;
    const char *const *own_hosts; /* all own hosts, sorted */
    int n_own_hosts;
};

void groups_read(struct conf *conf, const char *const *hosts, int n_hosts,
                 struct groups *groups);

const struct name_group *groups_find_users(const struct groups *groups,
                                           const char *name);
const struct name_group *groups_find_hosts(const struct groups *groups,
                                           const char *name);
/* True if the host is of the group; `all` stands for own hosts. */
bool groups_has_host(const struct groups *groups, const struct name_group *group,
                     const char *host);
/* The condensed group that listings show in place of the host: the first one in file
 * order, host groups before compute units. NULL: the host is shown itself. */
const struct name_group *groups_condensed(const struct groups *groups,
                                          const char *host);

/* Reads the list of that key, such as USERS or PER_HOST. An unknown host is an error;
 * users are not known here. Names of borrowed hosts ("n1@north") are not checked. */
struct name_set groups_read_users(struct conf *conf, const struct groups *groups,
                                  const struct conf_place *at, const char *key);
struct name_set groups_read_hosts(struct conf *conf, const struct groups *groups,
                                  const struct conf_place *at, const char *key);
/* The set of this name alone. */
struct name_set groups_only(struct arena *arena, const char *name);

bool groups_has(const struct name_set *set, const char *name);
/* True if the user administrates a group of these that has the member. `group`: that
 * group alone; NULL: any. */
bool groups_is_admin(const struct name_group *groups, int n_groups, const char *group,
                     const char *member, const char *user);

#endif
