/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_resreq.h: requirement strings on the command line: LSF's error message, then the
 * position.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_CMD_RESREQ_H
#define SUBLET_CLI_CMD_RESREQ_H

#include "cli/call.h"
#include "sched/resreq/resreq.h"

/* The end of the error message of `sub` and `check`. */
#define RESREQ_NOT_SUBMITTED " Job not submitted."

/* How strings are checked. */
struct cmd_resreq_rules {
    bool is_lenient;
    enum resreq_reading reading;
    bool asks_site;  /* names are those that the site defines ... */
    bool needs_site; /* ... and not any names if it does not answer */
};

/* Checks the strings: prints that they are valid, or the error. */
int cmd_resreq_check(struct call *call, const char *const *strings, int n_strings,
                     const struct cmd_resreq_rules *rules);

#endif
