/* SPDX-License-Identifier: Apache-2.0 */
/* dup.h: heap copies of data that messages and rows only borrow.
 *
 * Ownership: a text is freed with dup_free. Each other copy is one block that contains
 * all that it points to, and is freed with free(). Layer: model. */
#ifndef SUBLET_MODEL_DUP_H
#define SUBLET_MODEL_DUP_H

#include "model/msg.h"

/* NULL becomes "". The copy must not be written to, since all empty texts are one. */
char *dup_text(const char *text);
void dup_free(const char *text);
/* Replaces a copy; `value` may point into the old one. */
void dup_set_text(char **text, const char *value);
struct run_exit *dup_exit(const struct run_exit *exit);
struct job_spec *dup_spec(const struct job_spec *spec);
/* NULL for no hosts. */
struct host_slots *dup_hosts(const struct host_slots *hosts, int n_hosts);

#endif
