/* SPDX-License-Identifier: Apache-2.0 */
/* permission.c: see permission.h. */
#include "site/api/permission.h"

#include <string.h>

bool permission_is_admin(const struct site_config *config, const struct peer *from)
{
    if ((from->roles & ROLE_ADMIN) != 0 || from->uid == 0 ||
        from->uid == config->daemon_uid) {
        return true;
    }
    for (int i = 0; i < config->n_admins; i++) {
        const struct name_group *group =
            groups_find_users(&config->groups, config->admins[i]);
        if (strcmp(config->admins[i], from->name) == 0 ||
            (group != NULL && groups_has(&group->members, from->name))) {
            return true;
        }
    }
    return false;
}

bool permission_may_manage(const struct site_config *config, const struct peer *from,
                           const struct job *job)
{
    const struct groups *groups = &config->groups;
    return from->uid == job->spec->uid || permission_is_admin(config, from) ||
           permission_is_queue_admin(config, from, job->queue) ||
           groups_is_admin(groups->users, groups->n_users,
                           config->is_group_strict ? job->terms->user_group : NULL,
                           job->spec->user, from->name);
}

bool permission_is_queue_admin(const struct site_config *config,
                               const struct peer *from, int queue)
{
    return permission_is_admin(config, from) ||
           (queue >= 0 && groups_has(&config->queues[queue].rules.admins, from->name));
}

bool permission_is_host_admin(const struct site_config *config, const struct peer *from,
                              const char *host)
{
    return permission_is_admin(config, from) ||
           groups_is_admin(config->groups.hosts, config->groups.n_hosts, NULL, host,
                           from->name);
}
