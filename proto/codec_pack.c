/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pack.c: see codec_pack.h. */
#include "proto/codec_pack.h"

#include <string.h>

#include "proto/codec_check.h"

/* One field: its source and its destination. */
struct place {
    struct arena *arena;
    const struct field *field;
    const ProtobufCFieldDescriptor *wire;
    const char *ours;
    char *theirs;
};

static void get(const struct place *place, void *value, size_t size)
{
    memcpy(value, place->ours + place->field->offset, size);
}

/* The count of a list; a negative count becomes too large to pass the checks. */
static size_t get_count(const struct place *place)
{
    int count;
    memcpy(&count, place->ours + place->field->count_offset, sizeof(count));
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

static int give_int(const struct place *place, struct err *err)
{
    int32_t value;
    get(place, &value, sizeof(value));
    put(place, &value, sizeof(value));
    return codec_check_number(place->field, value, err);
}

static int give_int64(const struct place *place, struct err *err)
{
    int64_t value;
    get(place, &value, sizeof(value));
    put(place, &value, sizeof(value));
    return codec_check_number(place->field, value, err);
}

static int give_uint64(const struct place *place, struct err *err)
{
    uint64_t value;
    get(place, &value, sizeof(value));
    put(place, &value, sizeof(value));
    return codec_check_unsigned(place->field, value, err);
}

static void give_bool(const struct place *place)
{
    bool flag;
    get(place, &flag, sizeof(flag));
    protobuf_c_boolean value = flag;
    put(place, &value, sizeof(value));
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
    const char *text;
    get(place, &text, sizeof(text));
    ProtobufCBinaryData to;
    int status = give_one_text(place, text, &to, err);
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
    const char *const *texts;
    get(place, &texts, sizeof(texts));
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
    const uint8_t *bytes;
    get(place, &bytes, sizeof(bytes));
    ProtobufCBinaryData to = borrow(bytes, count);
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
    const char *from;
    get(place, &from, sizeof(from));
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
        return give_int(place, err);
    case FIELD_INT64:
        return give_int64(place, err);
    case FIELD_UINT64:
        return give_uint64(place, err);
    case FIELD_BOOL:
        give_bool(place);
        return ERR_NONE;
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
