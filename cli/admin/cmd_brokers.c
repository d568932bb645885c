/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_brokers.c: `sublet brokers`: the brokers of the federation's store, and `brokers
 * step-down`: the leader becomes a standby, and another broker leads. Exit: 1 refused,
 * as there is no standby. Source: docs/design/interfaces.md "Command line". */
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

static int step_down(struct call *call)
{
    struct msg msg = {.kind = MSG_STEP_DOWN};
    const char *text;
    int status = connect_request(call, &msg, &msg.reconfig.request, &text);
    if (status == CALL_OK) {
        call_say("%s", text);
    }
    return status;
}

int cmd_brokers_run(struct call *call)
{
    struct msg_query query = listing_query(QUERY_BROKERS);
    if (call->n_operands == 1 && strcmp(call->operands[0], "step-down") == 0) {
        return step_down(call);
    }
    return call->n_operands == 0
               ? listing_run(call, &query, "broker", &columns_brokers)
               : call_misuse(call, "'%s', expected nothing or step-down",
                             call->operands[0]);
}
