/* SPDX-License-Identifier: Apache-2.0 */
/* help.h: help, manual pages, the page of configuration keys, and completion. All of
 * them are generated from the tables of commands and keys.
 *
 * All print to standard output. Layer: cli. */
#ifndef SUBLET_CLI_HELP_HELP_H
#define SUBLET_CLI_HELP_HELP_H

#include "cli/call.h"

/* The script for bash: `eval "$(sublet completion)"`. */
int completion_print(const struct command *commands);

/* A manual page in the man macros: "sublet" (1), or "sublet.conf" (5). CALL_MISUSED for
 * another name. */
int manual_print(const char *page, const struct command *commands);

/* docs/configuration.md: every section and key. */
void keys_page_print(void);
/* docs/lsf-parameters.md: the parameters of LSF that differ or have no effect. */
void lsf_page_print(void);
/* The keys of a section; `section` as in the table (conf_keys.h). */
void keys_help_print(const char *section);

#endif
