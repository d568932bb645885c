/* SPDX-License-Identifier: Apache-2.0 */
/* codec_wire.c: see codec_wire.h. */
#include "proto/codec_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { BUFFER_FIRST = 256 };

/* ---------------------------------------------------------------- reading */

bool codec_wire_read_long_varint(struct codec_wire_span *span, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; shift < 64 && span->length > 0; shift += 7) {
        uint8_t byte = *span->at;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        codec_wire_skip(span, 1);
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

bool codec_wire_find_once(struct codec_wire_span body, int tag,
                          struct codec_wire_span *value)
{
    struct codec_wire_field field;
    bool is_found = false;
    *value = (struct codec_wire_span){(const uint8_t *)"", 0};
    while (body.length > 0) {
        if (!codec_wire_read(&body, &field)) {
            return false;
        }
        if (field.tag == (uint64_t)tag) {
            if (is_found || field.type != WIRE_BYTES) {
                return false;
            }
            is_found = true;
            *value = field.value;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the envelope */

static enum msg_kind kind_of(uint64_t tag)
{
    int kind = MSG_KINDS - 1;
    while (kind > MSG_NONE && (uint64_t)msg_kinds[kind].tag != tag) {
        kind--;
    }
    return (enum msg_kind)kind;
}

/* Other versions may have other fields: only whether they are fields is asked. */
static int check_version(struct codec_wire_span span, struct err *err)
{
    struct codec_wire_field field;
    uint64_t version = 0;
    while (span.length > 0) {
        if (!codec_wire_read(&span, &field)) {
            return err_set(err, ERR_PARSE, "not a message");
        }
        if (field.tag == CODEC_WIRE_VERSION && field.type == WIRE_VARINT) {
            version = field.number;
        }
    }
    if (version != PROTOCOL_VERSION) {
        return err_set(err, ERR_VERSION,
                       "protocol version %" PRIu64 ", this program speaks %d", version,
                       (int)PROTOCOL_VERSION);
    }
    return ERR_NONE;
}

static int refuse_twice(uint64_t tag, struct err *err)
{
    return err_set(err, ERR_PARSE, "an envelope with a field twice: %" PRIu64, tag);
}

static int take_head(const struct codec_wire_field *field, unsigned *seen,
                     struct codec_wire_envelope *envelope, struct err *err)
{
    unsigned bit = 1U << field->tag;
    bool is_number =
        field->tag == CODEC_WIRE_VERSION || field->tag == CODEC_WIRE_SESSION;
    if ((*seen & bit) != 0) {
        return refuse_twice(field->tag, err);
    }
    if (field->type != (is_number ? WIRE_VARINT : WIRE_BYTES)) {
        return err_set(err, ERR_PARSE, "not a message");
    }
    *seen |= bit;
    if (field->tag == CODEC_WIRE_SESSION) {
        envelope->session = field->number;
    } else if (field->tag == CODEC_WIRE_SITE) {
        envelope->site = field->value;
    }
    return ERR_NONE;
}

int codec_wire_read_envelope(const uint8_t *bytes, size_t length,
                             struct codec_wire_envelope *envelope, struct err *err)
{
    struct codec_wire_span span = {bytes, length};
    struct codec_wire_field field;
    unsigned seen = 0;
    uint64_t unknown = 0;
    *envelope = (struct codec_wire_envelope){.site.at = (const uint8_t *)""};
    int status = check_version(span, err);
    while (status == ERR_NONE && span.length > 0 && codec_wire_read(&span, &field)) {
        enum msg_kind kind = field.type == WIRE_BYTES ? kind_of(field.tag) : MSG_NONE;
        if (field.tag >= CODEC_WIRE_VERSION && field.tag <= CODEC_WIRE_SITE) {
            status = take_head(&field, &seen, envelope, err);
        } else if (kind == MSG_NONE) {
            unknown = unknown == 0 ? field.tag : unknown;
        } else if (envelope->kind != MSG_NONE) {
            status = refuse_twice(field.tag, err);
        } else {
            envelope->kind = kind;
            envelope->body = field.value;
            envelope->whole_body.at = field.length_at;
            envelope->whole_body.length =
                (size_t)(field.value.at - field.length_at) + field.value.length;
        }
    }
    if (status != ERR_NONE) {
        return status;
    }
    if (envelope->kind == MSG_NONE) {
        return err_set(err, ERR_PARSE, "unknown kind of message");
    }
    return unknown != 0 ? err_set(err, ERR_PARSE, "%s: an unknown field %" PRIu64,
                                  msg_kind_name(envelope->kind), unknown)
                        : ERR_NONE;
}

/* ---------------------------------------------------------------- writing */

static void grow(struct codec_wire_buffer *buffer, size_t size)
{
    size_t room = 2 * buffer->room + size + BUFFER_FIRST;
    uint8_t *bytes = mem_alloc(room, 1);
    if (buffer->size > 0) {
        memcpy(bytes + room - buffer->size, buffer->bytes + buffer->room - buffer->size,
               buffer->size);
    }
    free(buffer->bytes);
    buffer->bytes = bytes;
    buffer->room = room;
}

/* The next `size` bytes, which the caller writes. */
static inline uint8_t *take_room(struct codec_wire_buffer *buffer, size_t size)
{
    if (buffer->room - buffer->size < size) {
        grow(buffer, size);
    }
    buffer->size += size;
    return buffer->bytes + buffer->room - buffer->size;
}

void codec_wire_put_bytes(struct codec_wire_buffer *buffer, const void *bytes,
                          size_t size)
{
    if (size > 0) {
        memcpy(take_room(buffer, size), bytes, size);
    }
}

void codec_wire_put_varint(struct codec_wire_buffer *buffer, uint64_t number)
{
    size_t size = 1;
    for (uint64_t rest = number >> 7; rest > 0; rest >>= 7) {
        size++;
    }
    uint8_t *at = take_room(buffer, size);
    for (; number >= 0x80; number >>= 7) {
        *at++ = (uint8_t)(number | 0x80);
    }
    *at = (uint8_t)number;
}

void codec_wire_put_key(struct codec_wire_buffer *buffer, int tag,
                        enum codec_wire_type type)
{
    codec_wire_put_varint(buffer, (uint64_t)tag << 3 | type);
}

void codec_wire_put_head(struct codec_wire_buffer *buffer, int tag, size_t length)
{
    codec_wire_put_varint(buffer, length);
    codec_wire_put_key(buffer, tag, WIRE_BYTES);
}

void codec_wire_put_number(struct codec_wire_buffer *buffer, int tag, uint64_t number)
{
    if (number != 0) {
        codec_wire_put_varint(buffer, number);
        codec_wire_put_key(buffer, tag, WIRE_VARINT);
    }
}

void codec_wire_put_text(struct codec_wire_buffer *buffer, int tag, const void *text,
                         size_t length)
{
    codec_wire_put_bytes(buffer, text, length);
    codec_wire_put_head(buffer, tag, length);
}
