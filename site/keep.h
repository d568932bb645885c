/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h: heap copies of what messages and rows only lend.
 *
 * Ownership: a text is given back with keep_free; each other copy is one block, with
 * all that it points to inside it, that the caller gives back with free(). Layer: site.
 */
#ifndef SUBLET_SITE_KEEP_H
#define SUBLET_SITE_KEEP_H

#include "model/msg.h"

/* NULL is kept as "". Not to be written to: all that are "" are one. */
char *keep_text(const char *text);
void keep_free(const char *text);
/* Replaces a copy, which may be the source of the new one. */
void keep_set_text(char **text, const char *value);
struct run_exit *keep_exit(const struct run_exit *exit);
struct job_spec *keep_spec(const struct job_spec *spec);
/* NULL for no hosts. */
struct host_slots *keep_hosts(const struct host_slots *hosts, int n_hosts);

#endif
