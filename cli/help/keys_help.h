/* SPDX-License-Identifier: Apache-2.0 */
/* keys_help.h: describes configuration keys from their table (base/conf/conf_keys.h),
 * for `sublet help Queue` and for the manual page.
 *
 * Units: those of configuration files. Layer: cli. */
#ifndef SUBLET_CLI_HELP_KEYS_HELP_H
#define SUBLET_CLI_HELP_KEYS_HELP_H

#include <stddef.h>

#include "base/conf/conf_keys.h"

/* Describes a value: "number, 1 to 100", "time, a bare number is minutes", "lsf or
 * demand". Returns `text`. */
const char *keys_help_kind(const struct conf_key *key, char *text, size_t size);

/* The next key of the section after `after` (NULL: the first), or NULL. */
const struct conf_key *keys_help_next(const char *section,
                                      const struct conf_key *after);

#endif
