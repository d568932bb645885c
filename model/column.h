/* SPDX-License-Identifier: Apache-2.0 */
/* column.h: which field of a struct a column of a store has.
 *
 * A column has the name of its field. The columns of a part have its prefix. Layer:
 * model. */
#ifndef SUBLET_MODEL_COLUMN_H
#define SUBLET_MODEL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/schema.h"

struct column {
    const struct field *field;
    size_t offset; /* of the struct that the field is in */
    bool is_nullable;
    const struct field
        *whole; /* the first field of its part, if that is stored whole */
};

/* Sets field, offset and whole; false if no field has that name. `offset` is that of
 * the schema's struct. */
bool column_find(const struct schema *schema, size_t offset, const char *name,
                 struct column *column);

/* Sets all texts of a record that is about to be read to "", also those that are in no
 * column. */
void column_init_texts(const struct schema *schema, char *record);

#endif
