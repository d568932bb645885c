/* SPDX-License-Identifier: Apache-2.0 */
/* submit_options.h: what the options of a submission say: the job's spec and terms.
 *
 * The options are those of `sublet sub`; `bsub` and `bmod` have them too.
 * Ownership: everything is in the call's arena, or borrowed from its words.
 * Errors: printed; the exit status is returned. Source: LSF's bsub. Layer: cli. */
#ifndef SUBLET_CLI_SUBMIT_OPTIONS_H
#define SUBLET_CLI_SUBMIT_OPTIONS_H

#include "cli/call.h"
#include "model/msg.h"

/* The command: the operands, or without any the script on standard input, whose #BSUB
 * options are inserted before those of the command line. To be called first. */
int submit_options_command(struct call *call, struct job_spec *spec);
/* All the rest. */
int submit_options_read(struct call *call, struct msg_submit *submit);
/* A line in words, NULL behind the last, as those of #BSUB are read; NULL: a quote is
 * open. */
char **submit_options_words(struct arena *arena, const char *line);
/* -R alone. */
void submit_options_requirements(struct call *call, struct job_spec *spec);

#endif
