/* SPDX-License-Identifier: Apache-2.0 */
/* keys_page.h: docs/configuration.md: every section and key, from the one table
 * (base/conf_keys.h). `make docs` writes it, a test compares it.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_KEYS_PAGE_H
#define SUBLET_CLI_KEYS_PAGE_H

/* Prints it, as Markdown, on standard output. */
void keys_page_print(void);

#endif
