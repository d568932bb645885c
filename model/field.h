/* SPDX-License-Identifier: Apache-2.0 */
/* field.h: the value of a field in a struct, read and written by its line in the table
 * (model/schema.h).
 *
 * `record` is the struct that the field is in. Numbers of all widths go through
 * int64_t; a FIELD_UINT64 keeps its bits. Ownership: pointers are borrowed.
 * Layer: model. */
#ifndef SUBLET_MODEL_FIELD_H
#define SUBLET_MODEL_FIELD_H

#include <string.h>

#include "model/schema.h"

/* Of FIELD_INT, FIELD_INT64, FIELD_UINT64, FIELD_BOOL, and the id of a FIELD_JOB_KEY.
 */
static inline int64_t field_number(const struct field *field, const void *record)
{
    const char *at = (const char *)record + field->offset;
    int64_t number;
    int narrow;
    bool flag;
    if (field->kind == FIELD_INT) {
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    }
    if (field->kind == FIELD_BOOL) {
        memcpy(&flag, at, sizeof(flag));
        return flag;
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

static inline void field_set_number(const struct field *field, void *record,
                                    int64_t number)
{
    char *at = (char *)record + field->offset;
    int narrow = (int)number;
    bool flag = number != 0;
    if (field->kind == FIELD_INT) {
        memcpy(at, &narrow, sizeof(narrow));
    } else if (field->kind == FIELD_BOOL) {
        memcpy(at, &flag, sizeof(flag));
    } else {
        memcpy(at, &number, sizeof(number));
    }
}

static inline double field_real(const struct field *field, const void *record)
{
    double real;
    memcpy(&real, (const char *)record + field->offset, sizeof(real));
    return real;
}

static inline void field_set_real(const struct field *field, void *record, double real)
{
    memcpy((char *)record + field->offset, &real, sizeof(real));
}

/* A text, a list, bytes, or the struct of an option. */
static inline const void *field_pointer(const struct field *field, const void *record)
{
    const void *pointer;
    memcpy(&pointer, (const char *)record + field->offset, sizeof(pointer));
    return pointer;
}

static inline void field_set_pointer(const struct field *field, void *record,
                                     const void *pointer)
{
    memcpy((char *)record + field->offset, &pointer, sizeof(pointer));
}

/* Members of a list, or bytes; the index of a FIELD_JOB_KEY. */
static inline int field_count(const struct field *field, const void *record)
{
    int count;
    memcpy(&count, (const char *)record + field->count_offset, sizeof(count));
    return count;
}

static inline void field_set_count(const struct field *field, void *record, int count)
{
    memcpy((char *)record + field->count_offset, &count, sizeof(count));
}

/* Whether the field has a value. Always true for a field without a `given_offset`. */
static inline bool field_is_given(const struct field *field, const void *record)
{
    bool is_given = true;
    if (field->given_offset > 0) {
        memcpy(&is_given, (const char *)record + field->given_offset - 1,
               sizeof(is_given));
    }
    return is_given;
}

static inline void field_set_given(const struct field *field, void *record,
                                   bool is_given)
{
    if (field->given_offset > 0) {
        memcpy((char *)record + field->given_offset - 1, &is_given, sizeof(is_given));
    }
}

#endif
