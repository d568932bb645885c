/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_host_control.c: `sublet close` and `sublet open`: stops and permits new jobs on
 * own and borrowed hosts (HOST@SITE). Source: docs/design/interfaces.md "Command line";
 * LSF's badmin hclose, hopen.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "model/msg.h"

static int control_one(struct call *call, struct connect *connect, const char *host,
                       bool is_closed)
{
    struct msg msg = {.kind = MSG_HOST_CONTROL};
    struct msg_reply reply;
    struct err err;
    msg.host_control.host = host;
    msg.host_control.is_closed = is_closed;
    if (connect_ask(connect, &msg, &msg.host_control.request, CONNECT_PATIENCE_MS,
                    &call->arena, &reply, &err) != 0) {
        return call_fail_err(&err);
    }
    puts(reply.text);
    return CALL_OK;
}

static int control(struct call *call, bool is_closed)
{
    struct connect *connect;
    struct err err;
    int status = CALL_OK;
    if (call->n_operands == 0) {
        return call_misuse(call, "no host, expected HOST or HOST@SITE");
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    for (int i = 0; i < call->n_operands; i++) {
        int one = control_one(call, connect, call->operands[i], is_closed);
        status = status != CALL_OK ? status : one;
    }
    connect_free(connect);
    return status != CALL_OK ? status : call_finish_output();
}

int cmd_host_control_close(struct call *call)
{
    return control(call, true);
}

int cmd_host_control_open(struct call *call)
{
    return control(call, false);
}
