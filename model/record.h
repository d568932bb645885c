/* SPDX-License-Identifier: Apache-2.0 */
/* record.h: deep copies and comparison of any struct that has a schema, and which of
 * its fields a column of a store has.
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

/* The bytes of the block that record_dup would return. */
size_t record_size(const struct schema *schema, const void *record);
/* NULL texts become "". */
void *record_dup(const struct schema *schema, const void *record);
/* NULL for none. */
void *record_dup_list(const struct schema *schema, const void *list, int count);

/* True if all fields of the table are equal. Lists are compared in order. */
bool record_is_same(const struct schema *schema, const void *a, const void *b);
bool record_is_same_list(const struct schema *schema, const void *a, int n_a,
                         const void *b, int n_b);

/* A column has the name of its field. The columns of a part have its prefix. */
struct record_column {
    const struct field *field;
    size_t offset; /* of the struct that the field is in */
    bool is_nullable;
    const struct field
        *whole; /* the first field of its part, if that is stored whole */
};

/* Sets field, offset and whole; false if no field has that name. `offset` is that of
 * the schema's struct. */
bool record_find_column(const struct schema *schema, size_t offset, const char *name,
                        struct record_column *column);

/* Sets all texts of a record that is about to be read to "", also those that are in no
 * column. */
void record_init_texts(const struct schema *schema, char *record);

#endif
