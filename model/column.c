/* SPDX-License-Identifier: Apache-2.0 */
/* column.c: see column.h. */
#include "model/column.h"

#include <string.h>

#include "model/field.h"

bool column_find(const struct schema *schema, size_t offset, const char *name,
                 struct column *column)
{
    for (int i = 0; i < schema->n_fields; i++) {
        const struct field *field = &schema->fields[i];
        size_t prefix = field->kind == FIELD_PART ? strlen(field->name) : 0;
        if (field->kind == FIELD_PART && strncmp(name, field->name, prefix) == 0 &&
            column_find(field->part, offset + field->offset, name + prefix, column)) {
            column->whole = field->is_whole ? &field->part->fields[0] : NULL;
            return true;
        }
        if (field->kind != FIELD_PART && strcmp(field->name, name) == 0) {
            column->field = field;
            column->offset = offset;
            return true;
        }
    }
    return false;
}

void column_init_texts(const struct schema *schema, char *record)
{
    for (int i = 0; i < schema->n_fields; i++) {
        const struct field *field = &schema->fields[i];
        if (field->kind == FIELD_TEXT) {
            field_set_pointer(field, record, "");
        } else if (field->kind == FIELD_PART) {
            column_init_texts(field->part, record + field->offset);
        }
    }
}
