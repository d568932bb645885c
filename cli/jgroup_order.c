/* SPDX-License-Identifier: Apache-2.0 */
/* jgroup_order.c: see jgroup_order.h. */
#include "cli/jgroup_order.h"

#include <stdio.h>
#include <string.h>

#include "base/conf/conf.h"
#include "cli/connect.h"

int jgroup_order_send(struct call *call, const struct msg_job_group *order)
{
    struct msg msg = {.kind = MSG_JOB_GROUP, .job_group = *order};
    struct connect *connect;
    struct msg_reply reply;
    struct err err;
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    int code = connect_ask(connect, &msg, &msg.job_group.request, CONNECT_PATIENCE_MS,
                           &call->arena, &reply, &err);
    connect_free(connect);
    if (code != 0) {
        return call_fail_err(&err);
    }
    puts(reply.text);
    return call_finish_output();
}

int jgroup_order_read_limit(const char *text, struct msg_job_group *order,
                            struct err *err)
{
    int64_t limit = -1;
    order->has_limit = text != NULL;
    int code = text == NULL || strcmp(text, "none") == 0
                   ? 0
                   : conf_parse_int(text, 0, INT32_MAX, &limit, err);
    order->limit = (int)limit;
    return code;
}
