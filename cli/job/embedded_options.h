/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_options.h: options in a job's script: lines that begin with #BSUB.
 *
 *     #BSUB -n 4 -q night
 *     #BSUB -J "my job"
 *
 * Words as the shell splits them, with both quotes; a # between blanks ends the line.
 * The command line beats them.
 * Source: LSF's bsub. Layer: cli. */
#ifndef SUBLET_CLI_JOB_EMBEDDED_OPTIONS_H
#define SUBLET_CLI_JOB_EMBEDDED_OPTIONS_H

#include "cli/call.h"

/* Puts the script's options before those that were given. CALL_OK, or what is wrong has
 * been said. */
int embedded_options_read(struct call *call, const char *script);

#endif
