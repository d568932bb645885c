/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_reconfig.c: `sublet reconfig`: a daemon reads its configuration again; if there
 * are errors, it retains the old one and reports the first error. Source:
 * docs/design/interfaces.md "Configuration", "Command line"; LSF's badmin reconfig. */
#include "cli/commands.h"
#include "cli/connect.h"
#include "model/msg.h"

int cmd_reconfig_run(struct call *call)
{
    struct msg msg = {.kind = MSG_RECONFIG};
    struct connect *connect;
    struct msg_reply reply;
    struct err err;
    int status = CALL_OK;
    if (call->n_operands > 0) {
        return call_misuse(call,
                           "'%s': nothing is expected; a daemon reads the files "
                           "that it was started with",
                           call->operands[0]);
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    if (connect_ask(connect, &msg, &msg.reconfig.request, CONNECT_PATIENCE_MS,
                    &call->arena, &reply, &err) != 0) {
        status = call_fail_err(&err);
    } else {
        call_say("%s", reply.text);
    }
    connect_free(connect);
    return status;
}
