/* SPDX-License-Identifier: Apache-2.0 */
/* codec_unpack.c: see codec_unpack.h. */
#include "proto/codec_unpack.h"

#include <string.h>

#include "model/field.h"
#include "proto/codec_check.h"

/* One field: its source and its destination. */
struct place {
    struct arena *arena;
    const struct field *field;
    const ProtobufCFieldDescriptor *wire;
    const char *theirs;
    char *ours;
};

/* The count was checked and fits an int. */
static void put_list(const struct place *place, const void *list, size_t count)
{
    field_set_pointer(place->field, place->ours, list);
    field_set_count(place->field, place->ours, (int)count);
}

static void get(const struct place *place, void *value, size_t size)
{
    memcpy(value, place->theirs + place->wire->offset, size);
}

static size_t get_count(const struct place *place)
{
    size_t count;
    memcpy(&count, place->theirs + place->wire->quantifier_offset, sizeof(count));
    return count;
}

static int take_number(const struct place *place, struct err *err)
{
    int64_t number;
    int32_t narrow; /* also a protobuf_c_boolean */
    if (place->field->kind == FIELD_INT || place->field->kind == FIELD_BOOL) {
        get(place, &narrow, sizeof(narrow));
        number = narrow;
    } else {
        get(place, &number, sizeof(number));
    }
    int status = codec_check_number(place->field, number, err);
    if (status == ERR_NONE) {
        field_set_number(place->field, place->ours, number);
    }
    return status;
}

static int copy_text(const struct place *place, const ProtobufCBinaryData *from,
                     const char **text, struct err *err)
{
    const char *data = from->data != NULL ? (const char *)from->data : "";
    int status = codec_check_text(place->field, data, from->len, err);
    if (status == ERR_NONE) {
        *text = from->len == 0 ? "" : arena_strn(place->arena, data, from->len);
    }
    return status;
}

static int take_text(const struct place *place, struct err *err)
{
    ProtobufCBinaryData from;
    get(place, &from, sizeof(from));
    const char *text = NULL;
    int status = copy_text(place, &from, &text, err);
    if (status != ERR_NONE) {
        return status;
    }
    if (from.len == 0 && place->field->empty_is_null) {
        text = NULL;
    }
    field_set_pointer(place->field, place->ours, text);
    return ERR_NONE;
}

static int take_texts(const struct place *place, struct err *err)
{
    size_t count = get_count(place);
    int status = codec_check_count(place->field, count, err);
    if (status != ERR_NONE || count == 0) {
        return status;
    }
    const ProtobufCBinaryData *from;
    get(place, &from, sizeof(from));
    const char **texts = arena_alloc(place->arena, count, sizeof(*texts));
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        status = copy_text(place, &from[i], &texts[i], err);
        if (status != ERR_NONE) {
            return status;
        }
        total += from[i].len;
    }
    put_list(place, texts, count);
    return codec_check_total(place->field, total, err);
}

static int take_bytes(const struct place *place, struct err *err)
{
    ProtobufCBinaryData from;
    get(place, &from, sizeof(from));
    int status = codec_check_count(place->field, from.len, err);
    if (status != ERR_NONE) {
        return status;
    }
    const uint8_t *bytes = (const uint8_t *)"";
    if (from.len > 0) {
        bytes = arena_copy(place->arena, from.data, from.len);
    }
    put_list(place, bytes, from.len);
    return ERR_NONE;
}

/* The recursion is as deep as the tables, at most three. */
static int take_part(const struct place *place, struct err *err)
{
    const ProtobufCMessage *part;
    get(place, &part, sizeof(part));
    if (part == NULL) {
        return err_set(err, ERR_PARSE, "not there");
    }
    return codec_unpack(place->arena, place->field->part, part,
                        place->ours + place->field->offset, err);
}

static int take_parts(const struct place *place, struct err *err)
{
    const struct schema *schema = place->field->part;
    size_t count = get_count(place);
    int status = codec_check_count(place->field, count, err);
    if (status != ERR_NONE || count == 0) {
        return status;
    }
    ProtobufCMessage *const *from;
    get(place, &from, sizeof(from));
    char *parts = arena_alloc(place->arena, count, schema->size);
    for (size_t i = 0; i < count; i++) {
        status =
            codec_unpack(place->arena, schema, from[i], parts + i * schema->size, err);
        if (status != ERR_NONE) {
            return status;
        }
    }
    put_list(place, parts, count);
    return schema->begins_with_host
               ? codec_check_hosts(parts, (int)count, schema->size, err)
               : ERR_NONE;
}

static int take(const struct place *place, struct err *err)
{
    switch (place->field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        return take_number(place, err);
    case FIELD_TEXT:
        return take_text(place, err);
    case FIELD_TEXTS:
        return take_texts(place, err);
    case FIELD_BYTES:
        return take_bytes(place, err);
    case FIELD_PART:
        return take_part(place, err);
    case FIELD_PARTS:
        return take_parts(place, err);
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return err_set(err, ERR_PARSE, "unknown type of field");
}

int codec_unpack(struct arena *arena, const struct schema *schema,
                 const ProtobufCMessage *theirs, void *ours, struct err *err)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        struct place place = {arena, field, &theirs->descriptor->fields[i],
                              (const char *)theirs, ours};
        if (take(&place, err) != ERR_NONE) {
            return err_prefix(err, "%s", field->name);
        }
    }
    return ERR_NONE;
}
