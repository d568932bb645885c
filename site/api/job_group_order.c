/* SPDX-License-Identifier: Apache-2.0 */
/* job_group_order.c: JOB_GROUP: a user adds, deletes or changes a job group. */
#include <string.h>

#include "base/err.h"
#include "site/api/permission.h"
#include "site/api/site_api.h"
#include "site/job/job_group.h"

/* The owner of the group or of one above it. */
static bool may_change(const struct site_api *api, const struct peer *from,
                       const struct job_group *group)
{
    bool is_owner = false;
    for (; group != NULL && !is_owner; group = group->parent) {
        is_owner = strcmp(group->owner, from->name) == 0;
    }
    return is_owner || permission_is_admin(api->config, from);
}

static int check(const struct site_api *api, const struct peer *from,
                 const struct msg_job_group *order, struct err *err)
{
    struct job_groups *groups = job_table_groups(api->jobs);
    const struct job_group *group = job_group_find(groups, order->path);
    if (order->action == JOB_GROUP_ADD) {
        return group != NULL ? err_set(err, ERR_STATE, "%s: Job group already exists",
                                       order->path)
               : job_group_check(groups, order->path, err) != 0
                   ? err->code
                   : job_group_check_limit(groups, order->path, order->limit, err);
    }
    if (group == NULL) {
        return err_set(err, ERR_NOT_FOUND, "%s: No such job group", order->path);
    }
    if (!may_change(api, from, group)) {
        return err_set(err, ERR_DENIED,
                       "%s: User permission denied: the job group is owned by %s",
                       order->path, group->owner);
    }
    if (order->action == JOB_GROUP_DELETE) {
        return job_group_check_delete(groups, order->path, err);
    }
    if (order->owner[0] != '\0' && !permission_is_admin(api->config, from)) {
        return err_set(err, ERR_DENIED,
                       "only an administrator of the site gives a job group another "
                       "owner");
    }
    return order->has_limit
               ? job_group_check_limit(groups, order->path, order->limit, err)
               : 0;
}

/* The answer. */
static const char *carry_out(struct site_api *api, const struct peer *from,
                             const struct msg_job_group *order, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct job_groups *groups = job_table_groups(api->jobs);
    if (order->action == JOB_GROUP_DELETE) {
        job_group_delete(groups, order->path, effects);
        return arena_printf(arena, "Job group <%s> was deleted.", order->path);
    }
    bool is_new = order->action == JOB_GROUP_ADD;
    struct job_group *group =
        is_new ? job_group_obtain(groups, order->path, from->name, effects)
               : job_group_find(groups, order->path);
    if (!is_new || order->limit >= 0) {
        job_group_set(group, order->has_limit ? order->limit : group->limit.jobs,
                      order->owner[0] != '\0' && !is_new ? order->owner : group->owner,
                      effects);
    }
    pass_request_set(api->pass_request);
    return arena_printf(arena, "Job group <%s> %s.", order->path,
                        is_new ? "was added" : "is modified");
}

void job_group_order_request(struct site_api *api, const struct peer *from,
                             const struct msg *msg, struct effects *effects)
{
    struct msg_job_group order = msg->job_group;
    struct err err;
    order.limit = order.has_limit ? order.limit : -1;
    int code = check(api, from, &order, &err);
    if (code != 0) {
        effects_reply_error(effects, from, order.request, code, "%s", err.text);
        return;
    }
    const char *text = carry_out(api, from, &order, effects);
    effects_log(effects, LOG_LEVEL_INFO, "%s: %s", from->name, text);
    effects_reply(effects, from, order.request, text, NULL, "");
}
