/* SPDX-License-Identifier: Apache-2.0 */
/* codec_unpack.c: see codec_unpack.h. */
#include "proto/codec_unpack.h"

#include <string.h>

#include "proto/codec_check.h"

/* One field: its source and its destination. */
struct place {
    struct arena *arena;
    const struct field *field;
    const ProtobufCFieldDescriptor *wire;
    const char *theirs;
    char *ours;
};

static void put(char *ours, size_t offset, const void *value, size_t size)
{
    memcpy(ours + offset, value, size);
}

static void put_count(const struct place *place, size_t count)
{
    int ours = (int)count; /* checked: it fits an int */
    put(place->ours, place->field->count_offset, &ours, sizeof(ours));
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

static int take_int(const struct place *place, struct err *err)
{
    int32_t value;
    get(place, &value, sizeof(value));
    int status = codec_check_number(place->field, value, err);
    if (status == ERR_NONE) {
        put(place->ours, place->field->offset, &value, sizeof(value));
    }
    return status;
}

static int take_int64(const struct place *place, struct err *err)
{
    int64_t value;
    get(place, &value, sizeof(value));
    int status = codec_check_number(place->field, value, err);
    if (status == ERR_NONE) {
        put(place->ours, place->field->offset, &value, sizeof(value));
    }
    return status;
}

static int take_uint64(const struct place *place, struct err *err)
{
    uint64_t value;
    get(place, &value, sizeof(value));
    int status = codec_check_unsigned(place->field, value, err);
    if (status == ERR_NONE) {
        put(place->ours, place->field->offset, &value, sizeof(value));
    }
    return status;
}

static void take_bool(const struct place *place)
{
    protobuf_c_boolean value;
    get(place, &value, sizeof(value));
    bool flag = value != 0;
    put(place->ours, place->field->offset, &flag, sizeof(flag));
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
    put(place->ours, place->field->offset, &text, sizeof(text));
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
    put(place->ours, place->field->offset, &texts, sizeof(texts));
    put_count(place, count);
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
    put(place->ours, place->field->offset, &bytes, sizeof(bytes));
    put_count(place, from.len);
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
    put(place->ours, place->field->offset, &parts, sizeof(parts));
    put_count(place, count);
    return schema->begins_with_host
               ? codec_check_hosts(parts, (int)count, schema->size, err)
               : ERR_NONE;
}

static int take(const struct place *place, struct err *err)
{
    switch (place->field->kind) {
    case FIELD_INT:
        return take_int(place, err);
    case FIELD_INT64:
        return take_int64(place, err);
    case FIELD_UINT64:
        return take_uint64(place, err);
    case FIELD_BOOL:
        take_bool(place);
        return ERR_NONE;
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
    if (theirs->n_unknown_fields > 0) {
        return err_set(err, ERR_PARSE, "an unknown field %u",
                       theirs->unknown_fields[0].tag);
    }
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
