/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h: completion of command lines for bash, from the table of commands.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_COMPLETION_H
#define SUBLET_CLI_COMPLETION_H

#include "cli/call.h"

/* The script, on standard output: `eval "$(sublet completion)"`. */
int completion_print(const struct command *commands);

#endif
