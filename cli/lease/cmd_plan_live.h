/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan_live.h: the broker's plans: `plan show [POOL]`, `plan explain [NODE...]`.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_LEASE_CMD_PLAN_LIVE_H
#define SUBLET_CLI_LEASE_CMD_PLAN_LIVE_H

#include <stdbool.h>

#include "cli/call.h"
#include "cli/listing/listing.h"

/* The operands are a pool, or with `with_why` nodes. Returns the exit status. */
int cmd_plan_live_run(struct call *call, bool with_why);

/* Keeps the rows of the nodes that the operands from `first` on name; without any, all
 * rows. */
void cmd_plan_live_filter(struct call *call, struct listing *listing, int first);

#endif
