/* SPDX-License-Identifier: Apache-2.0 */
/* dup.h: heap copies of what messages and rows only lend.
 *
 * Ownership: a text is given back with dup_free; each other copy is one block, with
 * all that it points to inside it, that the caller gives back with free(). Layer: site.
 */
#ifndef SUBLET_MODEL_DUP_H
#define SUBLET_MODEL_DUP_H

#include "model/msg.h"

/* NULL is kept as "". Not to be written to: all that are "" are one. */
char *dup_text(const char *text);
void dup_free(const char *text);
/* Replaces a copy, which may be the source of the new one. */
void dup_set_text(char **text, const char *value);
struct run_exit *dup_exit(const struct run_exit *exit);
struct job_spec *dup_spec(const struct job_spec *spec);
/* NULL for no hosts. */
struct host_slots *dup_hosts(const struct host_slots *hosts, int n_hosts);

#endif
