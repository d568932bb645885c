/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_quota.h: what the broker says of prices and quotas (PRICE, HOURS) in this
 * month, beside what the ledger says of slot time. Source: docs/usage.md "Quotas".
 * Layer: cli. */
#ifndef SUBLET_CLI_LEASE_CMD_USAGE_QUOTA_H
#define SUBLET_CLI_LEASE_CMD_USAGE_QUOTA_H

#include <jansson.h>

#include "cli/call.h"

/* The nodes of all plans, as rows with pool, node, price, hours and hours_used. NULL,
 * and a message: the broker does not answer. */
json_t *cmd_usage_quota_nodes(struct call *call);
/* The same of leases between two sites that have a price or a quota: lease, price,
 * hours, hours_used. */
json_t *cmd_usage_quota_leases(struct call *call);

/* Adds price, hours and hours_used to rows that have a node; null: not known. A node of
 * several pools is that of the first one. */
void cmd_usage_quota_join(const json_t *nodes, json_t *rows);

#endif
