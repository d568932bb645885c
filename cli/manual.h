/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h: the manual pages, in the man macros, from the tables that the program runs
 * by: so they cannot drift. `make man` writes them to build/man.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_MANUAL_H
#define SUBLET_CLI_MANUAL_H

#include "cli/call.h"

/* On standard output: "sublet" (1), of the commands, or "sublet.conf" (5), of the
 * keys. Returns CALL_..., CALL_MISUSED for another name. */
int manual_print(const char *page, const struct command *commands);

#endif
