/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_resreq.h: requirement strings on the command line: LSF's sentence, then our
 * pointer.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_CMD_RESREQ_H
#define SUBLET_CLI_CMD_RESREQ_H

#include "cli/call.h"
#include "sched/resreq/resreq.h"

/* What stands behind the sentence of a string that `sub` and `check` refuse. */
#define RESREQ_NOT_SUBMITTED " Job not submitted."

/* Checks the strings without knowing what resources a site has: says that they are
 * valid, or refuses. */
int cmd_resreq_check(struct call *call, const char *const *strings, int n_strings,
                     bool is_lenient, enum resreq_reading reading);

#endif
