/* SPDX-License-Identifier: Apache-2.0 */
/* record.h: deep copies and comparison of any struct that has a schema.
 *
 * Ownership: record_copy allocates in the arena. record_dup returns one block, which
 * contains all that the copy points to and is freed with free(). Layer: model. */
#ifndef SUBLET_MODEL_RECORD_H
#define SUBLET_MODEL_RECORD_H

#include "base/arena.h"
#include "model/schema.h"

/* NULL texts stay NULL. `to` may be `from`. */
void record_copy(struct arena *arena, const struct schema *schema, const void *from,
                 void *to);
/* A list of structs; NULL for none. */
void *record_copy_list(struct arena *arena, const struct schema *schema,
                       const void *list, int count);

/* NULL texts become "". */
void *record_dup(const struct schema *schema, const void *record);
/* NULL for none. */
void *record_dup_list(const struct schema *schema, const void *list, int count);

/* True if all fields of the table are equal. Lists are compared in order. */
bool record_is_same(const struct schema *schema, const void *a, const void *b);
bool record_is_same_list(const struct schema *schema, const void *a, int n_a,
                         const void *b, int n_b);

#endif
