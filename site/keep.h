/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h: heap copies of what messages and rows only lend.
 *
 * Ownership: each copy is one block that the caller gives back with free(); all that
 * it points to lies inside it. Layer: site. */
#ifndef SUBLET_SITE_KEEP_H
#define SUBLET_SITE_KEEP_H

#include "base/msg.h"

/* NULL is kept as "". */
char *keep_text(const char *text);
struct job_spec *keep_spec(const struct job_spec *spec);
/* NULL for no hosts. */
struct host_slots *keep_hosts(const struct host_slots *hosts, int n_hosts);

/* Replaces a copy: `*text` is given back first, and may be its own source. */
void keep_set_text(char **text, const char *value);

#endif
