/* SPDX-License-Identifier: Apache-2.0 */
/* schema_fields.h: the macros that the tables of fields are written with; for
 * model/schema_*.c alone.
 *
 * Before a table, define S as its struct. A line with a tag travels; the tag is never
 * used again. COLUMN and what follows it are for fields that never travel. A macro does
 * not compile if the size of the field does not match its kind. Layer: model. */
#ifndef SUBLET_MODEL_SCHEMA_FIELDS_H
#define SUBLET_MODEL_SCHEMA_FIELDS_H

#include "base/bounds.h"
#include "model/schema.h"

#define NUMBER_MAX (INT64_C(1) << 53) /* exact in JSON and doubles too */
enum {
    TOTAL_MAX = INT32_MAX, /* sums over hosts and jobs */
    JOB_MAX = 127,         /* a number, and some ranges of indices */
    SIGNAL_MAX = 64,       /* SIGRTMAX */
    MODE_MAX = 0777,
    EXIT_MAX = 65535, /* any wait status */
};

#define FIELD_AT(field, field_size)                                                    \
    (offsetof(S, field) +                                                              \
     0 * sizeof(char[sizeof(((S *)0)->field) == (field_size) ? 1 : -1]))
#define FIELD(field_kind, field_tag, wire_name, field, field_size)                     \
    .name = wire_name, .kind = FIELD_##field_kind, .tag = (field_tag),                 \
    .offset = FIELD_AT(field, field_size)
#define COUNTED(field) .count_offset = FIELD_AT(n_##field, sizeof(int))

#define INT_AS(tag, field, wire_name, low, high)                                       \
    {                                                                                  \
        FIELD(INT, tag, #wire_name, field, sizeof(int)), .min = (low), .max = (high),  \
                                                         .is_zigzag = (low) < 0        \
    }
#define INT(tag, field, low, high) INT_AS(tag, field, field, low, high)
#define ENUM(tag, field, last) INT(tag, field, 0, last)
/* Its column has its word. */
#define WORD(tag, field, field_words)                                                  \
    {                                                                                  \
        FIELD(INT, tag, #field, field, sizeof(int)),                                   \
            .min = 0, .max = sizeof(field_words) / sizeof((field_words)[0]) - 1,       \
            .words = (field_words),                                                    \
            .n_words = sizeof(field_words) / sizeof((field_words)[0])                  \
    }
#define INT64(tag, field, low, high)                                                   \
    {                                                                                  \
        FIELD(INT64, tag, #field, field, sizeof(int64_t)),                             \
            .min = (low), .max = (high), .is_zigzag = (low) < 0                        \
    }
#define SINT64(tag, field, low, high)                                                  \
    {                                                                                  \
        FIELD(INT64, tag, #field, field, sizeof(int64_t)),                             \
            .min = (low), .max = (high), .is_zigzag = true                             \
    }
#define TIME(tag, field) INT64(tag, field, 0, NUMBER_MAX)
#define UINT64_AS(tag, field, wire_name)                                               \
    {                                                                                  \
        FIELD(UINT64, tag, #wire_name, field, sizeof(uint64_t)), .max = INT64_MAX      \
    }
#define UINT64(tag, field) UINT64_AS(tag, field, field)
#define BOOL_AS(tag, field, wire_name)                                                 \
    {                                                                                  \
        FIELD(BOOL, tag, #wire_name, field, sizeof(bool))                              \
    }
#define BOOL(tag, field) BOOL_AS(tag, field, field)
#define TEXT(tag, field, set, low, high)                                               \
    {                                                                                  \
        FIELD(TEXT, tag, #field, field, sizeof(char *)), .charset = CHARSET_##set,     \
                                                         .min = (low), .max = (high)   \
    }
#define NULL_TEXT(tag, field, set, high)                                               \
    {                                                                                  \
        FIELD(TEXT, tag, #field, field, sizeof(char *)),                               \
            .charset = CHARSET_##set, .max = (high), .empty_is_null = true             \
    }
#define NAME(tag, field) TEXT(tag, field, NAME, 1, NAME_SIZE - 1)
#define LEASE(tag, field) TEXT(tag, field, LEASE, 1, LEASE_ID_SIZE - 1)
#define JOB(tag, field) TEXT(tag, field, JOB, 1, JOB_MAX)
#define TALK(tag, field, high) TEXT(tag, field, TALK, 0, high)
#define PATH(tag, field) TEXT(tag, field, FREE, 0, TEXT_MAX)
#define TEXTS(tag, field, high, set, low_text, high_text, total)                       \
    {                                                                                  \
        FIELD(TEXTS, tag, #field, field, sizeof(char **)), COUNTED(field),             \
            .max = (high), .charset = CHARSET_##set, .text_min = (low_text),           \
            .text_max = (high_text), .total_max = (total)                              \
    }
#define BYTES(tag, field, high)                                                        \
    {                                                                                  \
        FIELD(BYTES, tag, #field, field, sizeof(void *)), COUNTED(field),              \
            .max = (high)                                                              \
    }
#define PART(tag, field, part_schema)                                                  \
    {                                                                                  \
        FIELD(PART, tag, #field, field, sizeof(((S *)0)->field)),                      \
            .part = (part_schema)                                                      \
    }
#define PARTS(tag, field, low, high, part_schema)                                      \
    {                                                                                  \
        FIELD(PARTS, tag, #field, field, sizeof(void *)), COUNTED(field),              \
            .min = (low), .max = (high), .part = (part_schema)                         \
    }

/* Of rows: not on the wire. */
#define COLUMN_AS(field_kind, field, column)                                           \
    {                                                                                  \
        FIELD(field_kind, 0, column, field, sizeof(((S *)0)->field))                   \
    }
#define COLUMN(field_kind, field) COLUMN_AS(field_kind, field, #field)
#define KEY_AS(field_kind, field, column)                                              \
    {                                                                                  \
        FIELD(field_kind, 0, column, field, sizeof(((S *)0)->field)), .is_key = true   \
    }
#define KEY(field_kind, field) KEY_AS(field_kind, field, #field)
#define KEY_WORD(field, field_words)                                                   \
    {                                                                                  \
        FIELD(INT, 0, #field, field, sizeof(int)),                                     \
            .is_key = true, .words = (field_words),                                    \
            .n_words = sizeof(field_words) / sizeof((field_words)[0])                  \
    }
/* The columns of a part, with this in front of their names. */
#define COLUMNS(prefix, field, part_schema)                                            \
    {                                                                                  \
        FIELD(PART, 0, prefix, field, sizeof(((S *)0)->field)), .part = (part_schema)  \
    }
#define OPTION(field, part_schema)                                                     \
    {                                                                                  \
        FIELD(OPTION, 0, #field, field, sizeof(void *)), .part = (part_schema)         \
    }
#define LIST(field, part_schema) PARTS(0, field, 0, 0, part_schema)

#define SCHEMA(schema_name, table)                                                     \
    {                                                                                  \
        .name = (schema_name), .size = sizeof(S), .fields = (table),                   \
        .n_fields = (int)(sizeof(table) / sizeof((table)[0]))                          \
    }
#define HOST_SCHEMA(schema_name, table)                                                \
    {                                                                                  \
        .name = (schema_name), .size = sizeof(S), .fields = (table),                   \
        .n_fields = (int)(sizeof(table) / sizeof((table)[0])),                         \
        .begins_with_host = true                                                       \
    }

#endif
