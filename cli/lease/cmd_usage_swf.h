/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_swf.h: `sublet usage --swf`: the ended jobs of a site as a trace in the
 * Standard Workload Format, which `workload` of a scenario reads (sim/scenario/swf.h).
 *
 * Units: whole seconds from the first submission; what is not known is -1. Order: by
 * submission, then as jobs are listed. Source: docs/usage.md; the Parallel Workloads
 * Archive's description of the format, version 2.2. Layer: cli. */
#ifndef SUBLET_CLI_LEASE_CMD_USAGE_SWF_H
#define SUBLET_CLI_LEASE_CMD_USAGE_SWF_H

#include "cli/call.h"
#include "model/msg.h"

/* Of the jobs that ended in the period of `asked`, of its user, queue and project, and
 * on the named leases, or all. */
int cmd_usage_swf_run(struct call *call, const struct msg_query *asked);

#endif
