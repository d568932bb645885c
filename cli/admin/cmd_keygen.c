/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_keygen.c: `sublet keygen`: a pair of CURVE keys in two files. */
#include <stdio.h>

#include "cli/commands.h"
#include "sys/wire/wire.h"

int cmd_keygen_run(struct call *call)
{
    struct err err;
    if (call->n_operands != 1 || call->operands[0][0] == '\0') {
        return call_misuse(call, "expected one name, as keys/north");
    }
    if (wire_key_make(call->operands[0], &err) != 0) {
        return call_fail_err(&err);
    }
    printf("%s.key\n%s.key_secret\n", call->operands[0], call->operands[0]);
    return call_finish_output();
}
