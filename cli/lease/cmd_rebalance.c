/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_rebalance.c: `sublet rebalance LEASE`: applies the rebalance rule to a lease at
 * once, and says what it called for. Exit: 0 applied, also if nothing moves; 1 refused.
 * Source: docs/design/interfaces.md "Command line". */
#include "cli/commands.h"
#include "cli/connect.h"
#include "model/msg.h"

int cmd_rebalance_run(struct call *call)
{
    struct msg msg = {.kind = MSG_REBALANCE};
    const char *text;
    if (call->n_operands != 1) {
        return call_misuse(call, "expected one lease's id, PROVIDER/POLICY/CONSUMER");
    }
    msg.rebalance.lease = call->operands[0];
    int status = connect_request(call, &msg, &msg.rebalance.request, &text);
    if (status == CALL_OK) {
        call_say("%s", text);
    }
    return status;
}
