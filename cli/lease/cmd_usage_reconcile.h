/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_reconcile.h: `sublet usage --reconcile`: the books of both sites of a lease
 * beside the broker's. Exit: 1 if they do not balance. Source: docs/usage.md. Layer:
 * cli.
 */
#ifndef SUBLET_CLI_LEASE_CMD_USAGE_RECONCILE_H
#define SUBLET_CLI_LEASE_CMD_USAGE_RECONCILE_H

#include <stdint.h>

#include "cli/call.h"

/* Of the named leases, or of all open ones of this site. 0 as `to_ms`: until now; 0 as
 * `from_ms`: 30 days before. */
int cmd_usage_reconcile_run(struct call *call, int64_t from_ms, int64_t to_ms);

#endif
