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
    const char *text;
    if (call->n_operands > 0) {
        return call_misuse(call,
                           "'%s': nothing is expected; a daemon reads the files "
                           "that it was started with",
                           call->operands[0]);
    }
    int status = connect_request(call, &msg, &msg.reconfig.request, &text);
    if (status == CALL_OK) {
        call_say("%s", text);
    }
    return status;
}
