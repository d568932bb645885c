/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_report.h: `sublet usage --report`: a month of the site's ledger as an HTML
 * page with charts, which needs nothing from elsewhere. Source: docs/usage.md
 * "A report". Layer: cli. */
#ifndef SUBLET_CLI_LEASE_CMD_USAGE_REPORT_H
#define SUBLET_CLI_LEASE_CMD_USAGE_REPORT_H

#include "cli/call.h"
#include "model/msg.h"

/* `month`: "2026-11"; NULL: the present one. Returns the exit status. */
int cmd_usage_report_run(struct call *call, struct msg_query *query, const char *month);

#endif
