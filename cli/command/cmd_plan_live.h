/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan_live.h: the broker's plans: `plan show [POOL]`, `plan explain [NODE...]`.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_COMMAND_CMD_PLAN_LIVE_H
#define SUBLET_CLI_COMMAND_CMD_PLAN_LIVE_H

#include <stdbool.h>

#include "cli/call.h"

/* The operands are a pool, or with `with_why` nodes. Returns the exit status. */
int cmd_plan_live_run(struct call *call, bool with_why);

#endif
