/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pack.c: see codec_pack.h. */
#include "proto/codec_pack.h"

#include <string.h>

#include "model/field.h"
#include "proto/codec_check.h"

/* One field: its source and its destination. */
struct place {
    struct arena *arena;
    const struct field *field;
    const ProtobufCFieldDescriptor *wire;
    const char *ours;
    char *theirs;
};

/* The count of a list; a negative count becomes too large to pass the checks. */
static size_t get_count(const struct place *place)
{
    int count = field_count(place->field, place->ours);
    return count < 0 ? SIZE_MAX : (size_t)count;
}

static void put(const struct place *place, const void *value, size_t size)
{
    memcpy(place->theirs + place->wire->offset, value, size);
}

static void put_count(const struct place *place, size_t count)
{
    memcpy(place->theirs + place->wire->quantifier_offset, &count, sizeof(count));
}

static int give_number(const struct place *place, struct err *err)
{
    int64_t number = field_number(place->field, place->ours);
    int32_t narrow = (int32_t)number; /* also a protobuf_c_boolean */
    if (place->field->kind == FIELD_INT || place->field->kind == FIELD_BOOL) {
        put(place, &narrow, sizeof(narrow));
    } else {
        put(place, &number, sizeof(number));
    }
    return codec_check_number(place->field, number, err);
}

/* protobuf-c needs a non-const pointer, but does not write through it. */
static ProtobufCBinaryData borrow(const void *data, size_t length)
{
    ProtobufCBinaryData borrowed = {.len = length};
    memcpy(&borrowed.data, &data, sizeof(borrowed.data));
    return borrowed;
}

static int give_one_text(const struct place *place, const char *text,
                         ProtobufCBinaryData *to, struct err *err)
{
    if (text == NULL) {
        text = "";
    }
    if (place->field->charset == CHARSET_TALK) {
        text = codec_check_talk(place->arena, text, (size_t)place->field->max);
    }
    *to = borrow(text, strlen(text));
    return codec_check_text(place->field, text, to->len, err);
}

static int give_text(const struct place *place, struct err *err)
{
    ProtobufCBinaryData to;
    int status =
        give_one_text(place, field_pointer(place->field, place->ours), &to, err);
    put(place, &to, sizeof(to));
    return status;
}

static int give_texts(const struct place *place, struct err *err)
{
    size_t count = get_count(place);
    int status = codec_check_count(place->field, count, err);
    if (status != ERR_NONE || count == 0) {
        return status;
    }
    const char *const *texts = field_pointer(place->field, place->ours);
    ProtobufCBinaryData *to = arena_alloc(place->arena, count, sizeof(*to));
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        status = give_one_text(place, texts[i], &to[i], err);
        if (status != ERR_NONE) {
            return status;
        }
        total += to[i].len;
    }
    put(place, &to, sizeof(to));
    put_count(place, count);
    return codec_check_total(place->field, total, err);
}

static int give_bytes(const struct place *place, struct err *err)
{
    size_t count = get_count(place);
    ProtobufCBinaryData to = borrow(field_pointer(place->field, place->ours), count);
    put(place, &to, sizeof(to));
    return codec_check_count(place->field, count, err);
}

static int give_part(const struct place *place, struct err *err)
{
    const struct schema *schema = place->field->part;
    ProtobufCMessage *part = codec_pack_new(place->arena, place->wire->descriptor);
    put(place, &part, sizeof(part));
    return codec_pack(place->arena, schema, place->ours + place->field->offset, part,
                      err);
}

static int give_parts(const struct place *place, struct err *err)
{
    const struct schema *schema = place->field->part;
    size_t count = get_count(place);
    int status = codec_check_count(place->field, count, err);
    if (status != ERR_NONE || count == 0) {
        return status;
    }
    const char *from = field_pointer(place->field, place->ours);
    ProtobufCMessage **parts = arena_alloc(place->arena, count, sizeof(*parts));
    for (size_t i = 0; i < count; i++) {
        parts[i] = codec_pack_new(place->arena, place->wire->descriptor);
        status =
            codec_pack(place->arena, schema, from + i * schema->size, parts[i], err);
        if (status != ERR_NONE) {
            return status;
        }
    }
    put(place, &parts, sizeof(parts));
    put_count(place, count);
    return schema->begins_with_host
               ? codec_check_hosts(from, (int)count, schema->size, err)
               : ERR_NONE;
}

static int give(const struct place *place, struct err *err)
{
    switch (place->field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        return give_number(place, err);
    case FIELD_TEXT:
        return give_text(place, err);
    case FIELD_TEXTS:
        return give_texts(place, err);
    case FIELD_BYTES:
        return give_bytes(place, err);
    case FIELD_PART:
        return give_part(place, err);
    case FIELD_PARTS:
        return give_parts(place, err);
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return err_set(err, ERR_PARSE, "unknown type of field");
}

ProtobufCMessage *codec_pack_new(struct arena *arena,
                                 const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = arena_alloc(arena, 1, descriptor->sizeof_message);
    descriptor->message_init(message);
    return message;
}

int codec_pack(struct arena *arena, const struct schema *schema, const void *ours,
               ProtobufCMessage *theirs, struct err *err)
{
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        const struct field *field = &schema->fields[i];
        struct place place = {arena, field, &theirs->descriptor->fields[i], ours,
                              (char *)theirs};
        if (give(&place, err) != ERR_NONE) {
            return err_prefix(err, "%s", field->name);
        }
    }
    return ERR_NONE;
}
