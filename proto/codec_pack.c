/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pack.c: see codec_pack.h. Fields and members are written from the last to the
 * first. */
#include "proto/codec_pack.h"

#include <string.h>

#include "base/arena.h"
#include "model/field.h"
#include "proto/codec_check.h"

static int give_number(struct codec_wire_buffer *buffer, const struct field *field,
                       const char *record, struct err *err)
{
    int64_t number = field_number(field, record);
    uint64_t value = (uint64_t)number;
    if (field->is_zigzag) {
        value = value << 1 ^ (uint64_t)(number >> 63);
    }
    codec_wire_put_number(buffer, field->tag, value);
    return codec_check_number(field, number, err);
}

/* `total` grows by its length. */
static int give_text(struct codec_wire_buffer *buffer, const struct field *field,
                     const char *text, size_t *total, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch);
    text = text != NULL ? text : "";
    if (field->charset == CHARSET_TALK) {
        text = codec_check_talk(&scratch, text, (size_t)field->max);
    }
    size_t length = strlen(text);
    *total += length;
    if (length > 0 || field->kind == FIELD_TEXTS) {
        codec_wire_put_text(buffer, field->tag, text, length);
    }
    int status = codec_check_text(field, text, length, err);
    arena_release(&scratch);
    return status;
}

static int give_bytes(struct codec_wire_buffer *buffer, const struct field *field,
                      const char *record, size_t count, struct err *err)
{
    int status = codec_check_count(field, count, err);
    if (status == ERR_NONE && count > 0) {
        codec_wire_put_text(buffer, field->tag, field_pointer(field, record), count);
    }
    return status;
}

static int give_part(struct codec_wire_buffer *buffer, const struct field *field,
                     const char *part, struct err *err)
{
    size_t behind = buffer->size;
    int status = codec_pack(buffer, field->part, part, err);
    codec_wire_put_head(buffer, field->tag, buffer->size - behind);
    return status;
}

static int give_list(struct codec_wire_buffer *buffer, const struct field *field,
                     const char *record, size_t count, struct err *err)
{
    const char *list = field_pointer(field, record);
    size_t total = 0;
    int status = codec_check_count(field, count, err);
    for (size_t i = count; status == ERR_NONE && i > 0; i--) {
        status =
            field->kind == FIELD_TEXTS
                ? give_text(buffer, field,
                            ((const char *const *)(const void *)list)[i - 1], &total,
                            err)
                : give_part(buffer, field, list + (i - 1) * field->part->size, err);
    }
    if (status != ERR_NONE) {
        return status;
    }
    if (field->kind == FIELD_TEXTS) {
        return codec_check_total(field, total, err);
    }
    return field->part->begins_with_host
               ? codec_check_hosts(list, (int)count, field->part->size, err)
               : ERR_NONE;
}

/* The count of a list; a negative count becomes too large to pass the checks. */
static size_t count_of(const struct field *field, const char *record)
{
    int count = field_count(field, record);
    return count < 0 ? SIZE_MAX : (size_t)count;
}

static int give(struct codec_wire_buffer *buffer, const struct field *field,
                const char *record, struct err *err)
{
    size_t total = 0;
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
        return give_number(buffer, field, record, err);
    case FIELD_TEXT:
        return give_text(buffer, field, field_pointer(field, record), &total, err);
    case FIELD_BYTES:
        return give_bytes(buffer, field, record, count_of(field, record), err);
    case FIELD_PART:
        return give_part(buffer, field, record + field->offset, err);
    case FIELD_TEXTS:
    case FIELD_PARTS:
        return give_list(buffer, field, record, count_of(field, record), err);
    case FIELD_REAL:
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return err_set(err, ERR_PARSE, "unknown type of field");
}

int codec_pack(struct codec_wire_buffer *buffer, const struct schema *schema,
               const void *record, struct err *err)
{
    for (int i = schema->n_fields - 1; i >= 0; i--) {
        const struct field *field = &schema->fields[i];
        if (field->tag != 0 && give(buffer, field, record, err) != ERR_NONE) {
            return err_prefix(err, "%s", field->name);
        }
    }
    return ERR_NONE;
}
