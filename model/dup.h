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

#endif
