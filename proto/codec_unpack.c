/* SPDX-License-Identifier: Apache-2.0 */
/* codec_unpack.c: see codec_unpack.h. */
#include "proto/codec_unpack.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bounds.h"
#include "model/field.h"
#include "proto/codec_check.h"

enum { FIELDS_MAX = 64 }; /* of one struct */

struct reader {
    struct arena *arena;
    size_t n_bytes; /* of lists so far */
};

/* A field as it is found in a message. */
struct found {
    const struct field *field;
    struct codec_wire_field wire;
    const struct codec_wire_span *rest; /* what comes after it */
    bool is_first;                      /* with its tag */
};

static int unpack(struct reader *reader, const struct schema *schema,
                  struct codec_wire_span body, char *record, struct err *err);

static bool is_list(const struct field *field)
{
    return field->kind == FIELD_TEXTS || field->kind == FIELD_PARTS;
}

/* ---------------------------------------------------------------- one value */

static int64_t number_of(const struct field *field, uint64_t number)
{
    if (field->kind == FIELD_BOOL) {
        return number != 0;
    }
    if (field->kind == FIELD_INT) {
        number = (uint32_t)number;
    }
    if (field->is_zigzag) {
        number = (number >> 1) ^ -(number & 1);
    }
    return field->kind == FIELD_INT ? (int32_t)number : (int64_t)number;
}

static int take_number(const struct found *found, char *record, struct err *err)
{
    int64_t number = number_of(found->field, found->wire.number);
    int status = codec_check_number(found->field, number, err);
    if (status == ERR_NONE) {
        field_set_number(found->field, record, number);
    }
    return status;
}

static int take_text(struct reader *reader, const struct field *field,
                     struct codec_wire_span value, const char **text, struct err *err)
{
    const char *data = (const char *)value.at;
    int status = codec_check_text(field, data, value.length, err);
    if (status == ERR_NONE) {
        *text = value.length > 0       ? arena_strn(reader->arena, data, value.length)
                : field->empty_is_null ? NULL
                                       : "";
    }
    return status;
}

static int take_bytes(struct reader *reader, const struct field *field,
                      struct codec_wire_span value, char *record, struct err *err)
{
    int status = codec_check_count(field, value.length, err);
    if (status == ERR_NONE) {
        field_set_pointer(
            field, record,
            value.length > 0 ? arena_copy(reader->arena, value.at, value.length) : "");
        field_set_count(field, record, (int)value.length);
    }
    return status;
}

/* ---------------------------------------------------------------- lists */

/* The members of the list, from this one on, and the bytes of all of them. */
static size_t count_members(const struct found *found, size_t *n_bytes)
{
    struct codec_wire_span rest = *found->rest;
    struct codec_wire_field next;
    size_t count = 1;
    *n_bytes = found->wire.value.length;
    while (rest.length > 0 && codec_wire_read(&rest, &next)) {
        if (next.tag == found->wire.tag && next.type == WIRE_BYTES) {
            *n_bytes += next.value.length;
            count++;
        }
    }
    return count;
}

static int begin_list(struct reader *reader, const struct found *found, char *record,
                      struct err *err)
{
    const struct field *field = found->field;
    size_t n_bytes, count = count_members(found, &n_bytes);
    size_t size = field->kind == FIELD_TEXTS ? sizeof(char *) : field->part->size;
    int status = codec_check_count(field, count, err);
    if (status == ERR_NONE && field->kind == FIELD_TEXTS) {
        status = codec_check_total(field, n_bytes, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    if (count * size > DECODE_BYTES_MAX - reader->n_bytes) {
        return err_set(err, ERR_BOUNDS, "the message takes more than %d bytes",
                       (int)DECODE_BYTES_MAX);
    }
    reader->n_bytes += count * size;
    field_set_pointer(field, record, arena_alloc(reader->arena, count, size));
    return ERR_NONE;
}

static int take_member(struct reader *reader, const struct found *found, char *record,
                       struct err *err)
{
    const struct field *field = found->field;
    int status = found->is_first ? begin_list(reader, found, record, err) : ERR_NONE;
    if (status != ERR_NONE) {
        return status;
    }
    char *list;
    memcpy(&list, record + field->offset, sizeof(list));
    int at = field_count(field, record);
    field_set_count(field, record, at + 1);
    return field->kind == FIELD_TEXTS
               ? take_text(reader, field, found->wire.value,
                           (const char **)(void *)list + at, err)
               : unpack(reader, field->part, found->wire.value,
                        list + (size_t)at * field->part->size, err);
}

/* ---------------------------------------------------------------- one struct */

static int take(struct reader *reader, const struct found *found, char *record,
                struct err *err)
{
    const struct field *field = found->field;
    const char *text = NULL;
    int status;
    bool is_number = field->kind == FIELD_INT || field->kind == FIELD_INT64 ||
                     field->kind == FIELD_UINT64 || field->kind == FIELD_BOOL;
    if (found->wire.type != (int)(is_number ? WIRE_VARINT : WIRE_BYTES)) {
        return err_set(err, ERR_PARSE, "a field of another type");
    }
    if (!found->is_first && !is_list(field)) {
        return err_set(err, ERR_PARSE, "twice, expected once");
    }
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        return take_number(found, record, err);
    case FIELD_TEXT:
        status = take_text(reader, field, found->wire.value, &text, err);
        field_set_pointer(field, record, text);
        return status;
    case FIELD_BYTES:
        return take_bytes(reader, field, found->wire.value, record, err);
    case FIELD_PART:
        return unpack(reader, field->part, found->wire.value, record + field->offset,
                      err);
    case FIELD_TEXTS:
    case FIELD_PARTS:
        return take_member(reader, found, record, err);
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return err_set(err, ERR_PARSE, "unknown type of field");
}

/* A field that is not on the wire is 0 or empty, which must be in its bounds. */
static int take_nothing(const struct field *field, char *record, struct err *err)
{
    switch (field->kind) {
    case FIELD_TEXT:
        field_set_pointer(field, record, field->empty_is_null ? NULL : "");
        return codec_check_text(field, "", 0, err);
    case FIELD_BYTES:
        field_set_pointer(field, record, "");
        return codec_check_count(field, 0, err);
    case FIELD_TEXTS:
    case FIELD_PARTS:
        return codec_check_count(field, 0, err);
    case FIELD_PART:
        return err_set(err, ERR_PARSE, "not there");
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return codec_check_number(field, 0, err);
}

static int finish(const struct schema *schema, uint64_t seen, char *record,
                  struct err *err)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        int status = ERR_NONE;
        if ((seen & (uint64_t)1 << i) == 0) {
            status = take_nothing(field, record, err);
        } else if (field->kind == FIELD_PARTS && field->part->begins_with_host) {
            status =
                codec_check_hosts(field_pointer(field, record),
                                  field_count(field, record), field->part->size, err);
        }
        if (status != ERR_NONE) {
            return err_prefix(err, "%s", field->name);
        }
    }
    return ERR_NONE;
}

/* The field with that tag; senders write fields in the order of the table. */
static const struct field *find_field(const struct schema *schema, uint64_t tag,
                                      int *at)
{
    for (int n = 0; n < schema->n_fields; n++) {
        const struct field *field = &schema->fields[*at];
        if ((uint64_t)field->tag == tag && tag != 0) {
            return field;
        }
        *at = *at + 1 < schema->n_fields ? *at + 1 : 0;
    }
    return NULL;
}

/* The recursion is as deep as the tables, at most three. */
static int unpack(struct reader *reader, const struct schema *schema,
                  struct codec_wire_span body, char *record, struct err *err)
{
    struct found found;
    uint64_t seen = 0;
    int at = 0, n_unknown = 0;
    assert(schema->n_fields <= FIELDS_MAX);
    while (body.length > 0) {
        if (!codec_wire_read(&body, &found.wire)) {
            return err_set(err, ERR_PARSE, "not a message");
        }
        found.field = find_field(schema, found.wire.tag, &at);
        if (found.field == NULL && found.wire.tag >= CODEC_UNPACK_ADDED &&
            ++n_unknown <= CODEC_UNPACK_UNKNOWN_MAX) {
            continue;
        }
        if (found.field == NULL) {
            return err_set(err, ERR_PARSE, "an unknown field %" PRIu64, found.wire.tag);
        }
        uint64_t bit = (uint64_t)1 << (found.field - schema->fields);
        found.is_first = (seen & bit) == 0;
        found.rest = &body;
        seen |= bit;
        if (take(reader, &found, record, err) != ERR_NONE) {
            return err_prefix(err, "%s", found.field->name);
        }
    }
    return finish(schema, seen, record, err);
}

int codec_unpack(struct arena *arena, const struct schema *schema,
                 struct codec_wire_span body, void *record, struct err *err)
{
    struct reader reader = {.arena = arena};
    return unpack(&reader, schema, body, record, err);
}
