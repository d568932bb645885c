/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job_group.c: `sublet jgroups` and `sublet jgroup`: job groups and their limits.
 * Source: LSF's bjgroup, bgadd, bgmod and bgdel. */
#include <string.h>

#include "cli/commands.h"
#include "cli/jgroup_order.h"
#include "cli/listing/listing.h"
#include "site/job/job_group.h"

const struct call_option cmd_job_group_options[] = {
    {"-L", "NUMBER", "so many of its jobs may be started; none: any number", false},
    {"-u", "USER", "of mod: its owner from now on", false},
    {NULL, NULL, NULL, false},
};

static bool is_asked_for(const json_t *row, const void *arg)
{
    const struct call *call = arg;
    const char *path = json_string_value(json_object_get(row, "group"));
    bool is_asked = call->n_operands == 0;
    for (int i = 0; i < call->n_operands && path != NULL; i++) {
        is_asked = is_asked || job_group_contains(call->operands[i], path);
    }
    return is_asked;
}

int cmd_job_group_list(struct call *call)
{
    struct msg_query query = listing_query(QUERY_JOB_GROUPS);
    struct listing listing = {0};
    int status = listing_get(call, &query, &listing);
    if (status == CALL_OK) {
        listing_filter(&listing, is_asked_for, call);
        status = listing_show(call, &listing, &columns_job_groups);
    }
    listing_free(&listing);
    return status;
}

int cmd_job_group_order(struct call *call)
{
    static const char *const actions[] = {[JOB_GROUP_ADD] = "add",
                                          [JOB_GROUP_DELETE] = "del",
                                          [JOB_GROUP_MODIFY] = "mod"};
    enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };
    struct msg_job_group order = {.owner = call_text(call, "-u")};
    struct err err;
    int action = 0;
    while (call->n_operands == 2 && action < ACTIONS &&
           strcmp(call->operands[0], actions[action]) != 0) {
        action++;
    }
    if (call->n_operands != 2 || action == ACTIONS) {
        return call_misuse(call, "expected add, del or mod, and a job group");
    }
    order.action = (enum job_group_action)action;
    order.path = call->operands[1];
    if (jgroup_order_read_limit(call_value(call, "-L"), &order, &err) != 0) {
        return call_misuse(call, "-L: %s", err.text);
    }
    if (strlen(order.path) >= JOB_GROUP_SIZE || strlen(order.owner) >= NAME_SIZE) {
        return call_misuse(call, "the group or its owner is too long");
    }
    if (action == JOB_GROUP_MODIFY && !order.has_limit && order.owner[0] == '\0') {
        return call_misuse(call, "nothing to change, expected -L or -u");
    }
    return jgroup_order_send(call, &order);
}
