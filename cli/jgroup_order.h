/* SPDX-License-Identifier: Apache-2.0 */
/* jgroup_order.h: orders about job groups, for `sublet jgroup` and LSF's commands.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_JGROUP_ORDER_H
#define SUBLET_CLI_JGROUP_ORDER_H

#include "base/err.h"
#include "cli/call.h"
#include "model/msg.h"

/* Sends the order and prints the answer. Returns the exit status. */
int jgroup_order_send(struct call *call, const struct msg_job_group *order);
/* A number, or "none"; NULL: the limit stays. ERR_PARSE, ERR_BOUNDS. */
int jgroup_order_read_limit(const char *text, struct msg_job_group *order,
                            struct err *err) MUST_CHECK;

#endif
