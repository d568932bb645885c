/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_options.h: options in a job's script: lines that begin with #BSUB.
 *
 *     #BSUB -n 4 -q night
 *     #BSUB -J "my job"
 *
 * Words are split as in the shell, with both quotes; a # after a blank ends the line.
 * Options of the command line have precedence. The lines of bsub -pack are words of the
 * same form. Source: LSF's bsub. Layer: cli. */
#ifndef SUBLET_CLI_JOB_EMBEDDED_OPTIONS_H
#define SUBLET_CLI_JOB_EMBEDDED_OPTIONS_H

#include "cli/call.h"

/* The words of one line, NULL behind the last; NULL: a quote is open. */
char **embedded_options_words(struct arena *arena, const char *line);
/* Inserts the script's options before those of the command line. Prints an error unless
 * it returns CALL_OK. */
int embedded_options_read(struct call *call, const char *script);

#endif
