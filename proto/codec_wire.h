/* SPDX-License-Identifier: Apache-2.0 */
/* codec_wire.h: the fields of a message as they are on the wire.
 *
 * They are read from the front, and written from the end to the front: a part is
 * complete before its length is written, so that no size is computed in advance.
 *
 * Ownership: spans borrow the bytes. Errors: as codec.h. Source: ADR 39, and the
 * encoding of Protocol Buffers. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_WIRE_H
#define SUBLET_PROTO_CODEC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

enum codec_wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
};

/* ---------------------------------------------------------------- reading */

struct codec_wire_span {
    const uint8_t *at;
    size_t length;
};

struct codec_wire_field {
    uint64_t tag;
    int type;
    uint64_t number;              /* of a WIRE_VARINT */
    struct codec_wire_span value; /* of WIRE_BYTES */
    const uint8_t *length_at;     /* where its length begins */
};

bool codec_wire_read_long_varint(struct codec_wire_span *span, uint64_t *number);

/* Inline, as most numbers have one byte. */
static inline bool codec_wire_read_varint(struct codec_wire_span *span,
                                          uint64_t *number)
{
    if (span->length > 0 && *span->at < 0x80) {
        *number = *span->at++;
        span->length--;
        return true;
    }
    return codec_wire_read_long_varint(span, number);
}

static inline bool codec_wire_skip(struct codec_wire_span *span, uint64_t n_bytes)
{
    if (n_bytes > span->length) {
        return false;
    }
    span->at += n_bytes;
    span->length -= n_bytes;
    return true;
}

/* Takes the first field out of the span; false if it is none. */
static inline bool codec_wire_read(struct codec_wire_span *span,
                                   struct codec_wire_field *field)
{
    uint64_t key, length;
    if (!codec_wire_read_varint(span, &key) || key > UINT32_MAX) {
        return false;
    }
    field->tag = key >> 3;
    field->type = (int)(key & 7);
    field->length_at = span->at;
    if (field->type == WIRE_VARINT) {
        return codec_wire_read_varint(span, &field->number);
    }
    if (field->type == WIRE_BYTES) {
        if (!codec_wire_read_varint(span, &length)) {
            return false;
        }
        field->value = (struct codec_wire_span){span->at, (size_t)length};
        return codec_wire_skip(span, length);
    }
    return (field->type == WIRE_FIXED64 && codec_wire_skip(span, 8)) ||
           (field->type == WIRE_FIXED32 && codec_wire_skip(span, 4));
}

/* Finds the one field with that tag, which has a length. Empty if there is none; false
 * if it occurs twice, is a number, or the bytes are no fields. */
bool codec_wire_find_once(struct codec_wire_span body, int tag,
                          struct codec_wire_span *value);

/* The tags of the envelope's own fields. */
enum { CODEC_WIRE_VERSION = 1, CODEC_WIRE_SESSION, CODEC_WIRE_SITE };

struct codec_wire_envelope {
    uint64_t session;
    enum msg_kind kind;
    struct codec_wire_span site;
    struct codec_wire_span body;
    struct codec_wire_span whole_body; /* with its length in front */
};

/* Each field at most once, exactly one body, and this version of the protocol, which is
 * judged first. The site is not checked. */
int codec_wire_read_envelope(const uint8_t *bytes, size_t length,
                             struct codec_wire_envelope *envelope,
                             struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- writing */

/* What is written are the last `size` bytes of `room`. {0} is an empty one; the owner
 * frees `bytes`. */
struct codec_wire_buffer {
    uint8_t *bytes;
    size_t room, size;
};

/* Each writes in front of what is there. */
void codec_wire_put_bytes(struct codec_wire_buffer *buffer, const void *bytes,
                          size_t size);
void codec_wire_put_varint(struct codec_wire_buffer *buffer, uint64_t number);
void codec_wire_put_key(struct codec_wire_buffer *buffer, int tag,
                        enum codec_wire_type type);
/* What makes a field of the last `length` bytes that were written. */
void codec_wire_put_head(struct codec_wire_buffer *buffer, int tag, size_t length);
/* Nothing for 0, which is the default value of a field. */
void codec_wire_put_number(struct codec_wire_buffer *buffer, int tag, uint64_t number);
void codec_wire_put_text(struct codec_wire_buffer *buffer, int tag, const void *text,
                         size_t length);

#endif
